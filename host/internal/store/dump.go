package store

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// dumped lists every table with what it holds, in the order of writing.
var dumped = []string{
	"tenants", "users", "members", "keys", "betas", "canvases", "versions", "sessions", "runs", "secrets", "items", "kv", "token_use",
}

// dumpHead is the first line of a dump; a table's head follows, then its rows.
type dumpHead struct {
	Easel  string `json:"easel"`
	Schema int    `json:"schema"`
	Key    string `json:"key"` // the mark of the key file that sealed the secrets
}

type dumpTable struct {
	Table   string   `json:"table"`
	Columns []string `json:"columns"`
}

// dumpBytes marks bytes among a row's texts and numbers.
type dumpBytes struct {
	Bytes []byte `json:"bytes"`
}

// Dump writes all records, as of one moment, as lines of JSON that
// [Store.Load] reads on either engine. Secrets stay sealed: the key file is
// needed with it. Logins are left out.
func (s *Store) Dump(ctx context.Context, w io.Writer) error {
	opts := &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead}
	if s.engine == "sqlite" {
		// A SQLite transaction always reads one moment; the driver has no levels.
		opts = nil
	}
	tx, err := s.dbs[len(s.dbs)-1].BeginTx(ctx, opts)
	if err != nil {
		return fail(err, "dump")
	}
	// Nothing was written, so there is nothing that a rollback could lose.
	defer func() { _ = tx.Rollback() }()
	buf := bufio.NewWriter(w)
	out := json.NewEncoder(buf)
	out.SetEscapeHTML(false)
	head := dumpHead{Easel: "records"}
	query := `SELECT (SELECT value FROM meta WHERE name = 'schema'), (SELECT value FROM meta WHERE name = 'key')`
	if err := tx.QueryRowContext(ctx, query).Scan(&head.Schema, &head.Key); err != nil {
		return fail(err, "dump")
	}
	if err := out.Encode(head); err != nil {
		return fail(err, "dump")
	}
	for _, table := range dumped {
		if err := dumpRows(ctx, tx, out, table); err != nil {
			return fail(err, "dump %s", table)
		}
	}
	return fail(buf.Flush(), "dump")
}

func dumpRows(ctx context.Context, q querier, out *json.Encoder, table string) error {
	rows, err := q.QueryContext(ctx, `SELECT * FROM `+table)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	if err := out.Encode(dumpTable{table, columns}); err != nil {
		return err
	}
	values, dest := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		dest[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		for i, v := range values {
			// No column may be null: nil is how SQLite's driver gives no bytes.
			if b, ok := v.([]byte); ok || v == nil {
				values[i] = dumpBytes{bytesOf(b)}
			}
		}
		if err := out.Encode(values); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Load reads a dump into a store that holds no records yet: all of it or, on
// any error, nothing.
//
// Errors: [ErrExists] when there are records already, [ErrNewer],
// [ErrWrongKey], [ErrCorrupt] for what is not a dump.
func (s *Store) Load(ctx context.Context, r io.Reader) error {
	in := json.NewDecoder(bufio.NewReader(r))
	in.UseNumber()
	return s.write(ctx, "load", func(ctx context.Context, q querier) error {
		version, err := s.loadHead(ctx, q, in)
		if err != nil {
			return err
		}
		if err := loadRows(ctx, q, in); err != nil {
			return err
		}
		return catchUp(ctx, q, version)
	})
}

// loadHead reads the first line, and gives the version that wrote the dump.
func (s *Store) loadHead(ctx context.Context, q querier, in *json.Decoder) (version int, err error) {
	var head dumpHead
	if err := in.Decode(&head); err != nil || head.Easel != "records" {
		return 0, fmt.Errorf("first line: %w", ErrCorrupt)
	}
	known, err := schemaVersion(ctx, q)
	if err != nil {
		return 0, err
	}
	if head.Schema > known {
		return 0, fmt.Errorf("dump is at %d, this program knows %d: %w", head.Schema, known, ErrNewer)
	}
	if err := s.fits(head.Key); err != nil {
		return 0, err
	}
	for _, table := range dumped {
		var n int
		if err := q.QueryRowContext(ctx, `SELECT COUNT(*) FROM `+table).Scan(&n); err != nil {
			return 0, err
		}
		if n > 0 {
			return 0, fmt.Errorf("%s: %w", table, ErrExists)
		}
	}
	return head.Schema, nil
}

func loadRows(ctx context.Context, q querier, in *json.Decoder) error {
	var insert string
	var width int
	for {
		var line json.RawMessage
		if err := in.Decode(&line); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		if line[0] == '{' {
			text, n, err := loadTable(line)
			if err != nil {
				return err
			}
			insert, width = text, n
			continue
		}
		values, err := loadValues(line, width)
		if err != nil {
			return err
		}
		if _, err := q.ExecContext(ctx, insert, values...); err != nil {
			return err
		}
	}
}

// loadTable turns a table's head into its INSERT. Names are taken only from
// what we know, since they become SQL.
func loadTable(line []byte) (insert string, width int, err error) {
	var t dumpTable
	if err := json.Unmarshal(line, &t); err != nil {
		return "", 0, fmt.Errorf("table: %w", ErrCorrupt)
	}
	known := false
	for _, name := range dumped {
		known = known || name == t.Table
	}
	var marks []string
	for i, c := range t.Columns {
		known = known && strings.Trim(c, "abcdefghijklmnopqrstuvwxyz_") == "" && c != ""
		marks = append(marks, fmt.Sprintf("$%d", i+1))
	}
	if !known || len(marks) == 0 {
		return "", 0, fmt.Errorf("table %q: %w", t.Table, ErrCorrupt)
	}
	text := `INSERT INTO ` + t.Table + ` (` + strings.Join(t.Columns, ", ") + `) VALUES (` + strings.Join(marks, ", ") + `)`
	return text, len(marks), nil
}

func loadValues(line []byte, width int) ([]any, error) {
	var raw []json.RawMessage
	if err := json.Unmarshal(line, &raw); err != nil || len(raw) != width {
		return nil, fmt.Errorf("row %.60q: %w", line, ErrCorrupt)
	}
	values := make([]any, len(raw))
	for i, r := range raw {
		v, err := loadValue(r)
		if err != nil {
			return nil, fmt.Errorf("value %.60q: %w", r, ErrCorrupt)
		}
		values[i] = v
	}
	return values, nil
}

func loadValue(r json.RawMessage) (any, error) {
	switch r[0] {
	case '"':
		var s string
		return s, json.Unmarshal(r, &s)
	case '{':
		var b dumpBytes
		err := json.Unmarshal(r, &b)
		return bytesOf(b.Bytes), err
	}
	var n int64
	return n, json.Unmarshal(r, &n)
}

// Backup copies a SQLite database, as of one moment and while it is used, to
// a new file. PostgreSQL has pg_dump for that, or [Store.Dump].
//
// Errors: [ErrExists] when the file is there, [ErrFull].
func (s *Store) Backup(ctx context.Context, file string) error {
	if s.engine != "sqlite" {
		return fail(errors.ErrUnsupported, "backup of %s: use its own tools, or a dump", s.engine)
	}
	// A connection of its own: the writer's is always in use by its loop.
	db, err := sql.Open("sqlite", s.dsn)
	if err != nil {
		return fail(err, "backup to %s", file)
	}
	_, err = db.ExecContext(ctx, `VACUUM INTO $1`, file)
	return fail(errors.Join(err, db.Close()), "backup to %s", file)
}
