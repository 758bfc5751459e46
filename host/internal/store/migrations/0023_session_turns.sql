-- A session is the document with which it began, the turns that were added to it, and the state
-- after the last one, so that a turn writes what was said in it and not the whole conversation. The
-- document of a session of a former version has the turns up to then. plan is the hash of the
-- document, empty until it is compiled; turns is their number. dsl, messages, reference
-- and find of sessions are empty; dumps of former versions have them.
CREATE TABLE session_documents (
	session_id TEXT PRIMARY KEY,
	tenant_id  TEXT NOT NULL,
	dsl        BYTEA NOT NULL,
	messages   BYTEA NOT NULL,
	reference  BYTEA NOT NULL,
	find       TEXT NOT NULL
);
CREATE TABLE session_turns (
	session_id TEXT NOT NULL,
	number     BIGINT NOT NULL,
	tenant_id  TEXT NOT NULL,
	messages   BYTEA NOT NULL,
	reference  BYTEA NOT NULL,
	find       TEXT NOT NULL,
	history    BYTEA NOT NULL,
	retrieval  BYTEA NOT NULL,
	memory     BYTEA NOT NULL,
	PRIMARY KEY (session_id, number)
);
ALTER TABLE sessions ADD COLUMN plan TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN state BYTEA NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN turns BIGINT NOT NULL DEFAULT 0;
INSERT INTO session_documents SELECT id, tenant_id, dsl, messages, reference, find FROM sessions;
-- SQLite has no literal of an empty BYTEA that PostgreSQL has too.
UPDATE sessions SET find = '', state = COALESCE(SUBSTR(dsl, 1, 0), dsl), dsl = COALESCE(SUBSTR(dsl, 1, 0), dsl),
	messages = COALESCE(SUBSTR(messages, 1, 0), messages), reference = COALESCE(SUBSTR(reference, 1, 0), reference);
