-- The tables of the first release, in one text for SQLite and PostgreSQL. BYTEA has no meaning to
-- SQLite and keeps bytes as they are; BIGINT and TEXT mean the same to both. Times are Unix
-- milliseconds, flags are 0 and 1, columns ending in _fold are lower-cased in Go and compared byte by
-- byte, and find holds lower-cased text for LIKE.
--
-- Tables of numbers below this one were in no release and are refused.

-- # People and their rights

-- tokens_per_day bounds the model tokens of a day; 0 is no bound.
CREATE TABLE tenants (
	id             TEXT PRIMARY KEY,
	name           TEXT NOT NULL,
	create_time    BIGINT NOT NULL,
	update_time    BIGINT NOT NULL,
	tokens_per_day BIGINT NOT NULL
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

-- role is the strongest of local_role, which an administrator set, and those of the identities.
CREATE TABLE members (
	tenant_id  TEXT NOT NULL,
	user_id    TEXT NOT NULL,
	role       TEXT NOT NULL,
	local_role TEXT NOT NULL,
	PRIMARY KEY (tenant_id, user_id)
);
CREATE INDEX members_user ON members (user_id);

-- via, address and agent are how and where a login began, token the sealed ID token of its provider.
CREATE TABLE logins (
	hash        BYTEA PRIMARY KEY,
	user_id     TEXT NOT NULL,
	csrf        TEXT NOT NULL,
	create_time BIGINT NOT NULL,
	expire_time BIGINT NOT NULL,
	via         TEXT NOT NULL,
	address     TEXT NOT NULL,
	agent       TEXT NOT NULL,
	token       BYTEA NOT NULL
);
CREATE INDEX logins_user ON logins (user_id);

-- rate bounds the requests of a key in a minute and tokens_per_day its model tokens; 0 leaves both to
-- the host. A key that is limited may use only_project alone.
CREATE TABLE keys (
	id             TEXT PRIMARY KEY,
	hash           BYTEA NOT NULL UNIQUE,
	tenant_id      TEXT NOT NULL,
	user_id        TEXT NOT NULL,
	name           TEXT NOT NULL,
	hint           TEXT NOT NULL,
	scopes         TEXT NOT NULL,
	create_time    BIGINT NOT NULL,
	expire_time    BIGINT NOT NULL,
	rate           BIGINT NOT NULL,
	tokens_per_day BIGINT NOT NULL,
	only_project   TEXT NOT NULL,
	limited        BIGINT NOT NULL
);
CREATE INDEX keys_tenant ON keys (tenant_id);

-- Tokens of embedding pages. signing is the sealed secret with which a site signs user ids, empty
-- until one is made; user_id the member whose canvases a token for all of them may use.
CREATE TABLE betas (
	id          TEXT PRIMARY KEY,
	hash        BYTEA NOT NULL UNIQUE,
	tenant_id   TEXT NOT NULL,
	canvas_id   TEXT NOT NULL,
	sealed      BYTEA NOT NULL,
	create_time BIGINT NOT NULL,
	user_id     TEXT NOT NULL,
	signing     BYTEA NOT NULL DEFAULT ''
);
CREATE INDEX betas_tenant ON betas (tenant_id, canvas_id);

-- Who signs in at an OpenID provider: the person (issuer and subject, never an address) and the
-- user. role is what the groups of the person give in the tenant at the last sign-in, empty for
-- none.
CREATE TABLE identities (
	tenant_id   TEXT NOT NULL,
	issuer      TEXT NOT NULL,
	subject     TEXT NOT NULL,
	user_id     TEXT NOT NULL,
	provider    TEXT NOT NULL,
	role        TEXT NOT NULL,
	create_time BIGINT NOT NULL,
	last_time   BIGINT NOT NULL,
	PRIMARY KEY (tenant_id, issuer, subject)
);
CREATE INDEX identities_user ON identities (user_id);

-- The groups of users. source is empty for groups that an administrator set, and otherwise the
-- OpenID provider that reported them at the last sign-in.
CREATE TABLE user_groups (
	tenant_id TEXT NOT NULL,
	user_id   TEXT NOT NULL,
	source    TEXT NOT NULL,
	name      TEXT NOT NULL,
	PRIMARY KEY (tenant_id, user_id, source, name)
);

-- Projects hold canvases, datasets, memories and secrets; '' is the default project, which has no
-- row. In it each member is an editor.
CREATE TABLE projects (
	id          TEXT PRIMARY KEY,
	tenant_id   TEXT NOT NULL,
	name        TEXT NOT NULL,
	name_fold   BYTEA NOT NULL,
	create_time BIGINT NOT NULL
);
CREATE UNIQUE INDEX projects_name ON projects (tenant_id, name_fold);

-- Roles that were given. subject is user:ID, key:ID or group:NAME, object project:ID, canvas:ID or
-- dataset:ID, role the rank of package access.
CREATE TABLE grants (
	tenant_id   TEXT NOT NULL,
	subject     TEXT NOT NULL,
	object      TEXT NOT NULL,
	role        BIGINT NOT NULL,
	user_id     TEXT NOT NULL,
	create_time BIGINT NOT NULL,
	PRIMARY KEY (tenant_id, subject, object)
);
CREATE INDEX grants_object ON grants (tenant_id, object);

-- Who changed what, append only. Rows of a tenant are numbered and chained: hash is that of the row
-- and of the one before. audit_heads has, sealed, the last number and hash, and those of the last
-- row that has expired.
CREATE TABLE audit (
	tenant_id TEXT NOT NULL,
	seq       BIGINT NOT NULL,
	time      BIGINT NOT NULL,
	user_id   TEXT NOT NULL,
	caller    TEXT NOT NULL,
	action    TEXT NOT NULL,
	object    TEXT NOT NULL,
	address   TEXT NOT NULL,
	hash      BYTEA NOT NULL,
	PRIMARY KEY (tenant_id, seq)
);

CREATE TABLE audit_heads (
	tenant_id TEXT PRIMARY KEY,
	sealed    BYTEA NOT NULL
);

-- # Settings, secrets and what is used of models

-- hosts are those that a secret may go to, as a JSON list; an empty one means any.
CREATE TABLE secrets (
	tenant_id   TEXT NOT NULL,
	name        TEXT NOT NULL,
	sealed      BYTEA NOT NULL,
	create_time BIGINT NOT NULL,
	update_time BIGINT NOT NULL,
	hosts       TEXT NOT NULL,
	project     TEXT NOT NULL,
	PRIMARY KEY (tenant_id, name)
);

-- sealed is what an item keeps secret, such as the key of a model provider.
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
	sealed      BYTEA NOT NULL,
	PRIMARY KEY (tenant_id, kind, id)
);
CREATE UNIQUE INDEX items_name ON items (tenant_id, kind, name_fold);

