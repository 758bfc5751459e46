package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/memlimit"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
)

// takeOver continues a run that another host began, or begins one that was
// queued. It is called with the lease; returning nil ends the run.
func (r *Runs) takeOver(ctx context.Context, lease *runlog.Lease) error {
	if !r.enter() {
		return ErrClosed
	}
	defer r.working.Done()
	var j Job
	if err := json.Unmarshal(lease.Run.Data, &j); err != nil {
		r.cfg.Logger.Error("run cannot be read and is dropped", "run", lease.Run.ID, "err", err)
		return nil
	}
	j = named(j, lease.Run.ID)
	steady := context.WithoutCancel(ctx)
	row, err := r.cfg.Store.Run(steady, j.Tenant, j.ID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	known := err == nil
	ended := known && row.Status != store.RunActive
	if !ended && lease.Run.Deaths > 0 && r.cfg.Suspect != nil && r.cfg.Suspect(j.ID) {
		return r.giveUp(steady, lease, &j, ErrOutOfMemory)
	}
	past, memory, err := r.pastHeld(steady, lease)
	defer func() { releaseLater(memory, len(past.doc)) }()
	if lost(err) || errors.Is(err, ErrClosed) {
		return err
	}
	if errors.Is(err, ErrTooLarge) {
		return r.giveUp(steady, lease, &j, err)
	}
	if err != nil && ended {
		return r.giveUp(steady, lease, &j, err)
	}
	if err != nil {
		return err
	}
	if len(past.records) == 0 {
		return r.beginLate(steady, lease, j, row, known)
	}
	w, wr, err := r.rebuild(j, lease, past)
	if err != nil {
		return r.giveUp(steady, lease, &j, err)
	}
	w.saved = ended
	if last := past.records[len(past.records)-1]; last.Kind == KindEnd {
		return r.settle(steady, lease, w, wr.said, ParseEnd(last.Data))
	}
	if err := lease.Tell(steady, takeoverMark(lease)...); err != nil {
		return err
	}
	if ended {
		// The log has lost its end, with the power of its server.
		end := End{Status: row.Status, Error: row.Error}
		if _, err := lease.Append(steady, end.record()); err != nil {
			return err
		}
		return r.settle(steady, lease, w, wr.said, end)
	}
	if !w.state.Unfinished() {
		// The engine had finished; only how it went was not written. It did not
		// fail, because a failure is written together with the last snapshot.
		end := endOf(w, nil)
		if _, err := lease.Append(steady, end.record()); err != nil {
			return err
		}
		return r.settle(steady, lease, w, wr.said, end)
	}
	return r.execute(lease, w, wr)
}

// beginLate starts a run of which nothing is in the log.
func (r *Runs) beginLate(ctx context.Context, lease *runlog.Lease, j Job, row store.Run, known bool) error {
	if known && row.Status != store.RunActive {
		return nil // it ended, and its records have been dropped
	}
	if !known {
		if j.Schedule != "" {
			if wanted, err := r.due(ctx, &j); err != nil || !wanted {
				return err
			}
		}
		if err := r.cfg.Store.StartRun(ctx, store.Run{
			ID: j.ID, Tenant: j.Tenant, Canvas: j.Canvas, Session: j.Session, User: j.User, Message: j.Message,
			Source: j.Source, Input: lease.Run.Data,
		}); err != nil {
			return err
		}
	}
	w, err := r.lateHeld(ctx, lease, j)
	if lost(err) || errors.Is(err, ErrClosed) {
		return err
	}
	if err != nil {
		return r.giveUp(ctx, lease, &j, err)
	}
	defer func() { releaseLater(w.memory, len(w.doc)) }()
	wr := r.writer(ctx, lease, w)
	wr.held = append([]runlog.Record{{Kind: KindDocument, Data: w.doc}}, takeoverMark(lease)...)
	return r.execute(lease, w, wr)
}

// prepareLate makes the work of a job whose run is written down, and gives it its
// session, which it may hold already.
func (r *Runs) prepareLate(ctx context.Context, lease *runlog.Lease, j Job, a *memlimit.Account) (*work, error) {
	waiting, done := r.waiting(ctx, lease.Context())
	defer done()
	for {
		w := &work{job: j, began: time.Now(), memory: a}
		err := r.prepare(waiting, w)
		if err != nil {
			w.release()
			return w, err
		}
		if w.session.ID == "" || w.session.Run == j.ID {
			return w, nil
		}
		err = r.cfg.Store.ClaimSession(ctx, w.session, j.ID)
		if err == nil {
			r.reportOrphan(w)
		}
		if !errors.Is(err, store.ErrConflict) {
			if err != nil {
				w.release()
			}
			return w, err
		}
		a = w.memory
	}
}

// takeoverMark is the record that marks the takeover by another host. It comes
// before anything else that this host writes: a reader may have seen what the
// former host had told and not stored, under the numbers that come now.
func takeoverMark(lease *runlog.Lease) []runlog.Record {
	if lease.Attempt == 1 {
		return nil
	}
	return []runlog.Record{{Kind: KindTakeover, Data: engine.Object("attempt", int64(lease.Attempt)).AppendJSON(nil)}}
}

// rebuild makes the work of what a run's log holds, and a writer that goes on
// behind it.
func (r *Runs) rebuild(j Job, lease *runlog.Lease, p past) (*work, *writer, error) {
	w, records := &work{job: j, doc: p.doc, began: time.Now()}, p.records
	var err error
	if w.canvas, err = r.plans.load(w.doc); err != nil {
		return nil, nil, err
	}
	last := lastKnown(records)
	if w.state, err = w.canvas.StateAt(sinceSnapshot(events(records)), 0); err != nil {
		return nil, nil, err
	}
	wr := r.writer(context.WithoutCancel(lease.Context()), lease, w)
	wr.entered = true
	wr.said = p.said
	for _, x := range records {
		wr.hear(x, true)
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

// giveUp ends a run that cannot be done: trying again would not help.
func (r *Runs) giveUp(ctx context.Context, lease *runlog.Lease, j *Job, why error) error {
	if errors.Is(why, store.ErrUnavailable) || errors.Is(why, ErrBusy) {
		return why
	}
	row, err := r.cfg.Store.Run(ctx, j.Tenant, j.ID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	w := &work{job: *j, began: time.Now(), saved: err == nil && row.Status != store.RunActive}
	end := End{Status: store.RunFailed, Code: CodeOf(why), Error: why.Error()}
	if w.saved {
		end = End{Status: row.Status, Error: row.Error}
	} else {
		r.cfg.Logger.Error("run is given up", "run", j.ID, "canvas", j.Canvas, "err", why)
	}
	if _, err := lease.Append(ctx, append(takeoverMark(lease), end.record())...); err != nil {
		return err
	}
	return r.settle(ctx, lease, w, &Transcript{}, end)
}

// Dead ends a run that broke off too often; it is what
// [runlog.Config].Dead wants.
func (r *Runs) Dead(ctx context.Context, lease *runlog.Lease) error {
	var j Job
	if err := json.Unmarshal(lease.Run.Data, &j); err != nil {
		return nil // nothing is known of it
	}
	j = named(j, lease.Run.ID)
	return r.giveUp(context.WithoutCancel(ctx), lease, &j,
		fmt.Errorf("the run broke off %d times with its host and is not tried again", lease.Run.Deaths))
}
