package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/easel-canvas/easel/host/internal/disk"
	"github.com/easel-canvas/easel/host/internal/store/walguard"
)

// A committer makes writes durable. SQLite has one writer at a time and one fsync per commit, so
// [group] combines waiting writes in one commit. PostgreSQL groups commits itself, so [each] uses
// one transaction per write.
type committer interface {
	write(ctx context.Context, op func(context.Context, querier) error) error
	// exec runs one statement, which is atomic, and returns the number of changed rows.
	exec(ctx context.Context, query string, args ...any) (changed int64, err error)
	close() error
}

// querier is the subset of a transaction that operations use.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func execOn(ctx context.Context, q querier, query string, args []any) (changed int64, err error) {
	res, err := q.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// each runs every write in its own transaction.
type each struct {
	db     *sql.DB
	closed atomic.Bool
}

func (e *each) write(ctx context.Context, op func(context.Context, querier) error) error {
	if e.closed.Load() {
		return ErrClosed
	}
	tx, err := e.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := op(ctx, tx); err != nil {
		// Report the first error: a failed rollback only means that the connection is lost, which
		// rolls back as well.
		_ = tx.Rollback()
		return err
	}
	return tx.Commit()
}

func (e *each) exec(ctx context.Context, query string, args ...any) (int64, error) {
	if e.closed.Load() {
		return 0, ErrClosed
	}
	return execOn(ctx, e.db, query, args)
}

func (e *each) close() error {
	e.closed.Store(true)
	return nil
}

// mostTogether bounds the writes in one transaction, and so the wait of the first one.
const mostTogether = 256

// group combines writes on one connection into shared transactions.
//
// One goroutine owns conn and its statements. Callers send a job and wait for its result, which is
// sent after the commit. An operation may run twice (see [group.commit]), so it must assign its
// results and not add to them.
type group struct {
	dir   string // of the database
	conn  *statements
	side  *sql.Conn // makes checkpoints
	guard *walguard.Guard
	keys  *keyMemory
	jobs  chan *job
	quit  chan struct{}
	done  chan struct{}
	once  sync.Once
}

type job struct {
	ctx    context.Context
	op     func(context.Context, querier) error
	single bool // op is one statement
	err    error
	done   chan struct{}
}

func newGroup(conn, side *sql.Conn, dir string, guard *walguard.Guard, keys *keyMemory) *group {
	g := &group{
		dir:   dir,
		keys:  keys,
		conn:  newStatements(conn),
		side:  side,
		guard: guard,
		jobs:  make(chan *job, mostTogether),
		quit:  make(chan struct{}),
		done:  make(chan struct{}),
	}
	go g.loop()
	return g
}

// write waits until op is committed or has failed. If ctx ends during the commit, the write may
// still happen.
func (g *group) write(ctx context.Context, op func(context.Context, querier) error) error {
	return g.wait(&job{ctx: ctx, op: op, done: make(chan struct{})})
}

func (g *group) exec(ctx context.Context, query string, args ...any) (changed int64, err error) {
	var n int64 // may be set after the caller stopped waiting
	err = g.wait(&job{ctx: ctx, single: true, done: make(chan struct{}), op: func(ctx context.Context, q querier) (err error) {
		n, err = execOn(ctx, q, query, args)
		return err
	}})
	if err != nil {
		return 0, err
	}
	return n, nil
}