-- Keys and values that plugins keep: owner is the plugin.
CREATE TABLE kv (
	tenant_id TEXT NOT NULL,
	owner     TEXT NOT NULL,
	name      BYTEA NOT NULL,
	value     BYTEA NOT NULL,
	PRIMARY KEY (tenant_id, owner, name)
);

-- caller is whose tokens are counted together, empty for the tenant with all its callers; day counts
-- from 1970-01-01, UTC.
CREATE TABLE token_use (
	tenant_id TEXT NOT NULL,
	caller    TEXT NOT NULL,
	day       BIGINT NOT NULL,
	tokens    BIGINT NOT NULL,
	PRIMARY KEY (tenant_id, day, caller)
);

-- What a canvas used of a model on a day: calls, tokens, and their cost in millionths of the currency
-- of the price table. canvas_id is empty for calls outside of a canvas; day counts from 1970-01-01,
-- UTC.
CREATE TABLE model_use (
	tenant_id     TEXT NOT NULL,
	day           BIGINT NOT NULL,
	canvas_id     TEXT NOT NULL,
	model         TEXT NOT NULL,
	calls         BIGINT NOT NULL,
	input_tokens  BIGINT NOT NULL,
	output_tokens BIGINT NOT NULL,
	cost          BIGINT NOT NULL,
	PRIMARY KEY (tenant_id, day, canvas_id, model)
);

-- What was learned of a model from the answers of its server, as JSON. tenant_id is empty for the
-- providers of the host. until is when it is forgotten.
CREATE TABLE model_lessons (
	tenant_id TEXT NOT NULL,
	address   TEXT NOT NULL,
	model     TEXT NOT NULL,
	doc       BYTEA NOT NULL,
	until     BIGINT NOT NULL,
	PRIMARY KEY (tenant_id, address, model)
);

-- # Canvases and their runs

