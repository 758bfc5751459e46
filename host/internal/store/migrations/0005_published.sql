-- The published version of a canvas, and when a version was published last; 0
-- is never. version_title is the title of the newest version, or of the one
-- that a session began with.
ALTER TABLE versions ADD COLUMN publish_time BIGINT NOT NULL DEFAULT 0;
ALTER TABLE canvases ADD COLUMN published TEXT NOT NULL DEFAULT '';
ALTER TABLE canvases ADD COLUMN publish_time BIGINT NOT NULL DEFAULT 0;
ALTER TABLE canvases ADD COLUMN version_title TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN version_title TEXT NOT NULL DEFAULT '';
UPDATE canvases SET version_title = COALESCE((SELECT title FROM versions
	WHERE versions.canvas_id = canvases.id ORDER BY number DESC LIMIT 1), '') WHERE version_title = '';
-- Who asked for a release before it meant something gets the newest version.
UPDATE canvases SET published = COALESCE((SELECT id FROM versions
	WHERE versions.canvas_id = canvases.id ORDER BY number DESC LIMIT 1), '') WHERE released = 1 AND published = '';
UPDATE canvases SET publish_time = update_time WHERE published <> '' AND publish_time = 0;
UPDATE canvases SET released = 0 WHERE published = '';
UPDATE versions SET publish_time = (SELECT publish_time FROM canvases WHERE canvases.id = versions.canvas_id)
	WHERE publish_time = 0 AND id IN (SELECT published FROM canvases);
