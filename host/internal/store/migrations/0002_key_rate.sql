-- How many requests a minute one key may make; 0 leaves it to the host.
ALTER TABLE keys ADD COLUMN rate BIGINT NOT NULL DEFAULT 0;
