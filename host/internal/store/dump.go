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

// undumped lists the other tables. Deleting rows of the dumped ones changes list_counts.
var undumped = []string{
	"logins", "list_blocks", "canvas_docs", "trace_blocks", "trace_bytes", "trace_gone", "list_counts",
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
	types, err := rows.ColumnTypes()
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
			// No column is nullable: the SQLite driver returns empty bytes as nil. In SQLite a
			// literal is text in a column of bytes too.
			if b, ok := v.([]byte); ok || v == nil {
				values[i] = dumpBytes{bytesOf(b)}
			} else if s, ok := v.(string); ok && types[i].DatabaseTypeName() == "BYTEA" {
				values[i] = dumpBytes{[]byte(s)}
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
		err = readRows(ctx, version, in, func(t dumpTable, values []any) error {
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

// readRows calls take for each row after the first line of a dump of a version. Tables, columns and
// values must fit the tables of this program; a dump of its version has all of them.
func readRows(ctx context.Context, version int, in *json.Decoder, take dumpRow) (err error) {
	tables, err := emptyTables(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tables.Close()) }()
	var t dumpTable
	read := map[string]bool{}
	for {
		var line json.RawMessage
		if err := in.Decode(&line); errors.Is(err, io.EOF) {
			return checkWhole(version, read)
		} else if err != nil {
			return fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		if line[0] == '{' {
			if t, err = readTable(ctx, tables, line); err != nil {
				return err
			}
			read[t.Table] = true
			continue
		}
		if len(read) == 0 {
			return fmt.Errorf("row %.60q before a table: %w", line, ErrCorrupt)
		}
		values, err := loadValues(line, len(t.Columns))
		if err == nil {
			err = t.fit(values)
		}
		if err != nil {
			return err
		}
		if err := take(t, values); err != nil {
			return err
		}
	}
}

// checkWhole refuses a dump that ends before its last table.
func checkWhole(version int, read map[string]bool) error {
	all, err := schema()
	if err != nil || version < all[len(all)-1].number {
		return err // later migrations may have added tables
	}
	for _, table := range dumped {
		if !read[table] {
			return fmt.Errorf("table %s is missing: %w", table, ErrCorrupt)
		}
	}
	return nil
}

// fit refuses values that are not of the types of their columns, which SQLite would accept.
func (t *dumpTable) fit(values []any) error {
	for i, c := range t.Columns {
		if want := t.types[c]; !isOfType(values[i], want) {
			return fmt.Errorf("table %s: column %s: a value is not %s: %w", t.Table, c, want, ErrCorrupt)
		}
	}
	return nil
}

// readTable reads the head of a table. Names must match existing tables and columns, since they
// become SQL; a column without a default must be there.
func readTable(ctx context.Context, q querier, line []byte) (t dumpTable, err error) {
	if err := json.Unmarshal(line, &t); err != nil {
		return t, fmt.Errorf("table: %w", ErrCorrupt)
	}
	if !slices.Contains(dumped, t.Table) || len(t.Columns) == 0 {
		return t, fmt.Errorf("table %.80q: %w", t.Table, ErrCorrupt)
	}
	var needed []string
	if t.types, needed, err = columnsOf(ctx, q, t.Table); err != nil {
		return t, err
	}
	for i, c := range t.Columns {
		if t.types[c] == "" || slices.Contains(t.Columns[:i], c) {
			return t, fmt.Errorf("table %s: column %.80q: %w", t.Table, c, ErrCorrupt)
		}
	}
	for _, c := range needed {
		if !slices.Contains(t.Columns, c) {
			return t, fmt.Errorf("table %s: column %s is missing: %w", t.Table, c, ErrCorrupt)
		}
	}
	return t, nil
}

// columnsOf returns the types of the columns of a SQLite table by name, and the names of those
// without a default.
func columnsOf(ctx context.Context, q querier, table string) (types map[string]string, needed []string, err error) {
	rows, err := q.QueryContext(ctx, `SELECT name, type, dflt_value IS NULL FROM pragma_table_info($1)`, table)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	types = map[string]string{}
	for rows.Next() {
		var name, kind string
		var need bool
		if err := rows.Scan(&name, &kind, &need); err != nil {
			return nil, nil, err
		}
		if types[name] = kind; need {
			needed = append(needed, name)
		}
	}
	return types, needed, rows.Err()
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
