-- One text for SQLite and PostgreSQL. BYTEA has no meaning to SQLite and keeps
-- bytes as they are; BIGINT and TEXT mean the same to both. Times are Unix
-- milliseconds, flags are 0 and 1, columns ending in _fold are lower-cased in
-- Go and compared byte by byte, and find holds lower-cased text for LIKE.

CREATE TABLE tenants (
	id          TEXT PRIMARY KEY,
	name        TEXT NOT NULL,
	create_time BIGINT NOT NULL,
	update_time BIGINT NOT NULL
);

CREATE TABLE users (
	id          TEXT PRIMARY KEY,
	email       TEXT NOT NULL,
	email_fold  BYTEA NOT NULL UNIQUE,
	nickname    TEXT NOT NULL,
	avatar      TEXT NOT NULL,
	password    TEXT NOT NULL,
	create_time BIGINT NOT NULL,
	update_time BIGINT NOT NULL
);

CREATE TABLE members (
	tenant_id TEXT NOT NULL,
	user_id   TEXT NOT NULL,
	role      TEXT NOT NULL,
	PRIMARY KEY (tenant_id, user_id)
);
CREATE INDEX members_user ON members (user_id);

CREATE TABLE logins (
	hash        BYTEA PRIMARY KEY,
	user_id     TEXT NOT NULL,
	csrf        TEXT NOT NULL,
	create_time BIGINT NOT NULL,
	expire_time BIGINT NOT NULL
);
CREATE INDEX logins_user ON logins (user_id);

CREATE TABLE keys (
	id          TEXT PRIMARY KEY,
	hash        BYTEA NOT NULL UNIQUE,
	tenant_id   TEXT NOT NULL,
	user_id     TEXT NOT NULL,
	name        TEXT NOT NULL,
	hint        TEXT NOT NULL,
	scopes      TEXT NOT NULL,
	create_time BIGINT NOT NULL,
	expire_time BIGINT NOT NULL
);
CREATE INDEX keys_tenant ON keys (tenant_id);

CREATE TABLE betas (
	id          TEXT PRIMARY KEY,
	hash        BYTEA NOT NULL UNIQUE,
	tenant_id   TEXT NOT NULL,
	canvas_id   TEXT NOT NULL,
	sealed      BYTEA NOT NULL,
	create_time BIGINT NOT NULL
);
CREATE INDEX betas_tenant ON betas (tenant_id, canvas_id);

CREATE TABLE canvases (
	id          TEXT PRIMARY KEY,
	tenant_id   TEXT NOT NULL,
	user_id     TEXT NOT NULL,
	title       TEXT NOT NULL,
	title_fold  BYTEA NOT NULL,
	find        TEXT NOT NULL,
	description TEXT NOT NULL,
	avatar      TEXT NOT NULL,
	type        TEXT NOT NULL,
	category    TEXT NOT NULL,
	permission  TEXT NOT NULL,
	tags        TEXT NOT NULL,
	released    BIGINT NOT NULL,
	dsl         BYTEA NOT NULL,
	rev         BIGINT NOT NULL,
	create_time BIGINT NOT NULL,
	update_time BIGINT NOT NULL
);
CREATE INDEX canvases_tenant ON canvases (tenant_id, update_time);

CREATE TABLE versions (
	id          TEXT PRIMARY KEY,
	canvas_id   TEXT NOT NULL,
	number      BIGINT NOT NULL,
	title       TEXT NOT NULL,
	description TEXT NOT NULL,
	hash        TEXT NOT NULL,
	dsl         BYTEA NOT NULL,
	create_time BIGINT NOT NULL,
	UNIQUE (canvas_id, number)
);

CREATE TABLE sessions (
	id          TEXT PRIMARY KEY,
	tenant_id   TEXT NOT NULL,
	canvas_id   TEXT NOT NULL,
	user_id     TEXT NOT NULL,
	source      TEXT NOT NULL,
	name        TEXT NOT NULL,
	dsl         BYTEA NOT NULL,
	messages    BYTEA NOT NULL,
	reference   BYTEA NOT NULL,
	find        TEXT NOT NULL,
	errors      TEXT NOT NULL,
	tokens      BIGINT NOT NULL,
	duration_ms BIGINT NOT NULL,
	rounds      BIGINT NOT NULL,
	thumb_up    BIGINT NOT NULL,
	rev         BIGINT NOT NULL,
	run_id      TEXT NOT NULL,
	last_run_id TEXT NOT NULL,
	create_time BIGINT NOT NULL,
	update_time BIGINT NOT NULL
);
CREATE INDEX sessions_canvas ON sessions (canvas_id, create_time);

CREATE TABLE runs (
	id          TEXT PRIMARY KEY,
	tenant_id   TEXT NOT NULL,
	canvas_id   TEXT NOT NULL,
	session_id  TEXT NOT NULL,
	user_id     TEXT NOT NULL,
	message_id  TEXT NOT NULL,
	source      TEXT NOT NULL,
	status      TEXT NOT NULL,
	input       BYTEA NOT NULL,
	error       TEXT NOT NULL,
	tokens      BIGINT NOT NULL,
	create_time BIGINT NOT NULL,
	end_time    BIGINT NOT NULL
);
CREATE INDEX runs_canvas ON runs (canvas_id, create_time);
CREATE INDEX runs_message ON runs (message_id);
CREATE INDEX runs_status ON runs (status, create_time);

CREATE TABLE secrets (
	tenant_id   TEXT NOT NULL,
	name        TEXT NOT NULL,
	sealed      BYTEA NOT NULL,
	create_time BIGINT NOT NULL,
	update_time BIGINT NOT NULL,
	PRIMARY KEY (tenant_id, name)
);

CREATE TABLE items (
	tenant_id   TEXT NOT NULL,
	kind        TEXT NOT NULL,
	id          TEXT NOT NULL,
	name        TEXT NOT NULL,
	name_fold   BYTEA NOT NULL,
	doc         BYTEA NOT NULL,
	rev         BIGINT NOT NULL,
	create_time BIGINT NOT NULL,
	update_time BIGINT NOT NULL,
	PRIMARY KEY (tenant_id, kind, id)
);
CREATE UNIQUE INDEX items_name ON items (tenant_id, kind, name_fold);
