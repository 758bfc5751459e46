-- Who signs in at an OpenID provider: the person (issuer and subject, never an address) and the
-- user. role is what the groups of the person give in the tenant at the last sign-in, empty for
-- none.
CREATE TABLE identities (
	tenant_id   TEXT NOT NULL,
	issuer      TEXT NOT NULL,
	subject     TEXT NOT NULL,
	user_id     TEXT NOT NULL,
	provider    TEXT NOT NULL,
	role        TEXT NOT NULL,
	create_time BIGINT NOT NULL,
	last_time   BIGINT NOT NULL,
	PRIMARY KEY (tenant_id, issuer, subject)
);
CREATE INDEX identities_user ON identities (user_id);
-- role is the strongest of local_role, which an administrator set, and those of the identities.
ALTER TABLE members ADD COLUMN local_role TEXT NOT NULL DEFAULT '';
UPDATE members SET local_role = role;
-- How and where a login began, and the sealed ID token of its provider.
ALTER TABLE logins ADD COLUMN via TEXT NOT NULL DEFAULT '';
ALTER TABLE logins ADD COLUMN address TEXT NOT NULL DEFAULT '';
ALTER TABLE logins ADD COLUMN agent TEXT NOT NULL DEFAULT '';
ALTER TABLE logins ADD COLUMN token BYTEA NOT NULL DEFAULT '';
