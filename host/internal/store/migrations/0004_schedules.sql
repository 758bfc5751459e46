-- The runs of a schedule are found by its canvas; most runs have none.
CREATE INDEX runs_schedule ON runs (canvas_id, create_time) WHERE source = 'schedule';
