-- How many requests a minute one key may make; 0 leaves it to the host.
ALTER TABLE keys ADD COLUMN rate BIGINT NOT NULL DEFAULT 0;
-- What an item keeps sealed, such as the key of a model provider.
ALTER TABLE items ADD COLUMN sealed BYTEA NOT NULL DEFAULT '';
