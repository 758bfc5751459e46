-- What runs leave for later ones: memories, and the messages in them. size is the bytes of the
-- messages, and last_id the id that a message was given last; ids are not given again.
CREATE TABLE memories (
	id          TEXT PRIMARY KEY,
	tenant_id   TEXT NOT NULL,
	user_id     TEXT NOT NULL,
	name        TEXT NOT NULL,
	name_fold   BYTEA NOT NULL,
	settings    BYTEA NOT NULL,
	size        BIGINT NOT NULL,
	last_id     BIGINT NOT NULL,
	rev         BIGINT NOT NULL,
	create_time BIGINT NOT NULL,
	update_time BIGINT NOT NULL,
	UNIQUE (tenant_id, name_fold)
);

-- vector is little-endian float32 of the named model; empty without one. source_id is the message
-- that this one was extracted from, 0 for none. Times of 0 are unset.
CREATE TABLE memory_messages (
	memory_id   TEXT NOT NULL,
	id          BIGINT NOT NULL,
	tenant_id   TEXT NOT NULL,
	kind        TEXT NOT NULL,
	source_id   BIGINT NOT NULL,
	user_id     TEXT NOT NULL,
	agent_id    TEXT NOT NULL,
	session_id  TEXT NOT NULL,
	content     TEXT NOT NULL,
	model       TEXT NOT NULL,
	vector      BYTEA NOT NULL,
	size        BIGINT NOT NULL,
	valid_at    BIGINT NOT NULL,
	invalid_at  BIGINT NOT NULL,
	forget_at   BIGINT NOT NULL,
	disabled    BIGINT NOT NULL,
	PRIMARY KEY (memory_id, id)
);
CREATE INDEX memory_messages_tenant ON memory_messages (tenant_id);
