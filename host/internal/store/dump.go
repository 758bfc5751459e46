package store

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// dumped lists the tables in a dump, in the order of writing.
var dumped = []string{
	"tenants", "users", "members", "keys", "betas", "canvases", "versions", "sessions", "runs",
	"session_documents", "session_turns", "secrets", "items", "kv", "token_use",
	"model_use", "model_lessons",
	"datasets", "documents", "chunk_edits", "dataset_changes", "loose_files", "parse_logs", "parse_reruns",
	"memories", "memory_messages", "deleted_canvases", "identities",
	"projects", "grants",
	"audit", "audit_heads", "user_groups", "readers", "waits",
}

// dumpHead is the first line of a dump. It is followed by the head of each table and its rows.
type dumpHead struct {
	Easel  string `json:"easel"`
	Schema int    `json:"schema"`
	Key    string `json:"key"` // the mark of the key file that sealed the secrets
}

type dumpTable struct {
	Table   string   `json:"table"`
	Columns []string `json:"columns"`

	types map[string]string // of the columns, when reading
}

// dumpBytes marks a byte string in a row.
type dumpBytes struct {
	Bytes []byte `json:"bytes"`
}

// Dump writes all records at one point in time, as lines of JSON that [Store.Load] reads on either
// engine. Secrets stay sealed: restoring them requires the key file. Logins are omitted.
func (s *Store) Dump(ctx context.Context, w io.Writer) error {
	opts := &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead}
	if s.engine == "sqlite" {
		// SQLite transactions always read a snapshot; the driver supports no isolation levels.
		opts = nil
	}
	tx, err := s.dbs[len(s.dbs)-1].BeginTx(ctx, opts)
	if err != nil {
		return fail(err, "dump")
	}
	// The transaction is read-only, so an error of the rollback is irrelevant.
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
	if err := out.Encode(dumpTable{Table: table, Columns: columns}); err != nil {
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
			// No column is nullable: the SQLite driver returns empty bytes as nil.
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

// Load reads a dump into an empty store: all of it or, on any error, nothing.
//
// Errors: [ErrExists] if there are records already, [ErrNewer], [ErrOlder], [ErrWrongKey],
// [ErrCorrupt] if the input is not a dump.
func (s *Store) Load(ctx context.Context, r io.Reader) error {
	in := json.NewDecoder(bufio.NewReader(r))
	in.UseNumber()
	return s.write(ctx, "load", func(ctx context.Context, q querier) error {
		version, err := s.loadHead(ctx, q, in)
		if err != nil {
			return err
		}
		err = readRows(ctx, q, in, func(t dumpTable, values []any) error {
			_, err := q.ExecContext(ctx, insertInto(t), values...)
			return err
		})
		if err != nil {
			return err
		}
		all, err := schema()
		if err == nil {
			err = catchUp(ctx, q, version, all)
		}
		if err != nil {
			return err
		}
		return newEpoch(ctx, q)
	})
}

// loadHead reads the first line and returns the schema version of the dump.
func (s *Store) loadHead(ctx context.Context, q querier, in *json.Decoder) (version int, err error) {
	head, err := readHead(in)
	if err != nil {
		return 0, err
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

// readHead reads the first line of a dump and refuses a version that this one cannot load.
func readHead(in *json.Decoder) (head dumpHead, err error) {
	if err := in.Decode(&head); err != nil || head.Easel != "records" {
		return head, fmt.Errorf("first line: %w", ErrCorrupt)
	}
	all, err := schema()
	if err == nil {
		err = checkVersion("dump is", head.Schema, all)
	}
	return head, err
}

// dumpRow handles one row of a dump.
type dumpRow func(t dumpTable, values []any) error

// readRows calls take for each row after the first line of a dump. The columns must exist in q.
func readRows(ctx context.Context, q querier, in *json.Decoder, take dumpRow) error {
	var t dumpTable
	for {
		var line json.RawMessage
		if err := in.Decode(&line); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		if line[0] == '{' {
			var err error
			if t, err = readTable(ctx, q, line); err != nil {
				return err
			}
			continue
		}
		values, err := loadValues(line, len(t.Columns))
		if err != nil {
			return err
		}
		if err := take(t, values); err != nil {
			return err
		}
	}
}

// readTable reads the head of a table. Names must match existing tables and columns, since they
// become SQL.
func readTable(ctx context.Context, q querier, line []byte) (t dumpTable, err error) {
	if err := json.Unmarshal(line, &t); err != nil {
		return t, fmt.Errorf("table: %w", ErrCorrupt)
	}
	if !slices.Contains(dumped, t.Table) || len(t.Columns) == 0 {
		return t, fmt.Errorf("table %.80q: %w", t.Table, ErrCorrupt)
	}
	if t.types, err = columnTypes(ctx, q, t.Table); err != nil {
		return t, err
	}
	for i, c := range t.Columns {
		if t.types[c] == "" || slices.Contains(t.Columns[:i], c) {
			return t, fmt.Errorf("table %s: column %.80q: %w", t.Table, c, ErrCorrupt)
		}
	}
	return t, nil
}

// columnTypes returns the database types of a table's columns by name.
func columnTypes(ctx context.Context, q querier, table string) (map[string]string, error) {
	rows, err := q.QueryContext(ctx, `SELECT * FROM `+table+` LIMIT 0`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, t := range types {
		out[t.Name()] = t.DatabaseTypeName()
	}
	return out, rows.Err()
}

// insertInto returns the INSERT statement for rows of a table.
func insertInto(t dumpTable) string {
	marks := make([]string, len(t.Columns))
	for i := range marks {
		marks[i] = fmt.Sprintf("$%d", i+1)
	}
	return `INSERT INTO ` + t.Table + ` (` + strings.Join(t.Columns, ", ") + `) VALUES (` + strings.Join(marks, ", ") + `)`
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
	n, err := strconv.ParseInt(string(r), 10, 64)
	return n, err
}

// Backup copies a SQLite database in use to a new file, as of one point in time. For PostgreSQL use
// pg_dump or [Store.Dump].
//
// Errors: [ErrExists] if the file exists, [ErrFull].
func (s *Store) Backup(ctx context.Context, file string) error {
	if s.engine != "sqlite" {
		return fail(errors.ErrUnsupported, "backup of %s: use its own tools, or a dump", s.engine)
	}
	// Use a separate connection: the writer's is always in use by its loop.
	db, err := sql.Open("sqlite", s.dsn)
	if err != nil {
		return fail(err, "backup to %s", file)
	}
	_, err = db.ExecContext(ctx, `VACUUM INTO $1`, file)
	return fail(errors.Join(err, db.Close()), "backup to %s", file)
}
