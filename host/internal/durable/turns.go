package durable

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/easel-canvas/easel/host/internal/store"
)

// turns puts the turns of one session in line on this host: whoever waits here
// does not ask the store. Between hosts the claim in the store decides.
type turns struct {
	mu   sync.Mutex
	line map[string]chan struct{} // closed when the session's turn on this host is over
}

// enter waits for a session and takes it; leave lets the next one in.
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
			return nil, ctx.Err()
		}
	}
}

// claim gives the session of a job to it, as soon as it is free.
//
// Errors: [ErrSession], [ErrBusy].
func (r *Runs) claim(ctx context.Context, j *Job) (store.Session, error) {
	pause := 5 * time.Millisecond
	for {
		v, err := r.cfg.Store.ClaimSession(ctx, j.Tenant, j.Session, j.ID)
		switch {
		case err == nil && v.Canvas != j.Canvas:
			err = errors.Join(fmt.Errorf("session %q: %w", j.Session, ErrSession),
				r.cfg.Store.FreeSession(ctx, j.Tenant, j.Session, j.ID))
			return store.Session{}, err
		case errors.Is(err, store.ErrNotFound):
			return store.Session{}, fmt.Errorf("session %q: %w", j.Session, ErrSession)
		case !errors.Is(err, store.ErrBusy):
			return v, err
		}
		select {
		case <-ctx.Done():
			return store.Session{}, fmt.Errorf("session %q: %w", j.Session, ErrBusy)
		case <-time.After(pause):
		}
		pause = min(2*pause, 200*time.Millisecond)
	}
}