-- published is the version that users run, publish_time when one was published last, 0 for never;
-- version_title the title of the newest version. author wrote the saved document, publisher
-- published the version: runs have their rights. Rows hold documents, and engines read through them
-- to reach the columns behind: lists and counts read indexes alone.
CREATE TABLE canvases (
	id            TEXT PRIMARY KEY,
	tenant_id     TEXT NOT NULL,
	user_id       TEXT NOT NULL,
	title         TEXT NOT NULL,
	title_fold    BYTEA NOT NULL,
	find          TEXT NOT NULL,
	description   TEXT NOT NULL,
	avatar        TEXT NOT NULL,
	type          TEXT NOT NULL,
	category      TEXT NOT NULL,
	permission    TEXT NOT NULL,
	tags          TEXT NOT NULL,
	released      BIGINT NOT NULL,
	dsl           BYTEA NOT NULL,
	rev           BIGINT NOT NULL,
	create_time   BIGINT NOT NULL,
	update_time   BIGINT NOT NULL,
	published     TEXT NOT NULL,
	publish_time  BIGINT NOT NULL,
	version_title TEXT NOT NULL,
	author        TEXT NOT NULL,
	publisher     TEXT NOT NULL,
	project       TEXT NOT NULL
);
CREATE INDEX canvases_access ON canvases (id, tenant_id, user_id, permission, project);
CREATE INDEX canvases_created ON canvases (tenant_id, create_time, id, user_id, permission, project);
CREATE INDEX canvases_private ON canvases (tenant_id, permission, user_id, project, id);
CREATE INDEX canvases_project ON canvases (tenant_id, project, permission, user_id, id);
CREATE INDEX canvases_updated ON canvases (tenant_id, update_time, id, user_id, permission, project);

-- Runs and sessions outlive their canvas, and belong to those who could use it.
CREATE TABLE deleted_canvases (
	id          TEXT PRIMARY KEY,
	tenant_id   TEXT NOT NULL,
	user_id     TEXT NOT NULL,
	permission  TEXT NOT NULL,
	delete_time BIGINT NOT NULL,
	project     TEXT NOT NULL
);
CREATE INDEX deleted_canvases_private ON deleted_canvases (tenant_id, permission, user_id, project, id);
CREATE INDEX deleted_canvases_project ON deleted_canvases (tenant_id, project, permission, user_id, id);

-- user_id saved a version; publish_time is 0 for one that was never published.
CREATE TABLE versions (
	id           TEXT PRIMARY KEY,
	canvas_id    TEXT NOT NULL,
	number       BIGINT NOT NULL,
	title        TEXT NOT NULL,
	description  TEXT NOT NULL,
	hash         TEXT NOT NULL,
	dsl          BYTEA NOT NULL,
	create_time  BIGINT NOT NULL,
	publish_time BIGINT NOT NULL,
	user_id      TEXT NOT NULL,
	UNIQUE (canvas_id, number)
);

-- A session is the document with which it began (session_documents), the turns that were added to it
-- (session_turns), and the state after the last one, so that a turn writes what was said in it and
-- not the whole conversation. plan is the hash of the document, empty until it is compiled; turns is
-- their number; version_title the title of the version that the session began with.
--
-- actor is the member for whom a run acts, or on whose behalf the document of a session was saved or
-- published, and actor_as what made it that. visitor is whose a conversation is, and what its runs
-- made and remember: 'session:ID' of a visitor of an embedding page, 'user:CANVAS:ID' of a visitor
-- whose site signed the user id, empty for members and API clients.
CREATE TABLE sessions (
	id            TEXT PRIMARY KEY,
	tenant_id     TEXT NOT NULL,
	canvas_id     TEXT NOT NULL,
	user_id       TEXT NOT NULL,
	source        TEXT NOT NULL,
	name          TEXT NOT NULL,
	errors        TEXT NOT NULL,
	tokens        BIGINT NOT NULL,
	duration_ms   BIGINT NOT NULL,
	rounds        BIGINT NOT NULL,
	thumb_up      BIGINT NOT NULL,
	rev           BIGINT NOT NULL,
	run_id        TEXT NOT NULL,
	last_run_id   TEXT NOT NULL,
	create_time   BIGINT NOT NULL,
	update_time   BIGINT NOT NULL,
	version_title TEXT NOT NULL,
	actor         TEXT NOT NULL,
	actor_as      TEXT NOT NULL,
	visitor       TEXT NOT NULL,
	plan          TEXT NOT NULL,
	state         BYTEA NOT NULL,
	turns         BIGINT NOT NULL
);
CREATE INDEX sessions_created ON sessions (tenant_id, canvas_id, create_time, id, user_id, source, tokens, duration_ms,
	rounds, thumb_up, visitor);
