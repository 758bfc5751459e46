-- Datasets and their documents. body is JSON; model is the embedding model that answers, wanted the
-- one that the documents are being embedded with, into next_file, when it is another one; seq grows with every change that an index has to
-- follow, gone_seq is its value at the last deletion of a document.
CREATE TABLE datasets (
	id          TEXT PRIMARY KEY,
	tenant_id   TEXT NOT NULL,
	created_by  TEXT NOT NULL,
	team        BIGINT NOT NULL,
	name        TEXT NOT NULL,
	name_key    TEXT NOT NULL,
	body        BYTEA NOT NULL,
	model       TEXT NOT NULL,
	wanted      TEXT NOT NULL,
	seq         BIGINT NOT NULL,
	gone_seq    BIGINT NOT NULL,
	create_time BIGINT NOT NULL,
	update_time BIGINT NOT NULL
);
CREATE UNIQUE INDEX datasets_name ON datasets (tenant_id, name_key);
CREATE INDEX datasets_created ON datasets (tenant_id, create_time, id, created_by, team);
CREATE INDEX datasets_updated ON datasets (tenant_id, update_time, id, created_by, team);
-- A queued or running document has a lease; the host whose lease has ended is taken for dead.
CREATE TABLE documents (
	id           TEXT PRIMARY KEY,
	tenant_id    TEXT NOT NULL,
	dataset_id   TEXT NOT NULL,
	name         TEXT NOT NULL,
	name_key     TEXT NOT NULL,
	suffix       TEXT NOT NULL,
	kind         TEXT NOT NULL,
	size         BIGINT NOT NULL,
	hash         TEXT NOT NULL,
	file         TEXT NOT NULL,
	body         BYTEA NOT NULL,
	disabled     BIGINT NOT NULL,
	state        TEXT NOT NULL,
	progress     BIGINT NOT NULL,
	messages     BYTEA NOT NULL,
	begin_time   BIGINT NOT NULL,
	duration_ms  BIGINT NOT NULL,
	queue_time   BIGINT NOT NULL,
	attempts     BIGINT NOT NULL,
	lease        TEXT NOT NULL,
	lease_until  BIGINT NOT NULL,
	chunk_file   TEXT NOT NULL,
	chunk_count  BIGINT NOT NULL,
	token_count  BIGINT NOT NULL,
	digest       TEXT NOT NULL,
	model        TEXT NOT NULL,
	next_file    TEXT NOT NULL,
	next_model   TEXT NOT NULL,
	seq          BIGINT NOT NULL,
	content_seq  BIGINT NOT NULL,
	create_time  BIGINT NOT NULL,
	update_time  BIGINT NOT NULL
);
CREATE UNIQUE INDEX documents_name ON documents (dataset_id, name);
CREATE INDEX documents_created ON documents (dataset_id, create_time, id, state, name_key, suffix);
CREATE INDEX documents_updated ON documents (dataset_id, update_time, id, state, name_key, suffix);
CREATE INDEX documents_sizes ON documents (dataset_id, chunk_count, token_count);
CREATE INDEX documents_tenant ON documents (tenant_id, size, chunk_count);
CREATE INDEX documents_changes ON documents (dataset_id, seq, id);
CREATE INDEX documents_queue ON documents (state, queue_time, id);
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
-- Files in the object store that no record names, to be deleted after a time.
CREATE TABLE loose_files (
	name          TEXT PRIMARY KEY,
	former_tenant TEXT NOT NULL,
	due_time      BIGINT NOT NULL
);
CREATE INDEX loose_files_due ON loose_files (due_time);
