-- The end of a run changes its status: indexes that contain it are written twice a run. Most runs
-- succeed, have no session, and have a message of their own id; they are in few indexes. A condition
-- with IN would build a table of its values for each row written.
DROP INDEX runs_list;
CREATE INDEX runs_list ON runs (tenant_id, create_time, id);
DROP INDEX runs_canvas;
CREATE INDEX runs_canvas ON runs (tenant_id, canvas_id, create_time, id);
DROP INDEX runs_session;
CREATE INDEX runs_session ON runs (tenant_id, session_id, create_time, id) WHERE session_id <> '';
DROP INDEX runs_message;
CREATE INDEX runs_message ON runs (message_id) WHERE message_id <> id;
DROP INDEX runs_status;
CREATE INDEX runs_active ON runs (tenant_id, create_time, id) WHERE status = 'running';
CREATE INDEX runs_stopped ON runs (tenant_id, status, create_time, id) WHERE status <> 'running' AND status <> 'succeeded';
