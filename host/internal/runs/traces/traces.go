package traces

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Config configures traces. Store, Log and Bytes are required.
type Config struct {
	Store *store.Store
	Log   *runlog.Log
	Bytes Bytes
	// Room reports whether the disk of Bytes has room for more; nil means that it always has.
	Room func() bool
	// Version of the host, for headers.
	Version string
	// Alone means that no other host writes traces of the same runs.
	Alone bool
	// Logger takes what an operator should know; nil means slog.Default.
	Logger *slog.Logger
	// Now returns the time; nil means time.Now.
	Now func() time.Time

	flush time.Duration // age at which a block is closed; 0 means 2 s
}

// Bounds of the queue, and of an open block before compression.
const (
	queueRuns  = 4096
	queueBytes = 32 << 20
	blockBytes = 512 << 10
)

const (
	flushAfter   = 2 * time.Second
	readEvery    = time.Minute // how often ended runs without a trace are read from the log
	readSoon     = 50 * time.Millisecond
	readMost     = 64               // at once, so that the queue does not wait for them long
	findEvery    = 10 * time.Minute // how often those of other hosts are looked for
	settledAfter = 5 * time.Minute  // after its end, the host of a run has written its trace
	holdMost     = 24 * time.Hour   // a log is not kept longer for a trace
)

// Traces keeps runs after their end. It is safe for concurrent use.
type Traces struct {
	cfg    Config
	queue  chan runs.Ended
	queued atomic.Int64 // bytes in queue
	seal   *seals
	opened time.Time
	low    atomic.Bool  // the disk had no room
	looked atomic.Bool  // the log was searched at the start
	behind atomic.Bool  // a run has ended that is in the log alone
	lost   atomic.Int64 // runs without a trace, since the start
	stored atomic.Int64 // runs with one, since the start

	mu       sync.Mutex
	waiting  map[string]*waiting // ended runs whose trace is not stored yet
	settings map[string]Settings // by tenant, as far as they were read
	docs     map[docKey]bool     // documents that are stored
	stops    map[string]stop     // by tenant, not recorded yet

	open map[blockKey]*block // of the goroutine of Work

	rewriting sync.Mutex // one look through the blocks at a time
	rewritten time.Time  // when blocks were last looked through for deleted runs
}

// waiting is an ended run without a trace.
type waiting struct {
	runs.Ended
	since time.Time
	held  bool // its records are in the queue or in an open block
}

// New returns traces, which are written while [Traces.Work] runs.
func New(cfg Config) *Traces {
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.flush == 0 {
		cfg.flush = flushAfter
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Traces{
		cfg: cfg, queue: make(chan runs.Ended, queueRuns), seal: &seals{items: cfg.Store.Items},
		opened:  cfg.Now(),
		waiting: map[string]*waiting{}, settings: map[string]Settings{}, docs: map[docKey]bool{},
		open: map[blockKey]*block{}, stops: map[string]stop{},
	}
}

// Select is the [runlog.Config].Collect that traces need.
func Select(kind string) runlog.Selection { return selection(kind) }

// Take accepts a run that has ended. It never blocks: what finds no room is read from the run log
// later.
func (t *Traces) Take(e runs.Ended) {
	if t.off(e.Tenant) {
		return
	}
	if t.full() {
		noteStop(t, e)
		t.lost.Add(1)
		return
	}
	size := int64(0)
	for _, r := range e.Records {
		size += int64(len(r.Data))
	}
	w := &waiting{Ended: e, since: t.cfg.Now(), held: true}
	w.Records = nil
	t.mu.Lock()
	t.waiting[e.Run] = w
	t.mu.Unlock()
	if len(e.Records) > 0 && t.queued.Load()+size <= queueBytes {
		t.queued.Add(size)
		select {
		case t.queue <- e:
			return
		default:
			t.queued.Add(-size)
		}
	}
	t.release(e.Run)
	t.behind.Store(true)
}

// release lets a run be read from the log.
func (t *Traces) release(run string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w := t.waiting[run]; w != nil {
		w.held = false
	}
}

// done forgets a run whose trace is stored, or cannot be.
func (t *Traces) done(run string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.waiting, run)
}

// Hold is the [runlog.Config].Hold that traces need: the log of a run stays until its trace is
// stored.
func (t *Traces) Hold(run string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.waiting[run]
	return w != nil && t.cfg.Now().Sub(w.since) < holdMost
}

// full reports whether the disk has no room for traces, and logs a change.
func (t *Traces) full() bool {
	low := t.cfg.Room != nil && !t.cfg.Room()
	if t.low.Swap(low) != low {
		if low {
			t.cfg.Logger.Error("disk is almost full: traces of runs are not kept until there is space")
		} else {
			t.cfg.Logger.Info("traces of runs are kept again")
		}
	}
	return low
}

// Counts are the numbers of runs since the start of the host.
type Counts struct {
	Stored, Lost, Waiting int64
	Stopped               bool // the disk has no room
}

// Counts returns the numbers of runs.
func (t *Traces) Counts() Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := Counts{t.stored.Load(), t.lost.Load(), int64(len(t.waiting)), t.low.Load()}
	if !t.looked.Load() {
		c.Waiting++ // there may be some
	}
	return c
}

