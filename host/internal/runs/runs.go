package runs

import (
	"context"
	"log/slog"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/limit/memlimit"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Config configures Runs. Store, Log and Registry are required.
type Config struct {
	Store    *store.Store
	Log      *runlog.Log
	Registry *engine.Registry
	// Ports returns the ports of a run; nil leaves all ports empty.
	Ports func(j *Job) engine.Ports
	// Patience bounds how long a turn waits for its session; 0 means 5 minutes.
	Patience time.Duration
	// Accept bounds how long Start and Cancel wait for an unavailable run log; 0
	// means 5 s. A run that has started waits as long as it takes.
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
	// Prices of models; see the engine's option.
	Prices engine.Prices
	// Approval names what only runs when a person agrees; see the engine's option.
	Approval []string
	// Full returns the reason why no new run may start now, or nil; a nil Full allows all.
	Full func() error
	// Suspect reports whether the former host of a run died of memory, most likely
	// because of it; nil suspects none.
	Suspect func(run string) bool
	// Due reports whether the run of a schedule starts, now that its time has come; nil lets all
	// start.
	Due func(ctx context.Context, j *Job) (bool, error)
	// KeepRuns is the retention of runs after their end; 0 keeps them forever.
	KeepRuns time.Duration
	// Report is called for every run that this host ends, for metrics; nil for none.
	Report func(j *Job, end End, took time.Duration)
	// Trace receives every run that this host ends, when its end is recorded; nil for none. It must
	// not block.
	Trace func(e Ended)
	// Kept returns the records of an ended run that is not in the log any more, see [Ended]; nil
	// keeps none. Errors: [ErrGone].
	Kept func(ctx context.Context, run store.Run) ([]runlog.Record, error)
	// Watch receives every entry of the runs of this host in order; nil for none.
	// Those of a run that was taken over are sent again, at least from the last
	// snapshot on. It must neither block nor keep the record.
	Watch func(j *Job, r runlog.Record, again bool)
	// WatchPast sends Watch the records of former hosts too when this one takes a
	// run over. Such a takeover reads the whole log of the run instead of what
	// follows its last snapshot.
	WatchPast bool
	// Parent names the trace span that a run begun under ctx belongs to, in the
	// form of a traceparent header; nil for none.
	Parent func(ctx context.Context) string
	// Logger takes what an operator should know; nil means slog.Default.
	Logger *slog.Logger
}

// Runs starts and continues runs on this host. It is safe for concurrent use.
//
// Each of its parts has one task and sees only what that needs; the exported
// methods of the embedded ones are methods of Runs.
type Runs struct {
	cfg Config
	*canvases
	*reader
	*results
	*suspects
	*aborts
	*workers

	turns     *turns
	loader    *loader
	executor  *executor
	takeovers *takeovers
	scanner   *scanner
	history   *history
	expiry    *expiry
	cases     chan struct{} // has a place for each run that is played again
}

func (c Config) withDefaults() Config {
	if c.Patience == 0 {
		c.Patience = 5 * time.Minute
	}
	if c.Accept == 0 {
		c.Accept = 5 * time.Second
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}

// New makes Runs; nothing runs until [Runs.Start] or [Runs.Work].
func New(cfg Config) *Runs {
	cfg = cfg.withDefaults()
	r := &Runs{
		cfg: cfg, cases: make(chan struct{}, casesAtOnce),
		canvases: &canvases{
			store: cfg.Store, memory: cfg.Documents, plans: plans{registry: cfg.Registry, most: cfg.PlanBytes},
		},
		reader:   &reader{log: cfg.Log},
		suspects: &suspects{full: cfg.Full, logger: cfg.Logger},
		aborts:   &aborts{},
		workers:  newWorkers(),
		scanner:  newScanner(cfg.Store, cfg.Log, cfg.Logger),
		history:  &history{store: cfg.Store, keep: cfg.KeepRuns, logger: cfg.Logger},
	}
	r.turns = &turns{
		store: cfg.Store, log: cfg.Log, patience: cfg.Patience, logger: cfg.Logger, scan: r.scanner.scanSoon,
	}
	r.loader = &loader{canvases: r.canvases, turns: r.turns, reader: r.reader, kept: cfg.Kept, stopping: r.stopping}
	r.results = &results{
		store: cfg.Store, registry: cfg.Registry, report: cfg.Report, trace: cfg.Trace, logger: cfg.Logger,
	}
	r.executor = &executor{
		results: r.results, aborts: r.aborts, ports: cfg.Ports, watch: cfg.Watch, logger: cfg.Logger,
		engine: engine.Options{
			Checkpoints: true, Internal: true, Exchanges: true,
			Concurrency: cfg.Concurrency, MaxSteps: cfg.MaxSteps,
			Limits: cfg.Limits, Prices: cfg.Prices, Approval: cfg.Approval,
		},
	}
	r.takeovers = &takeovers{
		store: cfg.Store, log: cfg.Log, loader: r.loader, executor: r.executor, results: r.results,
		due: cfg.Due, workers: r.workers, suspect: cfg.Suspect,
		readAll: cfg.Watch != nil && cfg.WatchPast, reading: make(chan struct{}, pastReaders), logger: cfg.Logger,
	}
	r.expiry = &expiry{Runs: r, every: expireEvery, logger: cfg.Logger}
	return r
}

// Work continues runs of dead hosts, queued runs, and runs that were accepted
// but never begun, forgets old runs and ends the waiting of unanswered ones, until ctx ends.
func (r *Runs) Work(ctx context.Context) error {
	go r.scanner.work(ctx)
	go r.history.work(ctx)
	go r.expiry.work(ctx)
	return r.cfg.Log.Work(ctx, r.takeovers.takeOver)
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

// Active returns the number of runs that this host works on.
func (r *Runs) Active() int { return len(r.cfg.Log.Active()) }
