-- Runs that wait for a person. kept is where the state is that an answer continues: 'session',
-- 'canvas', or '' for the wait itself (data, sealed). form is what is asked, sealed. A run that was
-- answered has succeeded: only open ones are paused.
CREATE TABLE waits (
	id          TEXT PRIMARY KEY,
	tenant_id   TEXT NOT NULL,
	canvas_id   TEXT NOT NULL,
	run_id      TEXT NOT NULL,
	session_id  TEXT NOT NULL,
	user_id     TEXT NOT NULL,
	visitor     TEXT NOT NULL,
	runner      TEXT NOT NULL,
	kind        TEXT NOT NULL,
	node        TEXT NOT NULL,
	kept        TEXT NOT NULL,
	state       TEXT NOT NULL,
	on_expiry   TEXT NOT NULL,
	form        BYTEA NOT NULL,
	data        BYTEA NOT NULL,
	create_time BIGINT NOT NULL,
	expire_time BIGINT NOT NULL,
	answered_by TEXT NOT NULL,
	via         TEXT NOT NULL,
	answer_time BIGINT NOT NULL,
	next_run    TEXT NOT NULL
);
CREATE INDEX waits_list ON waits (tenant_id, state, create_time, id);
CREATE INDEX waits_open ON waits (expire_time) WHERE state = 'open';
CREATE INDEX waits_next ON waits (next_run) WHERE next_run <> '';
CREATE INDEX waits_session ON waits (session_id);
CREATE INDEX waits_canvas ON waits (tenant_id, canvas_id) WHERE state = 'open';
UPDATE runs SET status = 'succeeded' WHERE status = 'paused' AND session_id <> ''
	AND NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.id = runs.session_id AND sessions.last_run_id = runs.id);
INSERT INTO waits SELECT id, tenant_id, canvas_id, id, session_id, user_id, visitor, '', 'form', '',
	CASE WHEN session_id <> '' THEN 'session' WHEN source = 'editor' THEN 'canvas' ELSE '' END,
	'open', 'fail', input, input, end_time, end_time + 604800000, '', '', 0, '' FROM runs WHERE status = 'paused';