// Work writes traces until ctx ends, and then those that it has.
func (t *Traces) Work(ctx context.Context) {
	steady := context.WithoutCancel(ctx)
	t.readSettings(ctx)
	t.find(ctx, t.cfg.Alone)
	t.looked.Store(true)
	go t.retain(ctx)
	flush := time.NewTicker(t.cfg.flush / 4)
	defer flush.Stop()
	read := time.NewTimer(readSoon)
	defer read.Stop()
	find := time.NewTicker(findEvery)
	defer find.Stop()
	stops := time.NewTicker(stopsEvery)
	defer stops.Stop()
	for {
		select {
		case e := <-t.queue:
			t.take(steady, e)
		case <-flush.C:
			t.flush(steady, false)
			if t.behind.Swap(false) {
				read.Reset(t.read(ctx))
			}
		case <-read.C:
			read.Reset(t.read(ctx))
		case <-stops.C:
			writeStops(steady, t)
		case <-find.C:
			t.readSettings(ctx)
			if !t.cfg.Alone {
				t.find(ctx, false)
			}
		case <-ctx.Done():
			t.drain(steady)
			writeStops(steady, t)
			return
		}
	}
}

// drain writes what is in memory.
func (t *Traces) drain(ctx context.Context) {
	for {
		select {
		case e := <-t.queue:
			t.take(ctx, e)
			continue
		default:
		}
		t.flush(ctx, true)
		return
	}
}

// take adds a run of the queue to a block.
func (t *Traces) take(ctx context.Context, e runs.Ended) {
	size := int64(0)
	for _, r := range e.Records {
		size += int64(len(r.Data))
	}
	t.queued.Add(-size)
	t.add(ctx, e)
}

// read adds runs whose records are in the log alone, and returns when to do so again.
func (t *Traces) read(ctx context.Context) time.Duration {
	var list []*waiting
	now := t.cfg.Now()
	t.mu.Lock()
	for run, w := range t.waiting {
		switch {
		case w.held:
		case now.Sub(w.since) >= holdMost:
			delete(t.waiting, run)
			t.lost.Add(1)
		case len(list) < readMost:
			list = append(list, w)
			w.held = true
		}
	}
	t.mu.Unlock()
	failed := false
	for _, w := range list {
		if err := t.readOne(ctx, w.Ended); err != nil {
			failed = true
			t.release(w.Run)
			if ctx.Err() != nil {
				break
			}
			t.cfg.Logger.Warn("trace of a run is not stored yet", "run", w.Run, "err", err)
		}
	}
	if len(list) == readMost && !failed {
		return readSoon
	}
	return readEvery
}

// readOne adds a run from the log.
func (t *Traces) readOne(ctx context.Context, e runs.Ended) error {
	row, err := t.cfg.Store.Runs.Get(ctx, e.Tenant, e.Run)
	if errors.Is(err, store.ErrNotFound) || err == nil && row.Status == store.RunActive {
		t.done(e.Run)
		return nil
	}
	if err != nil {
		return err
	}
	if gone, err := t.cfg.Store.Traces.Gone(ctx, e.Tenant, e.Run); err != nil || gone {
		if err == nil {
			t.done(e.Run)
		}
		return err
	}
	if b, err := t.blockOf(ctx, row); err != nil || b.ID != "" {
		if err == nil {
			t.done(e.Run) // it was stored, and that was not known
		}
		return err
	}
	records, err := t.cfg.Log.Records(ctx, e.Run)
	if errors.Is(err, broker.ErrGone) || err == nil && len(records) == 0 {
		t.cfg.Logger.Warn("run has no trace: its log was deleted", "run", e.Run)
		t.lost.Add(1)
		t.done(e.Run)
		return nil
	}
	if err != nil {
		return err
	}
	e.Canvas, e.Time, e.Records = row.Canvas, row.EndTime, selected(records)
	t.add(ctx, e)
	return nil
}

// find looks for ended runs in the log that no block has: all of them when no other host is at
// work, or else those whose host should have written them.
func (t *Traces) find(ctx context.Context, all bool) {
	found, err := t.missing(ctx, all)
	if err != nil && ctx.Err() == nil {
		t.cfg.Logger.Warn("ended runs without a trace were not looked for", "err", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, row := range found {
		if set, known := t.settings[row.Tenant]; t.waiting[row.ID] == nil && (!known || set.Days > 0) {
			t.waiting[row.ID] = &waiting{
				Ended: runs.Ended{Tenant: row.Tenant, Canvas: row.Canvas, Run: row.ID},
				since: time.UnixMilli(row.EndTime),
			}
		}
	}
}

// missing returns ended runs that are in the log and in no block.
func (t *Traces) missing(ctx context.Context, all bool) (out []store.Run, err error) {
	ids, err := runlog.Runs(ctx, t.cfg.Log)
	if err != nil {
		return nil, err
	}
	now := t.cfg.Now()
	blocks, err := t.cfg.Store.Traces.Since(ctx, dayOf(now.Add(-2*holdMost)))
	if err != nil {
		return nil, err
	}
	listed := map[string]bool{}
	for _, b := range blocks {
		for _, e := range entriesOf(b.Runs) {
			listed[e.run] = true
		}
	}
	const atOnce = 500
	for len(ids) > 0 {
		part := ids[:min(atOnce, len(ids))]
		ids = ids[len(part):]
		rows, err := t.cfg.Store.Runs.Find(ctx, part)
		if err != nil {
			return out, err
		}
		for _, row := range rows {
			ended := time.UnixMilli(row.EndTime)
			old := all && ended.Before(t.opened) || now.Sub(ended) > settledAfter
			if row.Status != store.RunActive && !listed[row.ID] && old {
				out = append(out, row)
			}
		}
	}
	return out, nil
}
