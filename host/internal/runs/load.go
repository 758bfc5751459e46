package runs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/easel-canvas/easel/host/internal/memlimit"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
)

// loader makes the work of jobs: it reads their document and state, waits for
// their session and reserves their memory.
type loader struct {
	*canvases
	turns    *turns
	reader   *reader
	stopping context.Context // ends when this host stops
}

// begin makes the work of a job; it writes nothing.
func (l *loader) begin(ctx context.Context, j Job, a *memlimit.Account) (*work, error) {
	w := &work{job: j, began: time.Now(), memory: a}
	if known := l.plans.last(&j); known.rev > 0 {
		w.rev, w.doc, w.canvas = known.rev, known.doc, known.canvas
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
		w.doc = v.DSL
		w.session = store.Session{ID: v.ID, Tenant: v.Tenant, Rev: v.Rev, Run: v.Run}
	case w.canvas == nil:
		c, err := l.current(steady, j)
		if err != nil {
			return err
		}
		w.doc = c.DSL
		if err := l.hold(w); err != nil {
			return err
		}
		if w.canvas, err = l.plans.load(w.doc); err != nil {
			return err
		}
		l.plans.keep(j, revision{c.Rev, w.doc, w.canvas})
	}
	if err := l.hold(w); err != nil {
		return err
	}
	if w.canvas == nil {
		if w.canvas, err = l.plans.load(w.doc); err != nil {
			return err
		}
	}
	w.state = w.canvas.State()
	if w.state.Unfinished() || j.Published && j.Keep == KeepNothing {
		// The document was saved in the middle of a run that is not continued, or
		// with what was said to the editor.
		w.state.Reset(false)
	}
	return w.checkNodes()
}

// checkNodes refuses a start at a node that is not there, before anything is
// written.
func (w *work) checkNodes() error {
	if id := w.job.From; id != "" {
		if c, _ := w.canvas.Component(id); c == nil {
			return fmt.Errorf("%w: no node %q in this canvas", ErrCanvas, id)
		}
	}
	return nil
}

// prepareLate makes the work of a job whose run is written down, and gives it its
// session, which it may hold already.
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
		err = l.store.ClaimSession(ctx, w.session, j.ID)
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