CREATE INDEX sessions_updated ON sessions (tenant_id, canvas_id, update_time, id, create_time, user_id, source);
CREATE INDEX sessions_user ON sessions (tenant_id, canvas_id, user_id, update_time, id, create_time, source, visitor);
CREATE INDEX sessions_visitor ON sessions (visitor, update_time) WHERE visitor <> '';

CREATE TABLE session_documents (
	session_id TEXT PRIMARY KEY,
	tenant_id  TEXT NOT NULL,
	dsl        BYTEA NOT NULL,
	messages   BYTEA NOT NULL,
	reference  BYTEA NOT NULL
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

-- principal is who started a run, as JSON, cost that of its model calls in millionths of the currency
-- of the price table; actor, actor_as and visitor are those of sessions. The end of a run changes its
-- status, and an index that contains it is written twice a run: most runs succeed, have no session
-- and a message of their own id, and are in few indexes. A condition with IN would build a table of
-- its values for each row written.
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
	end_time    BIGINT NOT NULL,
	cost        BIGINT NOT NULL,
	actor       TEXT NOT NULL,
	actor_as    TEXT NOT NULL,
	visitor     TEXT NOT NULL,
	principal   TEXT NOT NULL
);
CREATE INDEX runs_active ON runs (tenant_id, create_time, id) WHERE status = 'running';
CREATE INDEX runs_canvas ON runs (tenant_id, canvas_id, create_time, id);
CREATE INDEX runs_list ON runs (tenant_id, create_time, id, canvas_id);
CREATE INDEX runs_message ON runs (message_id) WHERE message_id <> id;
CREATE INDEX runs_schedule ON runs (canvas_id, create_time) WHERE source = 'schedule';
CREATE INDEX runs_session ON runs (tenant_id, session_id, create_time, id) WHERE session_id <> '';
CREATE INDEX runs_stopped ON runs (tenant_id, status, create_time, id) WHERE status <> 'running' AND status <> 'succeeded';

-- Numbers of rows of a list created in a span of time, counted once and lowered by deletions.
-- canvas_id is empty for the list of a whole tenant. Not part of a dump: it is counted again. A
-- writer that counts or deletes rows of lists locks the row 'lists' of meta, so that no count misses
-- a deletion.
CREATE TABLE list_blocks (
	list       TEXT NOT NULL,
	tenant_id  TEXT NOT NULL,
	canvas_id  TEXT NOT NULL,
	from_time  BIGINT NOT NULL,
	to_time    BIGINT NOT NULL,
	row_count  BIGINT NOT NULL,
	check_time BIGINT NOT NULL,
	PRIMARY KEY (list, tenant_id, canvas_id, from_time)
);

-- Runs that wait for a person. kept is where the state is that an answer continues: 'session',
-- 'canvas', or '' for the wait itself (data, sealed). form is the question, sealed. A run that was
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
CREATE INDEX waits_canvas ON waits (tenant_id, canvas_id) WHERE state = 'open';
CREATE INDEX waits_list ON waits (tenant_id, state, create_time, id);
CREATE INDEX waits_next ON waits (next_run) WHERE next_run <> '';
CREATE INDEX waits_open ON waits (expire_time) WHERE state = 'open';
CREATE INDEX waits_session ON waits (session_id);

-- The lists of the documents that runs have read and not everyone may read. object is a run or its
-- session: a person who may read its answers is let in by each of its lists.
CREATE TABLE readers (
	tenant_id TEXT NOT NULL,
	object    TEXT NOT NULL,
	list      TEXT NOT NULL,
	PRIMARY KEY (object, tenant_id, list)
);

-- Kept runs. canvas_docs has the documents that they ran, by hash. A block has the traces of runs of
-- one canvas: day is when it was written (UTC), place and position where its bytes are, runs the ids
-- of its runs with their offsets, heads their questions and answers, shortened and sealed, first_end
-- and last_end when they ended. trace_bytes has the blocks of hosts that share no other place.
-- trace_gone has deleted runs whose block is to be rewritten.
CREATE TABLE canvas_docs (
	tenant_id  TEXT NOT NULL,
	hash       TEXT NOT NULL,
	canvas_id  TEXT NOT NULL,
	body       BYTEA NOT NULL,
	first_time BIGINT NOT NULL,
	last_time  BIGINT NOT NULL,
	PRIMARY KEY (tenant_id, hash)
);

