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
	canvas      BYTEA NOT NULL
);
CREATE INDEX parse_reruns_dataset ON parse_reruns (dataset_id);
