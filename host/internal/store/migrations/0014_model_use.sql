-- What a canvas used of a model on a day: calls, tokens, and what they cost in millionths of the
-- currency of the price table. canvas_id is empty for calls outside of a canvas; day counts from
-- 1970-01-01, UTC.
CREATE TABLE model_use (
	tenant_id     TEXT NOT NULL,
	day           BIGINT NOT NULL,
	canvas_id     TEXT NOT NULL,
	model         TEXT NOT NULL,
	calls         BIGINT NOT NULL,
	input_tokens  BIGINT NOT NULL,
	output_tokens BIGINT NOT NULL,
	cost          BIGINT NOT NULL,
	PRIMARY KEY (tenant_id, day, canvas_id, model)
);