CREATE TABLE trace_blocks (
	id        TEXT PRIMARY KEY,
	tenant_id TEXT NOT NULL,
	canvas_id TEXT NOT NULL,
	day       TEXT NOT NULL,
	place     TEXT NOT NULL,
	position  BIGINT NOT NULL,
	size      BIGINT NOT NULL,
	raw_size  BIGINT NOT NULL,
	runs      BYTEA NOT NULL,
	first_end BIGINT NOT NULL,
	last_end  BIGINT NOT NULL,
	heads     BYTEA NOT NULL
);
CREATE INDEX trace_blocks_day ON trace_blocks (tenant_id, day, canvas_id);
CREATE INDEX trace_blocks_end ON trace_blocks (tenant_id, canvas_id, last_end);

CREATE TABLE trace_bytes (
	tenant_id TEXT NOT NULL,
	day       TEXT NOT NULL,
	id        TEXT NOT NULL,
	body      BYTEA NOT NULL,
	PRIMARY KEY (tenant_id, day, id)
);

CREATE TABLE trace_gone (
	run_id    TEXT PRIMARY KEY,
	tenant_id TEXT NOT NULL,
	time      BIGINT NOT NULL
);

INSERT INTO meta (name, value) VALUES ('lists', '');

-- # Knowledge and memory

-- body is JSON; model is the embedding model that answers, wanted the one that the documents are being
-- embedded with, into next_file, when it is another one; seq grows with every change that an index
-- follows, gone_seq is its value at the last deletion of a document. The counts are those of all
-- documents together, changed with each of them. Names are unique among the datasets that a member
-- may use, which no index can tell.
CREATE TABLE datasets (
	id             TEXT PRIMARY KEY,
	tenant_id      TEXT NOT NULL,
	created_by     TEXT NOT NULL,
	team           BIGINT NOT NULL,
	name           TEXT NOT NULL,
	name_key       TEXT NOT NULL,
	body           BYTEA NOT NULL,
	model          TEXT NOT NULL,
	wanted         TEXT NOT NULL,
	seq            BIGINT NOT NULL,
	gone_seq       BIGINT NOT NULL,
	create_time    BIGINT NOT NULL,
	update_time    BIGINT NOT NULL,
	document_count BIGINT NOT NULL DEFAULT 0,
	byte_count     BIGINT NOT NULL DEFAULT 0,
	chunk_count    BIGINT NOT NULL DEFAULT 0,
	token_count    BIGINT NOT NULL DEFAULT 0,
	project        TEXT NOT NULL
);
CREATE INDEX datasets_created ON datasets (tenant_id, create_time, id, created_by, team, project);
CREATE INDEX datasets_name ON datasets (tenant_id, name_key, created_by, team);
CREATE INDEX datasets_updated ON datasets (tenant_id, update_time, id, created_by, team, project);

-- Changes of documents that followers of a dataset see are numbered: a document has the number of
-- its last one, and dataset_changes the last number given.
CREATE TABLE dataset_changes (
	dataset_id TEXT PRIMARY KEY,
	tenant_id  TEXT NOT NULL,
	change_seq BIGINT NOT NULL
);

