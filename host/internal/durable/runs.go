package durable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runner"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Config is what runs need. Store, Log and Registry are required.
type Config struct {
	Store    *store.Store
	Log      *runner.Log
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
	// MaxSteps is the engine's option; 0 means its default.
	MaxSteps int
	// ShortestPeriod is the least time between two runs of a schedule; 0 means a
	// minute.
	ShortestPeriod time.Duration
	// KeepRuns is how long runs stay in the history after their end; 0 means for
	// ever.
	KeepRuns time.Duration
	// Report hears of every run that this host ended, for metrics; nil for none.
	Report func(j *Job, end End, took time.Duration)
	// Watch hears every entry of the runs of this host in order; nil for none.
	// Those of a run that was taken over are told again, at least from the last
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
	cfg    Config
	plans  plans
	turns  turns
	opened time.Time

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
	return &Runs{cfg: cfg, plans: plans{registry: cfg.Registry, most: cfg.PlanBytes}, opened: time.Now()}
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

// recover queues runs that the records store knows and the log does not: their
// host died between accepting and claiming them, or in the first moments of
// their work, from which an embedded log has no note. It also finds those that
// the log has begun and nobody works on, which no fault that we know of leaves.
func (r *Runs) recover(ctx context.Context) {
	const young = 5 * time.Second // a living host needs less to claim its run
	var loose map[string]bool     // what nobody worked on at the last look
	// Without other hosts, what is from before the start is nobody's.
	for alone := r.cfg.Log.Alone(); ; alone = false {
		list, err := r.cfg.Store.ActiveRuns(ctx)
		if err != nil {
			r.cfg.Logger.Warn("active runs were not read", "err", err)
		}
		held, err := r.cfg.Log.Held()
		if err != nil {
			r.cfg.Logger.Warn("runs at work were not read", "err", err)
		}
		was := loose
		loose = map[string]bool{}
		for _, row := range list {
			if err == nil && !held[row.ID] {
				loose[row.ID] = true
			}
			switch created := time.UnixMilli(row.CreateTime); {
			case alone && created.Before(r.opened):
				// Twice in the queue it would have died as often as the luckier of the two says.
				r.requeue(ctx, row, loose[row.ID] && !r.cfg.Log.Left()[row.ID])
			case time.Since(created) > young:
				r.requeue(ctx, row, was[row.ID] && loose[row.ID])
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(30 * time.Second):
		}
	}
}

// requeue puts a run into the queue unless the log has heard of it and somebody
// works on it.
func (r *Runs) requeue(ctx context.Context, row store.Run, loose bool) {
	for _, id := range r.cfg.Log.Active() {
		if id == row.ID {
			return
		}
	}
	pos, ended, err := r.cfg.Log.Ended(ctx, row.ID)
	if err != nil || pos.At != 0 && !ended && !loose {
		return // the run log looks after it
	}
	if ended {
		// It ended in the log, and its result was not written: the records say it.
		r.settleEnded(ctx, row)
		return
	}
	// A host may have begun it and shown what the log's server then lost with its power.
	if err := r.cfg.Log.Submit(ctx, runner.Run{ID: row.ID, Data: row.Input, Attempt: 2}); err != nil {
		r.cfg.Logger.Warn("run was not queued again", "run", row.ID, "err", err)
	}
}

// settleEnded marks a run as failed whose log has ended without a result.
func (r *Runs) settleEnded(ctx context.Context, row store.Run) {
	end := store.RunEnd{ID: row.ID, Status: store.RunFailed, Error: "the run was given up"}
	if _, err := r.cfg.Store.EndRun(ctx, end, nil); err != nil {
		r.cfg.Logger.Warn("run was not ended", "run", row.ID, "err", err)
		return
	}
	if row.Session != "" {
		if err := r.cfg.Store.FreeSession(ctx, row.Tenant, row.Session, row.ID); err != nil {
			r.cfg.Logger.Warn("session was not freed", "run", row.ID, "err", err)
		}
	}
}

// Follow gives fn the records of a run after a place, see [runner.Log.Follow].
//
// Errors: [ErrGone] when the run's records are no longer kept.
func (r *Runs) Follow(ctx context.Context, run string, after runner.Pos, fn func(runner.Record) bool) error {
	err := r.cfg.Log.Follow(ctx, run, after, fn)
	if errors.Is(err, runner.ErrGone) {
		return fmt.Errorf("run %q: %w", run, ErrGone)
	}
	return err
}

// Place finds where a reader goes on, see [runner.Log.Place].
//
// Errors: [ErrGone] when the run's records are no longer kept.
func (r *Runs) Place(ctx context.Context, run string, seen runner.Pos, attempt uint64) (runner.Place, error) {
	p, err := r.cfg.Log.Place(ctx, run, seen, attempt)
	if errors.Is(err, runner.ErrGone) {
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
	return true, r.cfg.Log.Submit(ctx, runner.Run{ID: row.ID, Data: data})
}

// Records reads what is stored of a run now, without waiting for more.
func (r *Runs) Records(ctx context.Context, run string) ([]runner.Record, error) {
	records, err := r.cfg.Log.Records(ctx, run)
	if errors.Is(err, runner.ErrGone) {
		err = fmt.Errorf("run %q: %w", run, ErrGone)
	}
	return records, err
}

// Cancel stops a run of any host; one that has ended stays as it is.
//
// Errors: [runner.ErrUnavailable] when the run log does not take it within
// [Config].Accept; it may take effect later all the same.
func (r *Runs) Cancel(ctx context.Context, run string) error {
	ctx, done := context.WithTimeout(ctx, r.cfg.Accept)
	defer done()
	return r.cfg.Log.Cancel(ctx, run)
}

// Active is how many runs this host works on.
func (r *Runs) Active() int { return len(r.cfg.Log.Active()) }

// Close takes no more jobs and waits until those of this host have let go.
// The run log must be closed before or meanwhile, which hands them over.
func (r *Runs) Close() {
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
