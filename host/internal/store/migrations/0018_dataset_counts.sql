-- What the documents of a dataset have together, changed with each of them.
ALTER TABLE datasets ADD COLUMN document_count BIGINT NOT NULL DEFAULT 0;
ALTER TABLE datasets ADD COLUMN byte_count BIGINT NOT NULL DEFAULT 0;
ALTER TABLE datasets ADD COLUMN chunk_count BIGINT NOT NULL DEFAULT 0;
ALTER TABLE datasets ADD COLUMN token_count BIGINT NOT NULL DEFAULT 0;
UPDATE datasets SET
	document_count = (SELECT COUNT(*) FROM documents d WHERE d.dataset_id = datasets.id),
	byte_count = (SELECT COALESCE(SUM(d.size), 0) FROM documents d WHERE d.dataset_id = datasets.id),
	chunk_count = (SELECT COALESCE(SUM(d.chunk_count), 0) FROM documents d WHERE d.dataset_id = datasets.id),
	token_count = (SELECT COALESCE(SUM(d.token_count), 0) FROM documents d WHERE d.dataset_id = datasets.id);
DROP INDEX documents_sizes;
DROP INDEX documents_tenant;