-- A queued or running document has a lease; the host whose lease has ended is taken for dead. access
-- is who may read a document, as a list of package access; empty leaves it to its dataset.
CREATE TABLE documents (
	id          TEXT PRIMARY KEY,
	tenant_id   TEXT NOT NULL,
	dataset_id  TEXT NOT NULL,
	name        TEXT NOT NULL,
	name_key    TEXT NOT NULL,
	suffix      TEXT NOT NULL,
	kind        TEXT NOT NULL,
	size        BIGINT NOT NULL,
	hash        TEXT NOT NULL,
	file        TEXT NOT NULL,
	body        BYTEA NOT NULL,
	disabled    BIGINT NOT NULL,
	state       TEXT NOT NULL,
	progress    BIGINT NOT NULL,
	messages    BYTEA NOT NULL,
	begin_time  BIGINT NOT NULL,
	duration_ms BIGINT NOT NULL,
	queue_time  BIGINT NOT NULL,
	attempts    BIGINT NOT NULL,
	lease       TEXT NOT NULL,
	lease_until BIGINT NOT NULL,
	chunk_file  TEXT NOT NULL,
	chunk_count BIGINT NOT NULL,
	token_count BIGINT NOT NULL,
	digest      TEXT NOT NULL,
	model       TEXT NOT NULL,
	next_file   TEXT NOT NULL,
	next_model  TEXT NOT NULL,
	seq         BIGINT NOT NULL,
	content_seq BIGINT NOT NULL,
	create_time BIGINT NOT NULL,
	update_time BIGINT NOT NULL,
	change_seq  BIGINT NOT NULL DEFAULT 0,
	access      TEXT NOT NULL
);
CREATE INDEX documents_changed ON documents (dataset_id, change_seq, id);
CREATE INDEX documents_changes ON documents (dataset_id, seq, id);
CREATE INDEX documents_created ON documents (dataset_id, create_time, id, state, name_key, suffix);
CREATE INDEX documents_queue ON documents (state, queue_time, id, dataset_id);
CREATE INDEX documents_state ON documents (dataset_id, state, create_time, id);
CREATE INDEX documents_updated ON documents (dataset_id, update_time, id, state, name_key, suffix);
CREATE UNIQUE INDEX documents_name ON documents (dataset_id, name);

-- What people changed about chunks; it stands over the chunks in a document's chunk file.
CREATE TABLE chunk_edits (
	document_id TEXT NOT NULL,
	chunk_id    TEXT NOT NULL,
	tenant_id   TEXT NOT NULL,
	dataset_id  TEXT NOT NULL,
	seq         BIGINT NOT NULL,
	body        BYTEA NOT NULL,
	PRIMARY KEY (document_id, chunk_id)
);
CREATE INDEX chunk_edits_changes ON chunk_edits (document_id, seq);
CREATE INDEX chunk_edits_dataset ON chunk_edits (dataset_id);

-- How parses of documents ended. body is JSON; canvas is the pipeline of the newest parse of its
-- document with the outputs of its nodes, compressed, or empty.
CREATE TABLE parse_logs (
	id          TEXT PRIMARY KEY,
	tenant_id   TEXT NOT NULL,
	dataset_id  TEXT NOT NULL,
	document_id TEXT NOT NULL,
	name_key    TEXT NOT NULL,
	suffix      TEXT NOT NULL,
	kind        TEXT NOT NULL,
	state       TEXT NOT NULL,
	body        BYTEA NOT NULL,
	canvas      BYTEA NOT NULL,
	create_time BIGINT NOT NULL
);
CREATE INDEX parse_logs_created ON parse_logs (dataset_id, create_time, id);
CREATE INDEX parse_logs_document ON parse_logs (document_id, create_time, id);

-- Queued and running documents whose pipeline starts at a node, with the outputs of those before it.
CREATE TABLE parse_reruns (
	document_id TEXT PRIMARY KEY,
	tenant_id   TEXT NOT NULL,
	dataset_id  TEXT NOT NULL,
	node        TEXT NOT NULL,
	canvas      BYTEA NOT NULL,
	user_id     TEXT NOT NULL
);
CREATE INDEX parse_reruns_dataset ON parse_reruns (dataset_id);

-- Files in the object store that no record names, to be deleted after a time.
CREATE TABLE loose_files (
	name          TEXT PRIMARY KEY,
	former_tenant TEXT NOT NULL,
	due_time      BIGINT NOT NULL
);
CREATE INDEX loose_files_due ON loose_files (due_time);

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
	project     TEXT NOT NULL,
	UNIQUE (tenant_id, name_fold)
);

-- vector is little-endian float32 of the named model; empty without one. source_id is the message
-- that this one was extracted from, 0 for none. Times of 0 are unset.
CREATE TABLE memory_messages (
	memory_id  TEXT NOT NULL,
	id         BIGINT NOT NULL,
	tenant_id  TEXT NOT NULL,
	kind       TEXT NOT NULL,
	source_id  BIGINT NOT NULL,
	user_id    TEXT NOT NULL,
	agent_id   TEXT NOT NULL,
	session_id TEXT NOT NULL,
	content    TEXT NOT NULL,
	model      TEXT NOT NULL,
	vector     BYTEA NOT NULL,
	size       BIGINT NOT NULL,
	valid_at   BIGINT NOT NULL,
	invalid_at BIGINT NOT NULL,
	forget_at  BIGINT NOT NULL,
	disabled   BIGINT NOT NULL,
	visitor    TEXT NOT NULL,
	PRIMARY KEY (memory_id, id)
);
CREATE INDEX memory_messages_tenant ON memory_messages (tenant_id);

