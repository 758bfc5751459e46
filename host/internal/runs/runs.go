package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/broker"
	"github.com/easel-canvas/easel/host/internal/memlimit"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/schedule"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Config is what runs need. Store, Log, Clocks and Registry are required.
type Config struct {
	Store    *store.Store
	Log      *runlog.Log
	Clocks   *schedule.Store // the next time of each schedule
	Registry *engine.Registry
	// Ports gives the world of one run; nil leaves all ports empty.
	Ports func(j *Job) engine.Ports
	// Patience is how long a turn waits for its session; 0 means 5 minutes.
	Patience time.Duration
	// Accept is how long a run log that does not answer, because it elects a
	// leader or has lost most of its servers, is waited for when somebody wants a
	// run or its cancel; 0 means 5 s. A run that has begun waits as long as it
	// takes.
	Accept time.Duration
	// PlanBytes bounds the cache of compiled canvases; 0 means 32 MiB.
	PlanBytes int64
	// Documents bounds the memory of the documents of runs at work; nil means no
	// bound.
	Documents *memlimit.Budget
	// Concurrency and MaxSteps are the engine's options; 0 means its default.
	Concurrency, MaxSteps int
	// Limits bound each run; see the engine's option.
	Limits engine.Limits
	// Full says why no new run may start now, or nil; nil lets all start.
	Full func() error
	// Suspect says of a run that its former host died of memory, most likely
	// because of it; nil suspects none.
	Suspect func(run string) bool
	// ShortestPeriod is the least time between two runs of a schedule; 0 means a
	// minute.
	ShortestPeriod time.Duration
	// KeepRuns is how long runs stay in the history after their end; 0 means for
	// ever.
	KeepRuns time.Duration
	// Report is called for every run that this host ends, for metrics; nil for none.
	Report func(j *Job, end End, took time.Duration)
	// Watch receives every entry of the runs of this host in order; nil for none.
	// Those of a run that was taken over are sent again, at least from the last
	// snapshot on. It must neither block nor keep data.
	Watch func(j *Job, kind string, data []byte, again bool)
	// WatchPast lets Watch hear from the beginning as well what other hosts had
	// written when this one takes a run over. Such a take-over reads the whole
	// log of the run instead of what follows its last snapshot.
	WatchPast bool
	// Parent names the trace span that a run begun under ctx belongs to, in the
	// form of a traceparent header; nil for none.
	Parent func(ctx context.Context) string
	// Logger takes what an operator should know; nil means slog.Default.
	Logger *slog.Logger
}

// Runs starts and continues runs on this host. It is safe for concurrent use.
type Runs struct {
	cfg      Config
	plans    plans
	turns    turns
	suspects suspects
	aborts   aborts
	opened   time.Time
	reading  chan struct{} // filled by each run that is read back from the log
	scan     chan struct{} // asks recover not to wait for its next scan

	stopping context.Context // ends with Stop, with ErrClosed as its cause
	stop     context.CancelCauseFunc

	mu      sync.Mutex
	closed  bool
	working sync.WaitGroup
}

// New makes Runs; nothing runs until [Runs.Start] or [Runs.Work].
func New(cfg Config) *Runs {
	if cfg.Patience == 0 {
		cfg.Patience = 5 * time.Minute
	}
	if cfg.ShortestPeriod == 0 {
		cfg.ShortestPeriod = shortestPeriod
	}
	if cfg.Accept == 0 {
		cfg.Accept = 5 * time.Second
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	r := &Runs{cfg: cfg, plans: plans{registry: cfg.Registry, most: cfg.PlanBytes}, opened: time.Now(), scan: make(chan struct{}, 1)}
	r.reading = make(chan struct{}, pastReaders)
	r.stopping, r.stop = context.WithCancelCause(context.Background())
	return r
}

// Work continues runs of dead hosts, queued runs, and runs that were accepted
// but never begun, sets the clocks of schedules and forgets old runs, until ctx
// ends.
func (r *Runs) Work(ctx context.Context) error {
	go r.recover(ctx)
	go r.keepClocks(ctx)
	go r.forget(ctx)
	return r.cfg.Log.Work(ctx, r.takeOver)
}

// Follow gives fn the records of a run after a place, see [runlog.Log.Follow].
//
// Errors: [ErrGone] when the run's records are no longer kept.
func (r *Runs) Follow(ctx context.Context, run string, after runlog.Pos, fn func(runlog.Record) bool) error {
	err := r.cfg.Log.Follow(ctx, run, after, fn)
	if errors.Is(err, broker.ErrGone) {
		return fmt.Errorf("run %q: %w", run, ErrGone)
	}
	return err
}

// Place finds where a reader continues, see [runlog.Log.Place].
//
// Errors: [ErrGone] when the run's records are no longer kept.
func (r *Runs) Place(ctx context.Context, run string, seen runlog.Pos, attempt uint64) (runlog.Place, error) {
	p, err := r.cfg.Log.Place(ctx, run, seen, attempt)
	if errors.Is(err, broker.ErrGone) {
		err = fmt.Errorf("run %q: %w", run, ErrGone)
	}
	return p, err
}

// Kept reports whether any record of a run that has ended can still be read. A
// log that has forgotten the end, and whose readers would wait for it, gets it
// again.
func (r *Runs) Kept(ctx context.Context, row store.Run) (bool, error) {
	pos, ended, err := r.cfg.Log.Ended(ctx, row.ID)
	if err != nil || ended || pos.Seq == 0 {
		return pos.Seq != 0, err
	}
	data, err := json.Marshal(&Job{ID: row.ID, Message: row.Message, Tenant: row.Tenant, Canvas: row.Canvas, User: row.User, Source: row.Source})
	if err != nil {
		return false, err
	}
	// Most often its host is about to write the end, and this is dropped.
	return true, r.cfg.Log.Submit(ctx, runlog.Run{ID: row.ID, Data: data})
}

// Records reads what is stored of a run now, without waiting for more.
func (r *Runs) Records(ctx context.Context, run string) ([]runlog.Record, error) {
	records, err := r.cfg.Log.Records(ctx, run)
	if errors.Is(err, broker.ErrGone) {
		err = fmt.Errorf("run %q: %w", run, ErrGone)
	}
	return records, err
}

// Cancel stops a run of any host; one that has ended stays as it is.
//
// Errors: [broker.ErrUnavailable] when the run log does not take it within
// [Config].Accept; it may take effect later all the same.
func (r *Runs) Cancel(ctx context.Context, run string) error {
	ctx, done := context.WithTimeout(ctx, r.cfg.Accept)
	defer done()
	return r.cfg.Log.Cancel(ctx, run)
}

// Active is how many runs this host works on.
func (r *Runs) Active() int { return len(r.cfg.Log.Active()) }

// Stop makes [Runs.Start] return [ErrClosed] from now on, to the turns that wait
// for their session too. Runs that were accepted go on, and so does
// [Runs.Work], until the run log is closed.
func (r *Runs) Stop() { r.stop(ErrClosed) }

// Close stops and waits until the jobs of this host have let go. The run log
// must be closed before or meanwhile, which hands them over.
func (r *Runs) Close() {
	r.Stop()
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.working.Wait()
}

// enter counts one more worker, or says that the host stops.
func (r *Runs) enter() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.working.Add(1)
	return true
}
