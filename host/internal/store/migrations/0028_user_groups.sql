-- The groups of users. source is empty for groups that an administrator set, and otherwise the
-- OpenID provider that reported them at the last sign-in.
CREATE TABLE user_groups (
	tenant_id TEXT NOT NULL,
	user_id   TEXT NOT NULL,
	source    TEXT NOT NULL,
	name      TEXT NOT NULL,
	PRIMARY KEY (tenant_id, user_id, source, name)
);
