package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/limit/memlimit"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
)

// work is a job with everything that is needed to do it.
type work struct {
	job     Job
	doc     []byte // what is run
	canvas  *engine.Canvas
	state   *engine.State
	session store.Session // what a claim needs of the session, as it was read; without an ID for a job that has none
	rev     int64         // of a canvas that was read before; 0 when it was read for this job
	actor   access.Actor  // of doc
	whose   access.Object
	began   time.Time
	rerun   bool              // the state is another run's
	saved   bool              // its result is in the records store
	memory  *memlimit.Account // holds the memory of doc; nil for a small document
}

// Start accepts a job and works on it in the background; it returns the job
// with its ids and its actor once the run is written down, so that it is done even when this
// host dies now. It waits while the session is busy, and writes nothing before
// the session is free: run and claim are one commit. ctx bounds the waiting, not
// the run.
//
// Errors: [ErrSession], [ErrBusy], [ErrCanvas], [ErrClosed], [ErrMemory], [ErrRecord],
// [ErrTooLarge], [ErrUnpublished], [ErrAnswered], [store.ErrNotFound] for the canvas,
// [broker.ErrUnavailable] when the run log does not take the run within [Config].Accept: nothing is
// done then.
func (r *Runs) Start(ctx context.Context, j Job) (Job, error) {
	if r.cfg.Full != nil {
		if err := r.cfg.Full(); err != nil {
			return j, err
		}
	}
	if r.stopping.Err() != nil || !r.enter() {
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
		j.Message = j.ID // one id fewer in the indexes of the store
	}
	if r.cfg.Parent != nil {
		j.Parent = r.cfg.Parent(ctx)
	}
	if j.Keep == KeepSession {
		waiting, done := r.turns.waiting(ctx, r.stopping)
		defer done()
		out, err := r.turns.enter(waiting, j.Tenant+" "+j.Session)
		if err != nil {
			return j, fmt.Errorf("session %q: %w", j.Session, err)
		}
		leave = func() {
			out()
			r.working.Done()
		}
		ctx = waiting
	}
	w, lease, err := r.accept(ctx, j)
	if err != nil || lease == nil {
		return j, err
	}
	started = true
	j.Actor = w.job.Actor
	go func() {
		defer leave()
		defer func() { releaseLater(w.memory, len(w.doc)) }()
		r.executor.run(lease, w)
	}()
	return j, nil
}

// accept makes the work of a job and stores it, again whenever its inputs have changed before the
// commit. The lease is nil when the run is accepted but another host works on it.
func (r *Runs) accept(ctx context.Context, j Job) (*work, *runlog.Lease, error) {
	for {
		w, err := r.loader.beginHeld(ctx, j)
		if err != nil {
			return nil, nil, err
		}
		// A client that leaves now must not leave half of it.
		lease, err := r.submit(context.WithoutCancel(ctx), w)
		if lease == nil {
			w.release()
		}
		if !errors.Is(err, store.ErrConflict) {
			return w, lease, err
		}
		r.plans.forget(&j)
	}
}

// submit writes the run down, with the claim of its session, and claims it in
// the run log. The lease is nil, without an error, when the run has been claimed
// from the queue already: the scan for lost runs puts a run there when its host
// takes longer than [young] to claim it.
//
// Errors: [store.ErrConflict] when the canvas or the session is no longer what
// the work was made of.
func (r *Runs) submit(ctx context.Context, w *work) (*runlog.Lease, error) {
	j := &w.job
	j.Recorded = true
	data, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	row := store.Run{
		ID: j.ID, Tenant: j.Tenant, Canvas: j.Canvas, Session: j.Session, User: j.User, Message: j.Message,
		Source: j.Source, Input: data, Actor: j.Actor, Visitor: j.VisitorKey, Principal: j.Principal.record(),
		Base: j.Base,
	}
	if row.Answers, err = r.answers(ctx, w); err != nil {
		return nil, err
	}
	if w.session.ID == "" {
		err = r.cfg.Store.Runs.StartAt(ctx, row, w.rev)
	} else if err = r.cfg.Store.Runs.StartTurn(ctx, row, w.session); err == nil {
		r.turns.reportOrphan(w)
	}
	if err != nil {
		return nil, err
	}
	claiming, done := context.WithTimeout(ctx, r.cfg.Accept)
	defer done()
	lease, err := r.cfg.Log.Claim(claiming, runlog.Run{ID: j.ID, Data: data, Persisted: true})
	if errors.Is(err, runlog.ErrActive) {
		return nil, nil
	}
	if err != nil {
		if failed := r.cfg.Store.Runs.Withdraw(ctx, j.Tenant, j.Session, j.ID); failed != nil {
			r.cfg.Logger.Warn("refused run was not removed", "run", j.ID, "err", failed)
		}
	}
	return lease, err
}

// loader makes the work of jobs: it reads their document and state, waits for
// their session and reserves their memory.
type loader struct {
	*canvases
	turns    *turns
	reader   *reader
	kept     func(ctx context.Context, run store.Run) ([]runlog.Record, error) // may be nil
	stopping context.Context                                                   // ends when this host stops
}

