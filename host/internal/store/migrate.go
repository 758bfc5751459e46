package store

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migration is a file in migrations/, numbered by its name. The first one makes the tables of the
// first release.
type migration struct {
	number int
	file   string
	text   string
}

// schema returns the migrations of this program, in order.
var schema = sync.OnceValues(func() ([]migration, error) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, fmt.Errorf("store: migrations: %w", err)
	}
	all := make([]migration, len(files))
	for i, file := range files {
		text, err := migrations.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("store: migrations: %w", err)
		}
		digits, _, _ := strings.Cut(path.Base(file), "_")
		number, err := strconv.Atoi(digits)
		if err != nil || i > 0 && number != all[i-1].number+1 {
			return nil, fmt.Errorf("store: migration %s is not the next number", file)
		}
		all[i] = migration{number, file, string(text)}
	}
	return all, nil
})

// migrate applies the migrations that are new to this database, in order, in one transaction. Hosts
// that start concurrently wait for each other.
func (s *database) migrate(ctx context.Context, asIs bool, all []migration) error {
	return s.write(ctx, "migrate", func(ctx context.Context, q querier) error {
		if s.engine == "postgres" {
			// The lock number is arbitrary; the lock is released with the transaction.
			if _, err := q.ExecContext(ctx, `SELECT pg_advisory_xact_lock(727473651)`); err != nil {
				return err
			}
		}
		seen, numbered, err := schemaVersion(ctx, q)
		switch last := all[len(all)-1].number; {
		case err != nil:
		case !numbered:
			err = checkNew(ctx, q, s.engine)
		default:
			if err = checkVersion("tables are", seen, all); err == nil && asIs && seen < last {
				err = fmt.Errorf("tables are at %d, this program wants %d: %w; start easel serve of this version on it once",
					seen, last, ErrOlder)
			}
		}
		if err != nil {
			return err
		}
		for _, m := range newerThan(all, seen) {
			if err := m.apply(ctx, q, s.engine); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkNew refuses a database without a number that has tables of the same names: it is damaged, or
// they are those of another program.
func checkNew(ctx context.Context, q querier, engine string) error {
	query := `SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`
	if engine == "postgres" {
		query = `SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename`
	}
	found, err := queryAll(ctx, q, scanName, query)
	if err != nil {
		return err
	}
	for _, name := range found {
		if slices.Contains(dumped, name) || slices.Contains(undumped, name) {
			return fmt.Errorf("table %s without a schema number: %w", name, ErrCorrupt)
		}
	}
	return nil
}

// checkVersion refuses records that these migrations cannot bring to their last number.
func checkVersion(what string, seen int, all []migration) error {
	switch first, last := all[0].number, all[len(all)-1].number; {
	case seen > last:
		return fmt.Errorf("%s at %d, this program knows %d: %w", what, seen, last, ErrNewer)
	case seen < first:
		return fmt.Errorf("%s at %d, from before the first release, which begins at %d: %w; use an empty data directory or database",
			what, seen, first, ErrOlder)
	}
	return nil
}

func newerThan(all []migration, number int) []migration {
	i := slices.IndexFunc(all, func(m migration) bool { return m.number > number })
	if i < 0 {
		return nil
	}
	return all[i:]
}

// schemaVersion returns the number of the last migration applied to the database; ok is false for a
// new database, which has none.
func schemaVersion(ctx context.Context, q querier) (number int, ok bool, err error) {
	const table = `CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)`
	if _, err := q.ExecContext(ctx, table); err != nil {
		return 0, false, err
	}
	// Use a list, not a single row: a missing value must not abort the transaction.
	values, err := queryAll(ctx, q, func(r row) (string, error) {
		var v string
		return v, r.Scan(&v)
	}, `SELECT value FROM meta WHERE name = 'schema'`)
	if err != nil || len(values) == 0 {
		return 0, false, err
	}
	n, err := strconv.Atoi(values[0])
	if err != nil {
		return 0, false, fmt.Errorf("schema number %.80q: %w", values[0], ErrCorrupt)
	}
	return n, true, nil
}

func (m migration) apply(ctx context.Context, q querier, engine string) error {
	for _, stmt := range splitSQL(m.text) {
		if only := onlyFor.FindStringSubmatch(stmt); only != nil && only[1] != engine {
			continue
		}
		if _, err := q.ExecContext(ctx, stmt); err != nil {
			return fmt.Errorf("%s: %w", m.file, err)
		}
	}
	const mark = `INSERT INTO meta (name, value) VALUES ('schema', $1)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`
	_, err := q.ExecContext(ctx, mark, strconv.Itoa(m.number))
	return err
}

// catchUp applies the updates of migrations after a version to loaded records: these have the
// current columns, but lack values derived from others.
func catchUp(ctx context.Context, q querier, version int, all []migration) error {
	for _, m := range newerThan(all, version) {
		for _, stmt := range splitSQL(m.text) {
			if !update.MatchString(stmt) {
				continue
			}
			if _, err := q.ExecContext(ctx, stmt); err != nil {
				return fmt.Errorf("%s: %w", m.file, err)
			}
		}
	}
	return nil
}

// update matches a statement that changes records, with leading comments.
var update = regexp.MustCompile(`^(--.*\n)*UPDATE\b`)

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
