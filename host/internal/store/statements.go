package store

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// statements prepares each SQL text once on one connection. Otherwise SQLite would parse the text
// on each use, which costs more than a small write. The number of texts is fixed by the code, so
// the map is bounded.
type statements struct {
	conn    *sql.Conn
	ready   map[string]*sql.Stmt
	ofKeys  map[string]bool // texts that name the table of keys
	touched bool            // such a text was used
}

func newStatements(conn *sql.Conn) *statements {
	return &statements{conn: conn, ready: map[string]*sql.Stmt{}, ofKeys: map[string]bool{}}
}

// touchedKeys reports whether a statement that names the table of keys was used since the last
// call.
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
		// A Row cannot be built from an error; the connection returns the same one.
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

// readers is a connection pool that prepares each text once; database/sql prepares it again on each
// connection that it opens.
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
		// The other statement is used; an error here would only report a lost connection.
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

// QueryRowContext ignores cancellation of ctx: watching it costs two goroutines, more than a lookup
// by key.
func (r *readers) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	ctx = context.WithoutCancel(ctx)
	st, err := r.stmt(ctx, query)
	if err != nil {
		return r.db.QueryRowContext(ctx, query, args...)
	}
	return st.QueryRowContext(ctx, args...)
}
