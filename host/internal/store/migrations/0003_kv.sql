-- Keys and values that plugins keep: owner is the plugin.
CREATE TABLE kv (
	tenant_id TEXT NOT NULL,
	owner     TEXT NOT NULL,
	name      BYTEA NOT NULL,
	value     BYTEA NOT NULL,
	PRIMARY KEY (tenant_id, owner, name)
);