func (g *group) wait(j *job) error {
	ctx := j.ctx
	select {
	case g.jobs <- j:
	case <-g.quit:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-j.done:
		return j.err
	case <-g.done:
		// The loop may have finished the job in its last iteration.
		select {
		case <-j.done:
			return j.err
		default:
			return ErrClosed
		}
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g *group) close() (err error) {
	g.once.Do(func() {
		close(g.quit)
		<-g.done
		// SQLite copies and deletes the WAL with the last connection. A WAL that cannot be copied
		// now stays and is read at the next start.
		_ = g.checkpoint(true)
		err = errors.Join(g.conn.close(), g.side.Close())
	})
	return err
}

func (g *group) loop() {
	defer close(g.done)
	batch := make([]*job, 0, mostTogether)
	for {
		select {
		case j := <-g.jobs:
			batch = append(batch[:0], j)
		case <-g.quit:
			return
		}
		batch = g.collect(batch)
		g.record(batch)
		if g.conn.touchedKeys() {
			g.keys.forget()
		}
		for _, j := range batch {
			j.err = g.explain(j.err)
			close(j.done)
		}
		clear(batch)
		if g.guard.Due() {
			_ = g.checkpoint(false) // the WAL stays until a later one succeeds
		}
	}
}

// record commits a batch and records that, so that a later start detects if it is missing. A commit
// that cannot be recorded is not acknowledged.
func (g *group) record(batch []*job) {
	err := g.guard.Begin()
	if err == nil {
		g.commit(batch)
		err = g.guard.Acknowledge()
	}
	if err == nil {
		return
	}
	for _, j := range batch {
		if j.err == nil {
			j.err = err
		}
	}
}

// checkpoint copies the WAL to the database file. The write lock keeps other processes from adding
// pages whose checksums the guard would not have.
func (g *group) checkpoint(last bool) error {
	ctx := context.Background()
	if err := g.do(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer g.rollback(ctx)
	return g.guard.Checkpoint(last, func() (frames, copied int, err error) {
		var busy int
		err = g.side.QueryRowContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &frames, &copied)
		return frames, copied, err
	})
}

// explain detects a file system that became read-only or is full, which SQLite reports as an
// ordinary I/O error: its shared memory is a file, too.
func (g *group) explain(err error) error {
	if err == nil || classify(err) != ErrUnavailable {
		return err
	}
	if disk.ReadOnly(g.dir) {
		return fmt.Errorf("%w (%v)", ErrReadOnly, err)
	}
	if room := disk.Free(g.dir); room >= 0 && room < leastRoom {
		return fmt.Errorf("%w (%v)", ErrFull, err)
	}
	return err
}

// leastRoom is the free disk space below which an I/O error means that the disk is full.
const leastRoom = 128 << 10

// collect adds waiting jobs, and after one yield those that other goroutines are about to send. It
// does not wait.
func (g *group) collect(batch []*job) []*job {
	for yielded := false; len(batch) < mostTogether; {
		select {
		case j := <-g.jobs:
			batch = append(batch, j)
		default:
			if yielded {
				return batch
			}
			yielded = true
			runtime.Gosched()
		}
	}
	return batch
}

// commit runs a batch in one transaction. A failing job is rolled back by itself. If the
// transaction is lost (SQLite drops it on a full disk or an I/O error), each job is retried alone,
// so that one large write does not fail the small ones.
func (g *group) commit(batch []*job) {
	if len(batch) == 1 {
		batch[0].err = g.alone(batch[0])
		return
	}
	err := g.together(batch)
	if err == nil {
		return
	}
	for _, j := range batch {
		j.err = g.alone(j)
	}
}

func (g *group) alone(j *job) error {
	if err := j.ctx.Err(); err != nil {
		return err
	}
	ctx := context.Background()
	if j.single {
		return j.op(ctx, g.conn) // implicit transaction
	}
	if err := g.do(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := j.op(ctx, g.conn); err != nil {
		g.rollback(ctx)
		return err
	}
	if err := g.do(ctx, "COMMIT"); err != nil {
		g.rollback(ctx)
		return err
	}
	return nil
}

// together runs a batch in one transaction. It returns an error if the transaction is lost.
func (g *group) together(batch []*job) error {
	ctx := context.Background()
	if err := g.do(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	for _, j := range batch {
		if j.err = j.ctx.Err(); j.err != nil {
			continue
		}
		if err := g.step(ctx, j); err != nil {
			g.rollback(ctx)
			return err
		}
	}
	if err := g.do(ctx, "COMMIT"); err != nil {
		g.rollback(ctx)
		return err
	}
	return nil
}

// step runs one job inside a savepoint; an error of the job is stored in the job. A single
// statement needs no savepoint, which saves two statements; if it fails, which is rare, the whole
// transaction counts as lost, since SQLite may have dropped it.
func (g *group) step(ctx context.Context, j *job) error {
	if j.single {
		return j.op(ctx, g.conn)
	}
	if err := g.do(ctx, "SAVEPOINT job"); err != nil {
		return err
	}
	j.err = j.op(ctx, g.conn)
	if j.err != nil {
		if err := g.do(ctx, "ROLLBACK TO job"); err != nil {
			return errors.Join(j.err, err)
		}
	}
	return g.do(ctx, "RELEASE job")
}

func (g *group) do(ctx context.Context, query string) error {
	_, err := g.conn.ExecContext(ctx, query)
	return err
}

// rollback ends a transaction that may be gone already: SQLite then reports "no transaction is
// active", which is the intended state.
func (g *group) rollback(ctx context.Context) {
	_ = g.do(ctx, "ROLLBACK")
}
