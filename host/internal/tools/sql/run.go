package sql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/easel-canvas/easel/engine"
)

// Runner runs statements. The zero value has no network and no folder.
type Runner struct {
	Network Network
	Dir     string        // folder of SQLite files; "" allows none
	HostDir string        // data directory of the host, none of whose files is opened; "" is none
	Sockets bool          // allows servers at Unix sockets
	Timeout time.Duration // of one execution; 0 is 60 s
}

const (
	defaultTimeout = time.Minute
	// mostBytes bounds the cells of all results of one execution.
	mostBytes = 8 << 20
	// mostStatements bounds one execution.
	mostStatements = 100
)

// Result is the result of one statement.
type Result struct {
	Columns []string
	Rows    [][]engine.Value
	Err     error // the statement failed, the others ran
}

// Run runs the statements of text one after the other. A failed statement does not stop the next
// ones; one that returns no rows is the last, as in the original.
//
// Errors: [ErrSettings], [ErrDriver], those of the connection and of the context.
func (r *Runner) Run(ctx context.Context, s *Settings, text string) ([]Result, error) {
	return r.run(ctx, s, text, values{})
}

// run is Run with values for the marks in text.
func (r *Runner) run(ctx context.Context, s *Settings, text string, bound values) ([]Result, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	k, err := kindOf(s.Kind)
	if err != nil {
		return nil, err
	}
	if strings.ContainsRune(text, 0) {
		return nil, errors.New("sql has a NUL character, at which databases end a statement")
	}
	list := statements(text, k)
	if len(list) > mostStatements {
		return nil, fmt.Errorf("%d statements, at most %d", len(list), mostStatements)
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout())
	defer cancel()
	c, err := r.connect(ctx, s, k)
	if err != nil {
		return nil, err
	}
	defer c.close()
	c.values = bound
	var results []Result
	budget := mostBytes
	for _, statement := range list {
		result := c.run(ctx, statement, &budget)
		if ctx.Err() != nil {
			return nil, fmt.Errorf("statement %d: %w", len(results)+1, ctx.Err())
		}
		results = append(results, result)
		if result.Err == nil && len(result.Rows) == 0 {
			break
		}
	}
	return results, nil
}

// Test connects and runs a statement. Errors: as [Runner.Run].
func (r *Runner) Test(ctx context.Context, s *Settings) error {
	_, err := r.Run(ctx, s, "SELECT 1")
	return err
}

func (r *Runner) timeout() time.Duration {
	if r.Timeout > 0 {
		return r.Timeout
	}
	return defaultTimeout
}

// connection is one connection to a server.
type connection struct {
	runner   *Runner
	settings *Settings
	kind     kind
	db       *sql.DB
	conn     *sql.Conn
	id       int64  // of a MySQL connection on its server
	values   values // of the marks in statements
}

func (r *Runner) connect(ctx context.Context, s *Settings, k kind) (*connection, error) {
	db, err := r.open(s)
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("connect to %s: %w", s.name(), err), db.Close())
	}
	c := &connection{runner: r, settings: s, kind: k, db: db, conn: conn}
	switch k {
	case mySQL:
		err = conn.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&c.id)
	case sqliteFile:
		err = guardSQLite(conn)
	}
	if err == nil && !s.Write {
		err = c.checkAccount(ctx)
	}
	if err != nil {
		c.close()
		return nil, fmt.Errorf("connect to %s: %w", s.name(), err)
	}
	return c, nil
}

// name returns the database in messages.
func (s *Settings) name() string {
	if s.Kind == "sqlite" {
		return s.Database
	}
	return s.Kind + " at " + s.address()
}

func (c *connection) close() {
	// The result is complete, and a connection that fails to close is unusable as well.
	_ = c.conn.Close()
	_ = c.db.Close()
}

// run runs a statement in a separate transaction, which is rolled back unless data may change.
func (c *connection) run(ctx context.Context, statement string, budget *int) Result {
	if c.kind == sqliteFile {
		prepared, _ := c.values.fill(statement, c.kind)
		err := checkSQLite(c.conn, prepared)
		if errors.Is(err, ErrSQLite) {
			err = fmt.Errorf("%w (%s)", err, strings.ToUpper(firstWord.FindString(statement)))
		}
		if err != nil {
			return Result{Err: err}
		}
		return c.query(ctx, c.conn, statement, budget)
	}
	stop := c.cancelOnServer(ctx)
	defer stop()
	if c.settings.Write {
		return c.query(ctx, c.conn, statement, budget)
	}
	statement, word, ok := reading(statement, c.kind)
	if !ok {
		return Result{Err: fmt.Errorf("%w (%s)", ErrReadOnly, word)}
	}
	tx, err := c.conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return Result{Err: err}
	}
	defer func() { _ = tx.Rollback() }() // nothing was changed
	if c.kind == postgreSQL {
		// After its first query a transaction cannot be made writable, not by set_config either.
		if _, err := tx.ExecContext(ctx, "SELECT 1"); err != nil {
			return Result{Err: err}
		}
	}
	return c.query(ctx, tx, statement, budget)
}

// querier is a connection or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func (c *connection) query(ctx context.Context, q querier, statement string, budget *int) (result Result) {
	statement, args := c.values.fill(statement, c.kind)
	rows, err := q.QueryContext(ctx, statement, args...)
	if err != nil {
		return Result{Err: limited(err)}
	}
	defer func() { result.Err = errors.Join(result.Err, rows.Close()) }()
	result.Rows, result.Columns, err = read(rows, c.settings.rows(), budget)
	result.Err = limited(err)
	return result
}

// limited replaces err if it is the driver's limit of a message.
func limited(err error) error {
	var body *pgproto3.ExceededMaxBodyLenErr
	if errors.As(err, &body) {
		return fmt.Errorf("%w: a row has more than %d MiB", ErrTooLarge, mostPacket>>20)
	}
	return err
}

// cancelOnServer ends the running statement of MySQL when the context ends: its driver only closes
// the connection, and the server continues until it sends. pgx and SQLite cancel by themselves. The
// returned function must be called after the statement.
func (c *connection) cancelOnServer(ctx context.Context) (stop func()) {
	if c.kind != mySQL {
		return func() {}
	}
	finished := make(chan struct{})
	stopped := context.AfterFunc(ctx, func() {
		defer close(finished)
		killer, cancel := context.WithTimeout(context.WithoutCancel(ctx), connectTimeout)
		defer cancel()
		db, err := c.runner.openMySQL(c.settings)
		if err != nil {
			return
		}
		defer db.Close()
		// It fails if the statement has already ended, which is fine.
		_, _ = db.ExecContext(killer, fmt.Sprintf("KILL %d", c.id))
	})
	return func() {
		if !stopped() {
			<-finished
		}
	}
}
