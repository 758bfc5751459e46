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

// CheckDump reads a dump to its end and validates that [Store.Load] accepts its tables, columns and
// values. It writes nothing.
//
// Errors: [ErrNewer], [ErrOlder], [ErrCorrupt].
func CheckDump(ctx context.Context, r io.Reader) error {
	in := json.NewDecoder(bufio.NewReader(r))
	in.UseNumber()
	head, err := readHead(in)
	if err == nil {
		err = readRows(ctx, head.Schema, in, func(dumpTable, []any) error { return nil })
	}
	return fail(err, "check dump")
}

// isOfType reports whether a value of a dump fits a column type of the migrations.
func isOfType(v any, want string) bool {
	switch v.(type) {
	case string:
		return want == "TEXT"
	case int64:
		return want == "BIGINT"
	}
	return want == "BYTEA"
}

// emptyTables returns an in-memory database with the tables of this version.
func emptyTables(ctx context.Context) (*sql.DB, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // each connection would get its own database
	_, _, err = schemaVersion(ctx, db)
	if err == nil {
		err = applyAll(ctx, db)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func applyAll(ctx context.Context, q querier) error {
	all, err := schema()
	if err != nil {
		return err
	}
	for _, m := range all {
		if err := m.apply(ctx, q, "sqlite"); err != nil {
			return err
		}
	}
	return nil
}

// CheckIntegrity checks the file of a SQLite database. It does nothing on PostgreSQL, which checks
// pages as it reads them.
//
// Errors: [ErrCorrupt].
func (s *Store) CheckIntegrity(ctx context.Context) error {
	if s.engine != "sqlite" {
		return nil
	}
	found, err := queryAll(ctx, s.read, scanName, `PRAGMA integrity_check(10)`)
	if err == nil && (len(found) != 1 || found[0] != "ok") {
		err = fmt.Errorf("%w: %s", ErrCorrupt, strings.Join(found, "; "))
	}
	return fail(err, "check integrity")
}
