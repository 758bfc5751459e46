package runs

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/easel-canvas/easel/host/internal/runlog"
)

// A run that has lost two hosts may be what ended them. Such runs are continued one at a time, so
// that the one that does it again takes no other run with it: the others stay in the queue, where
// the death of a host does not count for them. What still ends its host then fails after as many
// attempts as any run.
const (
	suspectFailures = 2
	// quarantine is the time that a suspect runs alone. One that lasts longer did not end its host
	// soon after its start.
	quarantine = 30 * time.Second
)

// suspects lets one suspect work at a time.
type suspects struct {
	full   func() error // why no run may start now; may be nil
	logger *slog.Logger

	mu   sync.Mutex
	busy bool
}

// admit takes the place of the one suspect. leave may be called more than once.
func (s *suspects) admit(most time.Duration) (leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy {
		return nil, false
	}
	s.busy = true
	free := sync.OnceFunc(func() {
		s.mu.Lock()
		s.busy = false
		s.mu.Unlock()
	})
	timer := time.AfterFunc(most, free)
	return func() {
		timer.Stop()
		free()
	}, true
}

// Gate decides whether a queued run may be claimed now; it implements [runlog.Config].Gate.
func (s *suspects) Gate(run runlog.Run) (leave func(), ok bool) {
	if s.full != nil && s.full() != nil {
		return nil, false
	}
	if run.Failures < suspectFailures {
		return func() {}, true
	}
	leave, ok = s.admit(quarantine)
	if ok {
		s.logger.Warn("run has lost several hosts and is continued alone", "run", run.ID, "failures", run.Failures)
	}
	return leave, ok
}

// aborts cancels single runs of this host, each with its cause.
type aborts struct {
	mu   sync.Mutex
	runs map[string]context.CancelCauseFunc
}

// begin returns the context of a run, which Abort may cancel.
func (a *aborts) begin(ctx context.Context, run string) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.runs == nil {
		a.runs = map[string]context.CancelCauseFunc{}
	}
	a.runs[run] = cancel
	return ctx, func() {
		a.mu.Lock()
		delete(a.runs, run)
		a.mu.Unlock()
		cancel(nil)
	}
}

// Abort ends a run of this host as failed because of why; it reports whether the run works here.
func (a *aborts) Abort(run string, why error) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	cancel := a.runs[run]
	if cancel != nil {
		cancel(why)
	}
	return cancel != nil
}
