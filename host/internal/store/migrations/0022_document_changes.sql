-- Changes of documents that followers of a dataset see are numbered: a document has the number of
-- its last one, and dataset_changes the last number given.
ALTER TABLE documents ADD COLUMN change_seq BIGINT NOT NULL DEFAULT 0;
CREATE INDEX documents_changed ON documents (dataset_id, change_seq, id);
-- Positions in the queue are read from its index alone.
DROP INDEX documents_queue;
CREATE INDEX documents_queue ON documents (state, queue_time, id, dataset_id);
CREATE TABLE dataset_changes (
	dataset_id TEXT PRIMARY KEY,
	tenant_id  TEXT NOT NULL,
	change_seq BIGINT NOT NULL
);
