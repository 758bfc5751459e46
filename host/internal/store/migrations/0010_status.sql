-- Statuses of runs are the words of the engine's vocabulary.
UPDATE runs SET status = 'running' WHERE status = 'active';
UPDATE runs SET status = 'succeeded' WHERE status = 'done';
