-- How many model tokens a day a key or a tenant may use; 0 leaves a key to the
-- host and a tenant without a quota.
ALTER TABLE keys ADD COLUMN tokens_per_day BIGINT NOT NULL DEFAULT 0;
ALTER TABLE tenants ADD COLUMN tokens_per_day BIGINT NOT NULL DEFAULT 0;
-- What was used: caller is whose tokens are counted together, empty for the
-- tenant with all its callers; day counts from 1970-01-01, UTC.
CREATE TABLE token_use (
	tenant_id TEXT NOT NULL,
	caller    TEXT NOT NULL,
	day       BIGINT NOT NULL,
	tokens    BIGINT NOT NULL,
	PRIMARY KEY (tenant_id, day, caller)
);
