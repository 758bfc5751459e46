package durable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runner"
	"github.com/easel-canvas/easel/host/internal/store"
)

// work is a job with everything that is needed to do it.
type work struct {
	job    Job
	doc    []byte // what is run
	canvas *engine.Canvas
	state  *engine.State
	rev    int64 // of a canvas that was read before; 0 when it was read for this job
	began  time.Time
	rerun  bool // the state is another run's
	saved  bool // its result is in the records store
}

// Start accepts a job and works on it in the background; it returns the job
// with its ids once the run is written down, so that it is done even when this
// host dies now. It waits while the session is busy. ctx bounds the waiting,
// not the run.
//
// Errors: [ErrSession], [ErrBusy], [ErrCanvas], [ErrClosed], [ErrRecord],
// [ErrUnpublished], [store.ErrNotFound] for the canvas, [runner.ErrUnavailable]
// when the run log does not take the run within [Config].Accept: nothing is done
// then.
func (r *Runs) Start(ctx context.Context, j Job) (Job, error) {
	if !r.enter() {
		return j, ErrClosed
	}
	leave := r.working.Done
	started := false
	defer func() {
		if !started {
			leave()
		}
	}()
	if j.ID == "" {
		j.ID = newID()
	}
	if j.Message == "" {
		j.Message = newID()
	}
	if r.cfg.Parent != nil {
		j.Parent = r.cfg.Parent(ctx)
	}
	if j.Keep == KeepSession {
		waiting, done := context.WithTimeout(ctx, r.cfg.Patience)
		defer done()
		out, err := r.turns.enter(waiting, j.Tenant+" "+j.Session)
		if err != nil {
			return j, fmt.Errorf("session %q: %w", j.Session, ErrBusy)
		}
		leave = func() {
			out()
			r.working.Done()
		}
	}
	// A client that leaves now must not leave half of what follows.
	ctx = context.WithoutCancel(ctx)
	w, err := r.begin(ctx, j)
	if err != nil {
		return j, err
	}
	lease, err := r.submit(ctx, w)
	for errors.Is(err, store.ErrConflict) {
		// The canvas was changed after it was read; now it is read anew.
		r.plans.forget(&j)
		if w, err = r.begin(ctx, j); err != nil {
			return j, err
		}
		lease, err = r.submit(ctx, w)
	}
	if err != nil {
		r.release(ctx, &j)
		return j, err
	}
	started = true
	go func() {
		defer leave()
		r.run(lease, w)
	}()
	return j, nil
}

// begin claims the session and makes the work of a job.
func (r *Runs) begin(ctx context.Context, j Job) (*work, error) {
	w := &work{job: j, began: time.Now()}
	if known := r.plans.last(&j); known.rev > 0 {
		w.rev, w.doc, w.canvas = known.rev, known.doc, known.canvas
	}
	err := r.prepare(ctx, w)
	if err != nil && w.rev > 0 {
		// The canvas as it is now may take what the one that was read did not.
		r.plans.forget(&j)
		return r.begin(ctx, j)
	}
	if err != nil {
		r.release(ctx, &j)
	}
	return w, err
}

// prepare reads the document and the state that a run begins with.
func (r *Runs) prepare(ctx context.Context, w *work) (err error) {
	j := &w.job
	switch {
	case j.Base != "":
		return r.prepareBase(ctx, w)
	case j.Keep == KeepSession:
		waiting, done := context.WithTimeout(ctx, r.cfg.Patience)
		defer done()
		v, err := r.claim(waiting, j)
		if err != nil {
			return err
		}
		w.doc = v.DSL
	case w.canvas == nil:
		c, err := r.current(ctx, j)
		if err != nil {
			return err
		}
		w.doc = c.DSL
		if w.canvas, err = r.plans.load(w.doc); err != nil {
			return err
		}
		r.plans.keep(j, revision{c.Rev, w.doc, w.canvas})
	}
	if w.canvas == nil {
		if w.canvas, err = r.plans.load(w.doc); err != nil {
			return err
		}
	}
	w.state = w.canvas.State()
	if w.state.Unfinished() || j.Published && j.Keep == KeepNothing {
		// The document was saved in the middle of a run that nobody continues, or
		// with what was said to the editor.
		w.state.Reset(false)
	}
	return r.checkNodes(w)
}

// checkNodes refuses a start at a node that is not there, before anything is
// written.
func (r *Runs) checkNodes(w *work) error {
	if id := w.job.From; id != "" {
		if c, _ := w.canvas.Component(id); c == nil {
			return fmt.Errorf("%w: no node %q in this canvas", ErrCanvas, id)
		}
	}
	return nil
}

// submit writes the run down and claims it.
func (r *Runs) submit(ctx context.Context, w *work) (*runner.Lease, error) {
	j := &w.job
	data, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	row := store.Run{
		ID: j.ID, Tenant: j.Tenant, Canvas: j.Canvas, Session: j.Session, User: j.User, Message: j.Message,
		Source: j.Source, Input: data,
	}
	if err := r.cfg.Store.StartRunAt(ctx, row, w.rev); err != nil {
		return nil, err
	}
	claiming, done := context.WithTimeout(ctx, r.cfg.Accept)
	defer done()
	lease, err := r.cfg.Log.Claim(claiming, runner.Run{ID: j.ID, Data: data, Kept: true})
	if err != nil {
		end := store.RunEnd{ID: j.ID, Status: store.RunFailed, Error: err.Error()}
		if _, endErr := r.cfg.Store.EndRun(ctx, end, nil); endErr != nil {
			r.cfg.Logger.Warn("run was not ended", "run", j.ID, "err", endErr)
		}
	}
	return lease, err
}

// release frees the session of a job that was not begun.
func (r *Runs) release(ctx context.Context, j *Job) {
	if j.Keep != KeepSession {
		return
	}
	if err := r.cfg.Store.FreeSession(ctx, j.Tenant, j.Session, j.ID); err != nil {
		r.cfg.Logger.Warn("session was not freed", "session", j.Session, "err", err)
	}
}
