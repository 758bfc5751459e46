-- What the model calls of a run cost, in millionths of the currency of the price table.
ALTER TABLE runs ADD COLUMN cost BIGINT NOT NULL DEFAULT 0;
