-- Who changed what, append only. Rows of a tenant are numbered and chained: hash is that of the row
-- and of the one before. audit_heads has, sealed, the last number and hash, and those of the last
-- row that has expired.
CREATE TABLE audit (
	tenant_id TEXT NOT NULL,
	seq       BIGINT NOT NULL,
	time      BIGINT NOT NULL,
	user_id   TEXT NOT NULL,
	caller    TEXT NOT NULL,
	action    TEXT NOT NULL,
	object    TEXT NOT NULL,
	address   TEXT NOT NULL,
	hash      BYTEA NOT NULL,
	PRIMARY KEY (tenant_id, seq)
);
CREATE TABLE audit_heads (
	tenant_id TEXT PRIMARY KEY,
	sealed    BYTEA NOT NULL
);
