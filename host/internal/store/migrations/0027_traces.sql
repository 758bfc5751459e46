-- Kept runs. canvas_docs has the documents that they ran, by hash. A block has the traces of runs of
-- one canvas: day is when it was written (UTC), place and position where its bytes are, runs the ids of
-- its runs with their offsets, first_end and last_end when they ended. trace_bytes has the blocks of
-- hosts that share no other place. trace_gone has deleted runs whose block is to be rewritten.
CREATE TABLE canvas_docs (
	tenant_id  TEXT NOT NULL,
	hash       TEXT NOT NULL,
	canvas_id  TEXT NOT NULL,
	body       BYTEA NOT NULL,
	first_time BIGINT NOT NULL,
	last_time  BIGINT NOT NULL,
	PRIMARY KEY (tenant_id, hash)
);
CREATE TABLE trace_blocks (
	id        TEXT PRIMARY KEY,
	tenant_id TEXT NOT NULL,
	canvas_id TEXT NOT NULL,
	day       TEXT NOT NULL,
	place     TEXT NOT NULL,
	position  BIGINT NOT NULL,
	size      BIGINT NOT NULL,
	raw_size  BIGINT NOT NULL,
	runs      BYTEA NOT NULL,
	first_end BIGINT NOT NULL,
	last_end  BIGINT NOT NULL
);
CREATE INDEX trace_blocks_day ON trace_blocks (tenant_id, day, canvas_id);
CREATE INDEX trace_blocks_end ON trace_blocks (tenant_id, canvas_id, last_end);
CREATE TABLE trace_bytes (
	tenant_id TEXT NOT NULL,
	day       TEXT NOT NULL,
	id        TEXT NOT NULL,
	body      BYTEA NOT NULL,
	PRIMARY KEY (tenant_id, day, id)
);
CREATE TABLE trace_gone (
	run_id    TEXT PRIMARY KEY,
	tenant_id TEXT NOT NULL,
	time      BIGINT NOT NULL
);
