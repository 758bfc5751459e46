-- Who may read a document, as a list of package access; empty leaves it to its dataset.
ALTER TABLE documents ADD COLUMN access TEXT NOT NULL DEFAULT '';
-- The lists of the documents that runs have read and not everyone may read. object is a run or its
-- session: who may read what it said is let in by each of its lists.
CREATE TABLE readers (
	tenant_id TEXT NOT NULL,
	object    TEXT NOT NULL,
	list      TEXT NOT NULL,
	PRIMARY KEY (object, tenant_id, list)
);
