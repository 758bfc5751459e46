package runs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
)

// turns puts the turns of one session in line on this host: a turn that waits
// here does not ask the store. Between hosts the claim in the store decides.
type turns struct {
	store    *store.Store
	log      *runlog.Log
	patience time.Duration // of a turn, see [Config]
	logger   *slog.Logger
	scan     func() // requests an early scan for orphaned runs

	mu   sync.Mutex
	line map[string]chan struct{} // closed when the session's turn on this host is over
}

// enter waits for a session and takes it; leave lets the next one in. Errors: see waitError.
func (t *turns) enter(ctx context.Context, session string) (leave func(), err error) {
	for {
		t.mu.Lock()
		if t.line == nil {
			t.line = map[string]chan struct{}{}
		}
		busy := t.line[session]
		if busy == nil {
			over := make(chan struct{})
			t.line[session] = over
			t.mu.Unlock()
			return func() {
				t.mu.Lock()
				delete(t.line, session)
				t.mu.Unlock()
				close(over)
			}, nil
		}
		t.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, waitError(ctx)
		}
	}
}

// waiting bounds the waiting of a turn for its session: by ctx, by
// [Config].Patience, and by the end of stop with what ended it. A cancel does not
// end it: the run has to begin for that.
func (t *turns) waiting(ctx, stop context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	late := time.AfterFunc(t.patience, func() { cancel(ErrBusy) })
	unhook := context.AfterFunc(stop, func() {
		if cause := context.Cause(stop); !errors.Is(cause, runlog.ErrCanceled) {
			cancel(cause)
		}
	})
	return ctx, func() {
		unhook()
		late.Stop()
		cancel(nil)
	}
}

// waitError returns the reason why a turn stops waiting: [ErrClosed], an error of lost
// or [ErrBusy].
func waitError(ctx context.Context) error {
	if cause := context.Cause(ctx); errors.Is(cause, ErrClosed) || lost(cause) {
		return cause
	}
	return ErrBusy
}

// awaitSession reads the session of a job when it is free, or held by the job's
// own run or by an orphan: a run that will never free it.
//
// A session is continued by the side that began it: by the visitor to whom it belongs, or by
// members and API clients.
//
// Errors: [ErrSession]; that of waitError.
func (t *turns) awaitSession(ctx context.Context, j *Job) (store.Session, error) {
	var last holder
	began, pause := time.Now(), 5*time.Millisecond
	for {
		v, err := t.store.Sessions.Head(ctx, j.Tenant, j.Session)
		foreign := err == nil && (v.Canvas != j.Canvas || v.Visitor != j.VisitorKey)
		if err == nil && !foreign {
			if v.Run == "" || v.Run == j.ID || t.orphaned(&v, &last) {
				return v, nil
			}
			if err = t.holder(ctx, &v, &last); err == nil && t.orphaned(&v, &last) {
				continue // the session is read after the row, since both end in one commit
			}
		}
		switch {
		case err != nil && ctx.Err() != nil:
			return v, fmt.Errorf("session %q: %w", j.Session, waitError(ctx))
		case errors.Is(err, store.ErrNotFound), foreign:
			return v, fmt.Errorf("session %q: %w", j.Session, ErrSession)
		case err != nil:
			return v, err
		}
		if time.Since(began) > young {
			t.scan() // its host may have died before the run log had the run
		}
		select {
		case <-ctx.Done():
			return v, fmt.Errorf("session %q: %w", j.Session, waitError(ctx))
		case <-time.After(pause):
		}
		pause = min(2*pause, 200*time.Millisecond)
	}
}

// holder is a run that holds a session, as its row was read last.
type holder struct {
	run   string
	row   rowState
	since time.Time // when that was read first
}

// holder reads the row of the run that holds a session.
func (t *turns) holder(ctx context.Context, v *store.Session, last *holder) error {
	state := rowMissing
	row, err := t.store.Runs.Get(ctx, v.Tenant, v.Run)
	if err == nil {
		state = rowStateOf(row)
	} else if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if last.run != v.Run || last.row != state {
		*last = holder{v.Run, state, time.Now()}
	}
	return nil
}

// orphaned reports whether nothing will free a session that a run holds. A claim
// without a row may be that of a host of a former version, which is about to
// write the run, unless this host is alone.
func (t *turns) orphaned(v *store.Session, by *holder) bool {
	if by.run != v.Run || decide(situation{sessionHeld, by.row, logUnread}) != freeSession {
		return false
	}
	return by.row != rowMissing || t.log.Alone() || time.Since(by.since) > young
}

// reportOrphan logs that the work's session was taken from an orphan.
func (t *turns) reportOrphan(w *work) {
	if from := w.session.Run; from != "" && from != w.job.ID {
		t.logger.Warn("session was held by a run that has ended or does not exist; freed for the next turn",
			"session", w.job.Session, "held_by", from, "run", w.job.ID)
	}
}
