-- Lists and statistics read these indices alone: rows hold documents, and some
-- engines read through them to reach the columns behind.
CREATE INDEX sessions_created ON sessions (tenant_id, canvas_id, create_time, id, user_id, source, tokens, duration_ms, rounds, thumb_up);
CREATE INDEX sessions_updated ON sessions (tenant_id, canvas_id, update_time, id, create_time, user_id, source);
CREATE INDEX sessions_user ON sessions (tenant_id, canvas_id, user_id, update_time, id, create_time, source);
DROP INDEX sessions_canvas;
CREATE INDEX runs_list ON runs (tenant_id, create_time, id, status);
CREATE INDEX runs_session ON runs (tenant_id, session_id, create_time, id);
DROP INDEX runs_canvas;
CREATE INDEX runs_canvas ON runs (tenant_id, canvas_id, create_time, id, status);