-- # Counts of lists

-- Canvases and datasets of a tenant by what decides who may use them: a list adds these numbers
-- instead of counting its rows. Triggers keep them in the commit of each change, so that hosts of
-- another version do so too. of_table is 'canvases' or 'datasets'.
CREATE TABLE list_counts (
	of_table  TEXT NOT NULL,
	tenant_id TEXT NOT NULL,
	project   TEXT NOT NULL,
	shared    BIGINT NOT NULL,
	owner     TEXT NOT NULL,
	category  TEXT NOT NULL,
	row_count BIGINT NOT NULL,
	PRIMARY KEY (of_table, tenant_id, project, shared, owner, category)
);

-- only: sqlite
CREATE TRIGGER canvases_added AFTER INSERT ON canvases BEGIN
	INSERT INTO list_counts VALUES ('canvases', NEW.tenant_id, NEW.project, NEW.permission = 'team', NEW.user_id,
		NEW.category, 1) ON CONFLICT DO UPDATE SET row_count = row_count + 1; END;
-- only: sqlite
CREATE TRIGGER canvases_removed AFTER DELETE ON canvases BEGIN
	UPDATE list_counts SET row_count = row_count - 1 WHERE of_table = 'canvases' AND tenant_id = OLD.tenant_id AND
		project = OLD.project AND shared = (OLD.permission = 'team') AND owner = OLD.user_id AND
		category = OLD.category; END;
-- only: sqlite
CREATE TRIGGER canvases_moved AFTER UPDATE OF tenant_id, project, permission, user_id, category ON canvases
	WHEN (OLD.tenant_id, OLD.project, OLD.permission, OLD.user_id, OLD.category) <>
		(NEW.tenant_id, NEW.project, NEW.permission, NEW.user_id, NEW.category) BEGIN
	UPDATE list_counts SET row_count = row_count - 1 WHERE of_table = 'canvases' AND tenant_id = OLD.tenant_id AND
		project = OLD.project AND shared = (OLD.permission = 'team') AND owner = OLD.user_id AND
		category = OLD.category; INSERT INTO list_counts VALUES ('canvases', NEW.tenant_id, NEW.project,
		NEW.permission = 'team', NEW.user_id, NEW.category, 1)
		ON CONFLICT DO UPDATE SET row_count = row_count + 1; END;
-- only: sqlite
CREATE TRIGGER datasets_added AFTER INSERT ON datasets BEGIN
	INSERT INTO list_counts VALUES ('datasets', NEW.tenant_id, NEW.project, NEW.team, NEW.created_by, '', 1)
		ON CONFLICT DO UPDATE SET row_count = row_count + 1; END;
-- only: sqlite
CREATE TRIGGER datasets_removed AFTER DELETE ON datasets BEGIN
	UPDATE list_counts SET row_count = row_count - 1 WHERE of_table = 'datasets' AND tenant_id = OLD.tenant_id AND
		project = OLD.project AND shared = OLD.team AND owner = OLD.created_by AND category = ''; END;
-- only: sqlite
CREATE TRIGGER datasets_moved AFTER UPDATE OF tenant_id, project, team, created_by ON datasets
	WHEN (OLD.tenant_id, OLD.project, OLD.team, OLD.created_by) <>
		(NEW.tenant_id, NEW.project, NEW.team, NEW.created_by) BEGIN
	UPDATE list_counts SET row_count = row_count - 1 WHERE of_table = 'datasets' AND tenant_id = OLD.tenant_id AND
		project = OLD.project AND shared = OLD.team AND owner = OLD.created_by AND category = ''; INSERT INTO
		list_counts VALUES ('datasets', NEW.tenant_id, NEW.project, NEW.team, NEW.created_by, '', 1)
		ON CONFLICT DO UPDATE SET row_count = row_count + 1; END;

