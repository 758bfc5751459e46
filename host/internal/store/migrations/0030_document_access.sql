-- Who may read a document, as a list of package access; empty leaves it to its dataset.
ALTER TABLE documents ADD COLUMN access TEXT NOT NULL DEFAULT '';
-- The lists of the documents that a run has read and not everyone may read, as a JSON list: only
-- those whom each of them lets in may read what the run said.
ALTER TABLE runs ADD COLUMN readers TEXT NOT NULL DEFAULT '';
