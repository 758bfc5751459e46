-- heads has what the runs of a block were asked and have answered, shortened and sealed; empty for
-- blocks of before.
ALTER TABLE trace_blocks ADD COLUMN heads BYTEA NOT NULL DEFAULT '';
