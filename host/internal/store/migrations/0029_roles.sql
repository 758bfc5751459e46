-- Projects hold canvases, datasets, memories and secrets; '' is the default project, which has no
-- row. In it each member is an editor, so that nothing changes for records of former versions.
CREATE TABLE projects (
	id          TEXT PRIMARY KEY,
	tenant_id   TEXT NOT NULL,
	name        TEXT NOT NULL,
	name_fold   BYTEA NOT NULL,
	create_time BIGINT NOT NULL
);
CREATE UNIQUE INDEX projects_name ON projects (tenant_id, name_fold);
ALTER TABLE canvases ADD COLUMN project TEXT NOT NULL DEFAULT '';
ALTER TABLE deleted_canvases ADD COLUMN project TEXT NOT NULL DEFAULT '';
ALTER TABLE datasets ADD COLUMN project TEXT NOT NULL DEFAULT '';
ALTER TABLE memories ADD COLUMN project TEXT NOT NULL DEFAULT '';
ALTER TABLE secrets ADD COLUMN project TEXT NOT NULL DEFAULT '';
-- only is the one project that a key may use, and limited whether it is limited so.
ALTER TABLE keys ADD COLUMN only_project TEXT NOT NULL DEFAULT '';
ALTER TABLE keys ADD COLUMN limited BIGINT NOT NULL DEFAULT 0;
-- Roles that were given. subject is user:ID, key:ID or group:NAME, object project:ID, canvas:ID or
-- dataset:ID, role the rank of package access.
CREATE TABLE grants (
	tenant_id   TEXT NOT NULL,
	subject     TEXT NOT NULL,
	object      TEXT NOT NULL,
	role        BIGINT NOT NULL,
	user_id     TEXT NOT NULL,
	create_time BIGINT NOT NULL,
	PRIMARY KEY (tenant_id, subject, object)
);
CREATE INDEX grants_object ON grants (tenant_id, object);
-- Rows of canvases hold documents: lists and counts read the project from an index.
DROP INDEX canvases_updated;
DROP INDEX canvases_created;
DROP INDEX canvases_private;
CREATE INDEX canvases_updated ON canvases (tenant_id, update_time, id, user_id, permission, project);
CREATE INDEX canvases_created ON canvases (tenant_id, create_time, id, user_id, permission, project);
CREATE INDEX canvases_private ON canvases (tenant_id, permission, user_id, project, id);
CREATE INDEX canvases_project ON canvases (tenant_id, project, permission, user_id, id);
CREATE INDEX canvases_access ON canvases (id, tenant_id, user_id, permission, project);
DROP INDEX deleted_canvases_private;
CREATE INDEX deleted_canvases_private ON deleted_canvases (tenant_id, permission, user_id, project, id);
CREATE INDEX deleted_canvases_project ON deleted_canvases (tenant_id, project, permission, user_id, id);
