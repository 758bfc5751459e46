-- Whose rights runs have: author wrote the saved document of a canvas, publisher published the
-- version that its users run. actor is the member for whom a run acts, or on whose behalf the
-- document of a session was saved or published, and actor_as what made it that; empty for runs and
-- sessions of former versions. user_id of a token for all canvases is the member whose canvases
-- they are, and that of a rerun the member who asked for it.
ALTER TABLE canvases ADD COLUMN author TEXT NOT NULL DEFAULT '';
ALTER TABLE canvases ADD COLUMN publisher TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN actor TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN actor_as TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN actor TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN actor_as TEXT NOT NULL DEFAULT '';
ALTER TABLE betas ADD COLUMN user_id TEXT NOT NULL DEFAULT '';
ALTER TABLE parse_reruns ADD COLUMN user_id TEXT NOT NULL DEFAULT '';
UPDATE canvases SET permission = 'me' WHERE permission NOT IN ('me', 'team');
UPDATE canvases SET author = COALESCE((SELECT NULLIF(v.user_id, '') FROM versions v
	WHERE v.canvas_id = canvases.id ORDER BY v.number DESC LIMIT 1), user_id) WHERE author = '';
UPDATE canvases SET publisher = COALESCE((SELECT NULLIF(v.user_id, '') FROM versions v
	WHERE v.id = canvases.published), user_id) WHERE published <> '' AND publisher = '';
UPDATE betas SET user_id = COALESCE((SELECT MIN(m.user_id) FROM members m
	WHERE m.tenant_id = betas.tenant_id AND m.role = 'owner'), tenant_id) WHERE canvas_id = '' AND user_id = '';
-- Lists of canvases and their counts leave out private ones of others; their rows hold documents.
CREATE INDEX canvases_updated ON canvases (tenant_id, update_time, id, user_id, permission);
CREATE INDEX canvases_created ON canvases (tenant_id, create_time, id, user_id, permission);
CREATE INDEX canvases_private ON canvases (tenant_id, permission, user_id, id);
DROP INDEX canvases_tenant;
-- Runs and sessions outlive their canvas, and belong to those who could use it.
CREATE TABLE deleted_canvases (
	id          TEXT PRIMARY KEY,
	tenant_id   TEXT NOT NULL,
	user_id     TEXT NOT NULL,
	permission  TEXT NOT NULL,
	delete_time BIGINT NOT NULL
);
CREATE INDEX deleted_canvases_private ON deleted_canvases (tenant_id, permission, user_id, id);
-- Those of canvases that were deleted before belong to an owner of the tenant.
INSERT INTO deleted_canvases (id, tenant_id, user_id, permission, delete_time)
	SELECT gone.canvas_id, gone.tenant_id, COALESCE((SELECT MIN(m.user_id) FROM members m
	WHERE m.tenant_id = gone.tenant_id AND m.role = 'owner'), gone.tenant_id), 'me', 0
	FROM (SELECT tenant_id, canvas_id FROM runs UNION SELECT tenant_id, canvas_id FROM sessions) AS gone
	WHERE NOT EXISTS (SELECT 1 FROM canvases c WHERE c.id = gone.canvas_id)
	ON CONFLICT DO NOTHING;
DROP INDEX runs_list;
CREATE INDEX runs_list ON runs (tenant_id, create_time, id, canvas_id);
-- Names of datasets are unique among those that a member may use, which no index can tell.
DROP INDEX datasets_name;
CREATE INDEX datasets_name ON datasets (tenant_id, name_key, created_by, team);
