-- Who saved a version; empty for those that were saved before.
ALTER TABLE versions ADD COLUMN user_id TEXT NOT NULL DEFAULT '';
