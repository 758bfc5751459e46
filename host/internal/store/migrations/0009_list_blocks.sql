-- How many rows of a list were created in a span of time, counted once and lowered by deletions.
-- canvas_id is empty for the list of a whole tenant. Not part of a dump: it is counted again.
CREATE TABLE list_blocks (
	list       TEXT NOT NULL,
	tenant_id  TEXT NOT NULL,
	canvas_id  TEXT NOT NULL,
	from_time  BIGINT NOT NULL,
	to_time    BIGINT NOT NULL,
	row_count  BIGINT NOT NULL,
	check_time BIGINT NOT NULL,
	PRIMARY KEY (list, tenant_id, canvas_id, from_time)
);
-- Whoever counts or deletes rows of lists locks this one, so that no count misses a deletion.
INSERT INTO meta (name, value) VALUES ('lists', '');