-- Groups are locked in one order, so that changes in opposite directions do not deadlock. Rows that
-- a statement adds or deletes are counted together: each change of a group leaves a version of it
-- until the commit.
-- only: postgres
CREATE FUNCTION easel_count(moved list_counts[]) RETURNS void LANGUAGE sql AS $$
	INSERT INTO list_counts AS c SELECT of_table, tenant_id, project, shared, owner, category, SUM(row_count)::bigint
		FROM unnest(moved) GROUP BY 1, 2, 3, 4, 5, 6 HAVING SUM(row_count) <> 0 ORDER BY 1, 2, 3, 4, 5, 6
		ON CONFLICT (of_table, tenant_id, project, shared, owner, category)
		DO UPDATE SET row_count = c.row_count + excluded.row_count $$;
-- only: postgres
CREATE FUNCTION easel_canvases_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM easel_count(ARRAY(
	SELECT ROW('canvases', tenant_id, project, (permission = 'team')::int, user_id, category, COUNT(*))::list_counts
		FROM changed GROUP BY tenant_id, project, permission, user_id, category)); RETURN NULL; END $$;
-- only: postgres
CREATE FUNCTION easel_canvases_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM easel_count(ARRAY(
	SELECT ROW('canvases', tenant_id, project, (permission = 'team')::int, user_id, category, -COUNT(*))::list_counts
		FROM changed GROUP BY tenant_id, project, permission, user_id, category)); RETURN NULL; END $$;
-- only: postgres
CREATE FUNCTION easel_canvases_moved() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM easel_count(ARRAY[
	ROW('canvases', OLD.tenant_id, OLD.project, (OLD.permission = 'team')::int, OLD.user_id,
		OLD.category, -1)::list_counts,
	ROW('canvases', NEW.tenant_id, NEW.project, (NEW.permission = 'team')::int, NEW.user_id,
		NEW.category, 1)::list_counts]); RETURN NULL; END $$;
-- only: postgres
CREATE TRIGGER canvases_added AFTER INSERT ON canvases REFERENCING NEW TABLE AS changed
	FOR EACH STATEMENT EXECUTE FUNCTION easel_canvases_added();
-- only: postgres
CREATE TRIGGER canvases_removed AFTER DELETE ON canvases REFERENCING OLD TABLE AS changed
	FOR EACH STATEMENT EXECUTE FUNCTION easel_canvases_removed();
-- only: postgres
CREATE TRIGGER canvases_moved AFTER UPDATE ON canvases FOR EACH ROW WHEN (
	(OLD.tenant_id, OLD.project, OLD.permission, OLD.user_id, OLD.category) IS DISTINCT FROM
	(NEW.tenant_id, NEW.project, NEW.permission, NEW.user_id, NEW.category)) EXECUTE FUNCTION easel_canvases_moved();
-- only: postgres
CREATE FUNCTION easel_datasets_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM easel_count(ARRAY(
	SELECT ROW('datasets', tenant_id, project, team, created_by, '', COUNT(*))::list_counts
		FROM changed GROUP BY tenant_id, project, team, created_by)); RETURN NULL; END $$;
-- only: postgres
CREATE FUNCTION easel_datasets_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM easel_count(ARRAY(
	SELECT ROW('datasets', tenant_id, project, team, created_by, '', -COUNT(*))::list_counts
		FROM changed GROUP BY tenant_id, project, team, created_by)); RETURN NULL; END $$;
-- only: postgres
CREATE FUNCTION easel_datasets_moved() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM easel_count(ARRAY[
	ROW('datasets', OLD.tenant_id, OLD.project, OLD.team, OLD.created_by, '', -1)::list_counts,
	ROW('datasets', NEW.tenant_id, NEW.project, NEW.team, NEW.created_by, '', 1)::list_counts]); RETURN NULL; END $$;
-- only: postgres
CREATE TRIGGER datasets_added AFTER INSERT ON datasets REFERENCING NEW TABLE AS changed
	FOR EACH STATEMENT EXECUTE FUNCTION easel_datasets_added();
-- only: postgres
CREATE TRIGGER datasets_removed AFTER DELETE ON datasets REFERENCING OLD TABLE AS changed
	FOR EACH STATEMENT EXECUTE FUNCTION easel_datasets_removed();
-- only: postgres
CREATE TRIGGER datasets_moved AFTER UPDATE ON datasets FOR EACH ROW WHEN (
	(OLD.tenant_id, OLD.project, OLD.team, OLD.created_by) IS DISTINCT FROM
	(NEW.tenant_id, NEW.project, NEW.team, NEW.created_by)) EXECUTE FUNCTION easel_datasets_moved();
