-- What was learned of a model from the answers of its server, as JSON. tenant_id is empty for the
-- providers of the host. until is when it is forgotten, in Unix milliseconds.
CREATE TABLE model_lessons (
	tenant_id TEXT NOT NULL,
	address   TEXT NOT NULL,
	model     TEXT NOT NULL,
	doc       BYTEA NOT NULL,
	until     BIGINT NOT NULL,
	PRIMARY KEY (tenant_id, address, model)
);
