-- Canvases and datasets of a tenant by what decides who may use them: a list adds these numbers
-- instead of counting its rows. Triggers keep them in the commit of each change, so that hosts of
-- another version do so too. of_table is 'canvases' or 'datasets'.
CREATE TABLE list_counts (
	of_table  TEXT NOT NULL,
	tenant_id TEXT NOT NULL,
	project   TEXT NOT NULL,
	shared    BIGINT NOT NULL,
	owner     TEXT NOT NULL,
	category  TEXT NOT NULL,
	row_count BIGINT NOT NULL,
	PRIMARY KEY (of_table, tenant_id, project, shared, owner, category)
);
INSERT INTO list_counts SELECT 'canvases', tenant_id, project, CASE WHEN permission = 'team' THEN 1 ELSE 0 END,
	user_id, category, COUNT(*) FROM canvases GROUP BY 2, 3, 4, 5, 6;
INSERT INTO list_counts SELECT 'datasets', tenant_id, project, team, created_by, '', COUNT(*) FROM datasets
	GROUP BY 2, 3, 4, 5;
-- only: sqlite
CREATE TRIGGER canvases_added AFTER INSERT ON canvases BEGIN
	INSERT INTO list_counts VALUES ('canvases', NEW.tenant_id, NEW.project, NEW.permission = 'team', NEW.user_id,
		NEW.category, 1) ON CONFLICT DO UPDATE SET row_count = row_count + 1; END;
-- only: sqlite
CREATE TRIGGER canvases_removed AFTER DELETE ON canvases BEGIN
	UPDATE list_counts SET row_count = row_count - 1 WHERE of_table = 'canvases' AND tenant_id = OLD.tenant_id AND
		project = OLD.project AND shared = (OLD.permission = 'team') AND owner = OLD.user_id AND
		category = OLD.category; END;
-- only: sqlite
CREATE TRIGGER canvases_moved AFTER UPDATE OF tenant_id, project, permission, user_id, category ON canvases
	WHEN (OLD.tenant_id, OLD.project, OLD.permission, OLD.user_id, OLD.category) <>
		(NEW.tenant_id, NEW.project, NEW.permission, NEW.user_id, NEW.category) BEGIN
	UPDATE list_counts SET row_count = row_count - 1 WHERE of_table = 'canvases' AND tenant_id = OLD.tenant_id AND
		project = OLD.project AND shared = (OLD.permission = 'team') AND owner = OLD.user_id AND
		category = OLD.category; INSERT INTO list_counts VALUES ('canvases', NEW.tenant_id, NEW.project,
		NEW.permission = 'team', NEW.user_id, NEW.category, 1)
		ON CONFLICT DO UPDATE SET row_count = row_count + 1; END;
-- only: sqlite
CREATE TRIGGER datasets_added AFTER INSERT ON datasets BEGIN
	INSERT INTO list_counts VALUES ('datasets', NEW.tenant_id, NEW.project, NEW.team, NEW.created_by, '', 1)
		ON CONFLICT DO UPDATE SET row_count = row_count + 1; END;
-- only: sqlite
CREATE TRIGGER datasets_removed AFTER DELETE ON datasets BEGIN
	UPDATE list_counts SET row_count = row_count - 1 WHERE of_table = 'datasets' AND tenant_id = OLD.tenant_id AND
		project = OLD.project AND shared = OLD.team AND owner = OLD.created_by AND category = ''; END;
-- only: sqlite
CREATE TRIGGER datasets_moved AFTER UPDATE OF tenant_id, project, team, created_by ON datasets
	WHEN (OLD.tenant_id, OLD.project, OLD.team, OLD.created_by) <>
		(NEW.tenant_id, NEW.project, NEW.team, NEW.created_by) BEGIN
	UPDATE list_counts SET row_count = row_count - 1 WHERE of_table = 'datasets' AND tenant_id = OLD.tenant_id AND
		project = OLD.project AND shared = OLD.team AND owner = OLD.created_by AND category = ''; INSERT INTO
		list_counts VALUES ('datasets', NEW.tenant_id, NEW.project, NEW.team, NEW.created_by, '', 1)
		ON CONFLICT DO UPDATE SET row_count = row_count + 1; END;
-- Groups are locked in one order, so that changes in opposite directions do not deadlock. Rows that
-- a statement adds or deletes are counted together: each change of a group leaves a version of it
-- until the commit.
-- only: postgres
CREATE FUNCTION easel_count(moved list_counts[]) RETURNS void LANGUAGE sql AS $$
	INSERT INTO list_counts AS c SELECT of_table, tenant_id, project, shared, owner, category, SUM(row_count)::bigint
		FROM unnest(moved) GROUP BY 1, 2, 3, 4, 5, 6 HAVING SUM(row_count) <> 0 ORDER BY 1, 2, 3, 4, 5, 6
		ON CONFLICT (of_table, tenant_id, project, shared, owner, category)
		DO UPDATE SET row_count = c.row_count + excluded.row_count $$;
