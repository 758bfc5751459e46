package runs

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
)

// takeovers continues runs that other hosts began, and begins queued ones.
type takeovers struct {
	store    *store.Store
	log      *runlog.Log
	loader   *loader
	executor *executor
	results  *results
	due      func(ctx context.Context, j *Job) (bool, error) // see [Config]
	workers  *workers
	suspect  func(run string) bool // of the death of its former host; may be nil
	readAll  bool                  // the whole log is read, for a watcher of the past
	reading  chan struct{}         // filled by each run that is read back from the log
	logger   *slog.Logger
}

// takeOver continues a run that another host began, or begins one that was
// queued. It is called with the lease; returning nil ends the run.
func (t *takeovers) takeOver(ctx context.Context, lease *runlog.Lease) error {
	if !t.workers.enter() {
		return ErrClosed
	}
	defer t.workers.working.Done()
	var j Job
	if err := json.Unmarshal(lease.Run.Data, &j); err != nil {
		t.logger.Error("run cannot be read and is dropped", "run", lease.Run.ID, "err", err)
		return nil
	}
	j = Named(j, lease.Run.ID)
	steady := context.WithoutCancel(ctx)
	row, err := t.store.Runs.Get(steady, j.Tenant, j.ID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	known := err == nil
	if known && row.Actor.As != "" {
		j.Actor = row.Actor
	}
	ended := known && row.Status != store.RunActive
	if !ended && lease.Run.Failures > 0 && t.suspect != nil && t.suspect(j.ID) {
		return t.results.fail(steady, lease, &j, ErrOutOfMemory)
	}
	past, memory, err := t.pastHeld(steady, lease)
	defer func() { releaseLater(memory, len(past.doc)) }()
	if lost(err) || errors.Is(err, ErrClosed) {
		return err
	}
	if errors.Is(err, ErrTooLarge) {
		return t.results.fail(steady, lease, &j, err)
	}
	if err != nil && ended {
		return t.results.fail(steady, lease, &j, err)
	}
	if err != nil {
		return err
	}
	if len(past.records) == 0 {
		return t.beginLate(steady, lease, j, row, known)
	}
	w, wr, err := t.rebuild(j, lease, past)
	if err != nil {
		return t.results.fail(steady, lease, &j, err)
	}
	var saved *End
	if w.saved = ended; ended {
		saved = &End{Status: row.Status, Error: row.Error}
	}
	return t.proceed(steady, lease, w, wr, past.records, saved)
}

// proceed settles a run that has ended, or continues it behind the records of its log. saved is
// the end that the store has, nil if it has none.
func (t *takeovers) proceed(
	ctx context.Context, lease *runlog.Lease, w *work, wr *writer, records []runlog.Record, saved *End,
) error {
	if last := records[len(records)-1]; last.Kind == KindEnd {
		return t.results.settle(ctx, lease, w, wr.said, EndOf(last), lastSnapshot(records))
	}
	if err := lease.Buffer(ctx, takeoverMark(lease)...); err != nil {
		return err
	}
	var end End
	switch {
	case saved != nil: // the log has lost its end, with the power of its server
		end = *saved
	case w.state.Unfinished():
		return t.executor.execute(lease, w, wr)
	default:
		// The engine had finished; only how it went was not written. It did not
		// fail, because a failure is written together with the last snapshot.
		end = endOf(w, nil)
	}
	if _, err := lease.Append(ctx, end.record()); err != nil {
		return err
	}
	return t.results.settle(ctx, lease, w, wr.said, end, lastSnapshot(records))
}

// beginLate starts a run of which nothing is in the log.
func (t *takeovers) beginLate(ctx context.Context, lease *runlog.Lease, j Job, row store.Run, known bool) error {
	if known && row.Status != store.RunActive {
		return nil // it ended, and its records have been dropped
	}
	if !known && j.Recorded {
		t.logger.Info("run was refused when it was started, and is dropped", "run", j.ID)
		return nil
	}
	if !known {
		if j.Schedule != "" && t.due != nil {
			if starts, err := t.due(ctx, &j); err != nil || !starts {
				return err
			}
		}
		if err := t.store.Runs.Start(ctx, store.Run{
			ID: j.ID, Tenant: j.Tenant, Canvas: j.Canvas, Session: j.Session, User: j.User, Message: j.Message,
			Source: j.Source, Input: lease.Run.Data, Visitor: j.VisitorKey, Principal: j.Principal.record(),
		}); err != nil {
			return err
		}
	}
	w, err := t.loader.lateHeld(ctx, lease, j)
	if lost(err) || errors.Is(err, ErrClosed) {
		return err
	}
	if err != nil {
		return t.results.fail(ctx, lease, &j, err)
	}
	defer func() { releaseLater(w.memory, len(w.doc)) }()
	if w.job.Actor != row.Actor {
		// The next host that takes it over has only its row.
		if err := t.store.Runs.SetActor(ctx, j.Tenant, j.ID, w.job.Actor); err != nil {
			return err
		}
	}
	wr := t.executor.writer(ctx, lease, w)
	wr.held = append(w.first(), takeoverMark(lease)...)
	return t.executor.execute(lease, w, wr)
}

// takeoverMark is the record that marks the takeover by another host. It comes
// before anything else that this host writes: a reader may have seen what the
// former host had buffered and not stored, under the numbers that come now.
func takeoverMark(lease *runlog.Lease) []runlog.Record {
	if lease.Attempt == 1 {
		return nil
	}
	return []runlog.Record{{Kind: KindTakeover, Data: engine.Object("attempt", int64(lease.Attempt)).AppendJSON(nil)}}
}

// rebuild makes the work of what a run's log holds, and a writer that continues
// behind it.
func (t *takeovers) rebuild(j Job, lease *runlog.Lease, p past) (*work, *writer, error) {
	w, records := &work{job: j, doc: p.doc, began: time.Now()}, p.records
	var err error
	if w.canvas, err = t.loader.plans.load(w.doc); err != nil {
		return nil, nil, err
	}
	last := lastKnown(records)
	if w.state, err = w.canvas.StateAt(sinceSnapshot(events(records)), 0); err != nil {
		return nil, nil, err
	}
	wr := t.executor.writer(context.WithoutCancel(lease.Context()), lease, w)
	wr.entered = true
	wr.said = p.said
	for _, x := range records {
		wr.observe(x, true)
	}
	if w.state.Unfinished() {
		wr.fold = newFold(records[last+1:])
	}
	return w, wr, nil
}

// lastKnown is the index of the last record at which a state is known.
func lastKnown(records []runlog.Record) int {
	for i := range slices.Backward(records) {
		switch engine.EventType(records[i].Kind) {
		case engine.EventCheckpoint, engine.EventSnapshot:
			return i
		}
	}
	return -1
}

// sinceSnapshot drops what the last snapshot makes unnecessary.
func sinceSnapshot(log []*engine.Event) []*engine.Event {
	for i := range slices.Backward(log) {
		if log[i].Type == engine.EventSnapshot {
			return log[i:]
		}
	}
	return log
}
