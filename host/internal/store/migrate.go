package store

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrate applies the files in migrations/ that are new to this database, in order, each in one
// transaction. Hosts that start concurrently wait for each other.
func (s *database) migrate(ctx context.Context, asIs bool) error {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return fmt.Errorf("store: migrations: %w", err)
	}
	return s.write(ctx, "migrate", func(ctx context.Context, q querier) error {
		if s.engine == "postgres" {
			// The lock number is arbitrary; the lock is released with the transaction.
			if _, err := q.ExecContext(ctx, `SELECT pg_advisory_xact_lock(727473651)`); err != nil {
				return err
			}
		}
		seen, err := schemaVersion(ctx, q)
		if err != nil {
			return err
		}
		if seen > len(files) {
			return fmt.Errorf("tables are at %d, this program knows %d: %w", seen, len(files), ErrNewer)
		}
		if asIs && 0 < seen && seen < len(files) {
			return fmt.Errorf("tables are at %d, this program wants %d: %w; start easel serve of this version on it once", seen, len(files), ErrOlder)
		}
		for n := seen; n < len(files); n++ {
			if err := applyMigration(ctx, q, s.engine, files[n], n+1); err != nil {
				return err
			}
		}
		return nil
	})
}

// schemaVersion returns the number of migrations applied to the database.
func schemaVersion(ctx context.Context, q querier) (int, error) {
	const table = `CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)`
	if _, err := q.ExecContext(ctx, table); err != nil {
		return 0, err
	}
	// Use a list, not a single row: a missing value must not abort the transaction.
	values, err := queryAll(ctx, q, func(r row) (string, error) {
		var v string
		return v, r.Scan(&v)
	}, `SELECT value FROM meta WHERE name = 'schema'`)
	if err != nil || len(values) == 0 {
		return 0, err
	}
	n, err := strconv.Atoi(values[0])
	if err != nil {
		return 0, fmt.Errorf("schema number %q: %w", values[0], ErrCorrupt)
	}
	return n, nil
}

func applyMigration(ctx context.Context, q querier, engine, file string, number int) error {
	text, err := migrations.ReadFile(file)
	if err != nil {
		return err
	}
	for _, stmt := range splitSQL(string(text)) {
		if m := onlyFor.FindStringSubmatch(stmt); m != nil && m[1] != engine {
			continue
		}
		if _, err := q.ExecContext(ctx, stmt); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	const mark = `INSERT INTO meta (name, value) VALUES ('schema', $1)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`
	_, err = q.ExecContext(ctx, mark, strconv.Itoa(number))
	return err
}

// catchUp applies the data updates of the migrations after version to loaded records: these have
// the current columns, but lack values derived from others.
func catchUp(ctx context.Context, q querier, version int) error {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	for _, file := range files[min(max(version, 0), len(files)):] {
		text, err := migrations.ReadFile(file)
		if err != nil {
			return err
		}
		for _, stmt := range splitSQL(string(text)) {
			if !update.MatchString(stmt) {
				continue
			}
			if _, err := q.ExecContext(ctx, stmt); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	return nil
}

// update matches a statement that changes records or derives some from others, with leading
// comments.
var update = regexp.MustCompile(`^(--.*\n)*(UPDATE|INSERT INTO (deleted_canvases|session_documents|waits))\b`)

// onlyFor finds the engine of a statement that the other one does not know.
var onlyFor = regexp.MustCompile(`(?m)^-- only: (\w+)$`)

// splitSQL splits a migration at semicolons that end a line; the files contain no others that do.
func splitSQL(text string) []string {
	var out []string
	for part := range strings.SplitSeq(text, ";\n") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}
