-- The hosts a secret may go to, as a JSON list; an empty one means any.
ALTER TABLE secrets ADD COLUMN hosts TEXT NOT NULL DEFAULT '[]';
