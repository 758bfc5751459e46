package store

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// statements prepares each SQL text once on one connection. SQLite would
// otherwise parse a text each time it runs, which costs more than a small
// write. The set of texts is fixed by the code, so the map does not grow.
type statements struct {
	conn    *sql.Conn
	ready   map[string]*sql.Stmt
	ofKeys  map[string]bool // texts that name the table of keys
	touched bool            // one of those was used
}

func newStatements(conn *sql.Conn) *statements {
	return &statements{conn: conn, ready: map[string]*sql.Stmt{}, ofKeys: map[string]bool{}}
}

// touchedKeys says whether a statement was used that names the table of keys,
// since it was asked last.
func (s *statements) touchedKeys() bool {
	touched := s.touched
	s.touched = false
	return touched
}

func (s *statements) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	s.touched = s.touched || s.ofKeys[query]
	if st, ok := s.ready[query]; ok {
		return st, nil
	}
	st, err := s.conn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	s.ready[query] = st
	if namesKeys(query) {
		s.ofKeys[query], s.touched = true, true
	}
	return st, nil
}

func (s *statements) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	st, err := s.stmt(ctx, query)
	if err != nil {
		return nil, err
	}
	return st.ExecContext(ctx, args...)
}

func (s *statements) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	st, err := s.stmt(ctx, query)
	if err != nil {
		return nil, err
	}
	return st.QueryContext(ctx, args...)
}

func (s *statements) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	st, err := s.stmt(ctx, query)
	if err != nil {
		// A Row cannot carry a foreign error; the connection repeats it.
		return s.conn.QueryRowContext(ctx, query, args...)
	}
	return st.QueryRowContext(ctx, args...)
}

func (s *statements) close() error {
	var all error
	for _, st := range s.ready {
		all = errors.Join(all, st.Close())
	}
	return errors.Join(all, s.conn.Close())
}

// readers is a pool with statements prepared once per text; database/sql
// prepares them again on each connection it opens.
type readers struct {
	db    *sql.DB
	ready sync.Map // SQL text -> *sql.Stmt
}

func (r *readers) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	if st, ok := r.ready.Load(query); ok {
		return st.(*sql.Stmt), nil
	}
	st, err := r.db.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	if other, raced := r.ready.LoadOrStore(query, st); raced {
		// The other one serves; this one's close can only repeat a dead link.
		_ = st.Close()
		return other.(*sql.Stmt), nil
	}
	return st, nil
}

func (r *readers) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return r.db.ExecContext(ctx, query, args...)
}

func (r *readers) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	st, err := r.stmt(ctx, query)
	if err != nil {
		return nil, err
	}
	return st.QueryContext(ctx, args...)
}

// QueryRowContext reads to its end: somebody who watches for the end of ctx
// costs two goroutines, more than finding a row by its key.
func (r *readers) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	ctx = context.WithoutCancel(ctx)
	st, err := r.stmt(ctx, query)
	if err != nil {
		return r.db.QueryRowContext(ctx, query, args...)
	}
	return st.QueryRowContext(ctx, args...)
}