-- only: postgres
CREATE FUNCTION easel_canvases_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM easel_count(ARRAY(
	SELECT ROW('canvases', tenant_id, project, (permission = 'team')::int, user_id, category, COUNT(*))::list_counts
		FROM changed GROUP BY tenant_id, project, permission, user_id, category)); RETURN NULL; END $$;
-- only: postgres
CREATE FUNCTION easel_canvases_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM easel_count(ARRAY(
	SELECT ROW('canvases', tenant_id, project, (permission = 'team')::int, user_id, category, -COUNT(*))::list_counts
		FROM changed GROUP BY tenant_id, project, permission, user_id, category)); RETURN NULL; END $$;
-- only: postgres
CREATE FUNCTION easel_canvases_moved() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM easel_count(ARRAY[
	ROW('canvases', OLD.tenant_id, OLD.project, (OLD.permission = 'team')::int, OLD.user_id,
		OLD.category, -1)::list_counts,
	ROW('canvases', NEW.tenant_id, NEW.project, (NEW.permission = 'team')::int, NEW.user_id,
		NEW.category, 1)::list_counts]); RETURN NULL; END $$;
-- only: postgres
CREATE TRIGGER canvases_added AFTER INSERT ON canvases REFERENCING NEW TABLE AS changed
	FOR EACH STATEMENT EXECUTE FUNCTION easel_canvases_added();
-- only: postgres
CREATE TRIGGER canvases_removed AFTER DELETE ON canvases REFERENCING OLD TABLE AS changed
	FOR EACH STATEMENT EXECUTE FUNCTION easel_canvases_removed();
-- only: postgres
CREATE TRIGGER canvases_moved AFTER UPDATE ON canvases FOR EACH ROW WHEN (
	(OLD.tenant_id, OLD.project, OLD.permission, OLD.user_id, OLD.category) IS DISTINCT FROM
	(NEW.tenant_id, NEW.project, NEW.permission, NEW.user_id, NEW.category)) EXECUTE FUNCTION easel_canvases_moved();
-- only: postgres
CREATE FUNCTION easel_datasets_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM easel_count(ARRAY(
	SELECT ROW('datasets', tenant_id, project, team, created_by, '', COUNT(*))::list_counts
		FROM changed GROUP BY tenant_id, project, team, created_by)); RETURN NULL; END $$;
-- only: postgres
CREATE FUNCTION easel_datasets_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM easel_count(ARRAY(
	SELECT ROW('datasets', tenant_id, project, team, created_by, '', -COUNT(*))::list_counts
		FROM changed GROUP BY tenant_id, project, team, created_by)); RETURN NULL; END $$;
-- only: postgres
CREATE FUNCTION easel_datasets_moved() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM easel_count(ARRAY[
	ROW('datasets', OLD.tenant_id, OLD.project, OLD.team, OLD.created_by, '', -1)::list_counts,
	ROW('datasets', NEW.tenant_id, NEW.project, NEW.team, NEW.created_by, '', 1)::list_counts]); RETURN NULL; END $$;
-- only: postgres
CREATE TRIGGER datasets_added AFTER INSERT ON datasets REFERENCING NEW TABLE AS changed
	FOR EACH STATEMENT EXECUTE FUNCTION easel_datasets_added();
-- only: postgres
CREATE TRIGGER datasets_removed AFTER DELETE ON datasets REFERENCING OLD TABLE AS changed
	FOR EACH STATEMENT EXECUTE FUNCTION easel_datasets_removed();
-- only: postgres
CREATE TRIGGER datasets_moved AFTER UPDATE ON datasets FOR EACH ROW WHEN (
	(OLD.tenant_id, OLD.project, OLD.team, OLD.created_by) IS DISTINCT FROM
	(NEW.tenant_id, NEW.project, NEW.team, NEW.created_by)) EXECUTE FUNCTION easel_datasets_moved();
-- A page of the documents of a state, in the order of their creation, and the number of those.
CREATE INDEX documents_state ON documents (dataset_id, state, create_time, id);
DROP INDEX datasets_created;
CREATE INDEX datasets_created ON datasets (tenant_id, create_time, id, created_by, team, project);
DROP INDEX datasets_updated;
CREATE INDEX datasets_updated ON datasets (tenant_id, update_time, id, created_by, team, project);