// begin makes the work of a job; it writes nothing.
func (l *loader) begin(ctx context.Context, j Job, a *memlimit.Account) (*work, error) {
	w := &work{job: j, began: time.Now(), memory: a}
	if known := l.plans.last(&j); known.rev > 0 {
		w.rev, w.doc, w.canvas, w.actor, w.whose = known.rev, known.doc, known.canvas, known.actor, known.whose
	}
	err := l.prepare(ctx, w)
	if err == nil {
		return w, nil
	}
	w.release()
	if w.rev > 0 && !errors.Is(err, ErrMemory) {
		// The canvas as it is now may take what the one that was read did not.
		l.plans.forget(&j)
		return l.begin(ctx, j, nil)
	}
	return nil, err
}

// prepare reads the document and the state that a run begins with. ctx bounds
// how long it waits for a session.
func (l *loader) prepare(ctx context.Context, w *work) (err error) {
	j := &w.job
	steady := context.WithoutCancel(ctx)
	switch {
	case j.Base != "":
		return l.prepareBase(steady, w)
	case j.Keep == KeepSession:
		v, err := l.turns.awaitSession(ctx, j)
		if err != nil {
			return err
		}
		w.session, w.session.Actor = v, access.Actor{}
		if err = l.planOfSession(steady, w, &v); err != nil {
			return err
		}
		if w.actor, err = l.actorOfSession(steady, &v); err != nil {
			return err
		}
	case w.canvas == nil:
		c, err := l.Current(steady, j)
		if err != nil {
			return err
		}
		w.doc, w.actor, w.whose = c.DSL, ActorOf(&c), c.Access()
		if err := l.hold(w); err != nil {
			return err
		}
		if w.canvas, err = l.plans.load(w.doc); err != nil {
			return err
		}
		l.plans.keep(j, revision{c.Rev, w.doc, w.canvas, w.actor, w.whose})
	}
	if j.Viewer != (access.Viewer{}) {
		err := j.Viewer.Check(access.Run, w.whose)
		if errors.Is(err, access.ErrHidden) {
			return fmt.Errorf("canvas %q: %w", j.Canvas, store.ErrNotFound)
		}
		if err != nil {
			return err
		}
	}
	altered := j.From != "" || j.Pins.Len() > 0
	if j.Actor = j.Actor.On(w.actor, altered); altered && w.session.ID != "" {
		// What the next turns find in the session is not the publisher's or author's any more.
		w.session.Actor = access.Actor{As: access.Author}
	}
	if err := l.hold(w); err != nil {
		return err
	}
	if w.canvas == nil {
		if w.canvas, err = l.plans.load(w.doc); err != nil {
			return err
		}
	}
	if w.session.ID != "" {
		if err := l.joinSession(steady, w, &w.session); err != nil {
			return err
		}
	} else {
		w.state = w.canvas.State()
	}
	if w.state.Unfinished() || j.Keep == KeepNothing && (j.Published || j.Actor.Unattended()) {
		// The document was saved in the middle of a run that is not continued, or
		// with what was said to the editor: by others than those for whom this run acts.
		w.state.Reset(false)
	}
	return w.checkNodes()
}

// planOfSession finds the document with which a session began, and its plan if that is cached.
func (l *loader) planOfSession(ctx context.Context, w *work, v *store.Session) (err error) {
	if w.doc, w.canvas = l.plans.named(v.Plan); w.canvas == nil {
		w.doc, err = l.store.Sessions.Document(ctx, v.Tenant, v.ID)
	}
	return err
}

// actorOfSession returns for whom the document of a session acts unattended. A session
// of a former version does not say of whose document it is a copy: it acts for the author of the
// canvas if that is its creator too.
func (l *loader) actorOfSession(ctx context.Context, v *store.Session) (access.Actor, error) {
	if v.Actor.As != "" {
		return v.Actor, nil
	}
	c, err := l.store.Canvases.Get(ctx, v.Tenant, v.Canvas)
	if errors.Is(err, store.ErrNotFound) {
		err = nil // the session outlives its canvas
	}
	return access.Actor{User: access.Both(c.User, c.Author), As: access.Author}, err
}

// checkNodes refuses a start, an end or outputs that the canvas does not allow, before anything is
// written.
func (w *work) checkNodes() error {
	opt := engine.Options{From: w.job.From, Until: w.job.Until, Pins: w.job.pins()}
	if err := opt.Check(w.canvas); err != nil {
		return fmt.Errorf("%w: %w", ErrCanvas, err)
	}
	return nil
}

// prepareLate makes the work of a job whose run is stored, and claims its session, which it may
// hold already.
func (l *loader) prepareLate(ctx context.Context, lease *runlog.Lease, j Job, a *memlimit.Account) (*work, error) {
	waiting, done := l.turns.waiting(ctx, lease.Context())
	defer done()
	for {
		w := &work{job: j, began: time.Now(), memory: a}
		err := l.prepare(waiting, w)
		if err != nil {
			w.release()
			return w, err
		}
		if w.session.ID == "" || w.session.Run == j.ID {
			return w, nil
		}
		err = l.store.Sessions.Claim(ctx, w.session, j.ID)
		if err == nil {
			l.turns.reportOrphan(w)
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
