-- Whose a conversation is, and what its runs made and remember: 'session:ID' of a visitor of an
-- embedding page, 'user:CANVAS:ID' of a visitor whose site signed the user id, and empty for members
-- and API clients. Rows of former versions are theirs. principal is who started a run, as JSON.
-- signing is the sealed secret with which a site signs user ids, empty until one is made.
ALTER TABLE sessions ADD COLUMN visitor TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN visitor TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN principal TEXT NOT NULL DEFAULT '';
ALTER TABLE memory_messages ADD COLUMN visitor TEXT NOT NULL DEFAULT '';
ALTER TABLE betas ADD COLUMN signing BYTEA NOT NULL DEFAULT '';
CREATE INDEX sessions_visitor ON sessions (visitor, update_time) WHERE visitor <> '';
-- Lists of the sessions of a user leave out those of visitors who only claim to be this user.
DROP INDEX sessions_user;
CREATE INDEX sessions_user ON sessions (tenant_id, canvas_id, user_id, update_time, id, create_time, source, visitor);
DROP INDEX sessions_created;
CREATE INDEX sessions_created ON sessions (tenant_id, canvas_id, create_time, id, user_id, source, tokens, duration_ms,
	rounds, thumb_up, visitor);
