package engine

import (
	"context"
	"slices"
	"sync"
	"time"
)

// slots bounds the concurrency of a run: nodes, texts that are written early, the tools of agents,
// and the nodes in bodies and in inner canvases. A holder releases its slot while it only waits for
// others, so holders never wait for each other.
type slots struct {
	most int

	mu      sync.Mutex
	used    int
	waiting []*slotWaiter // oldest first
	wakes   map[*run]func()
}

// slotWaiter is a goroutine that waits for a slot.
type slotWaiter struct {
	hold  *slotHold
	ready chan struct{}
}

// take takes a slot if one is free.
func (s *slots) take() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used >= s.most {
		return false
	}
	s.used++
	return true
}

// force takes a slot even if none is free, for a holder that had one before the takeover.
func (s *slots) force() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used++
}

// free passes a slot to the goroutine that waited longest, or wakes the owners that may wait for
// one. mu is held.
func (s *slots) free() {
	s.used--
	for len(s.waiting) > 0 && s.used < s.most {
		w := s.waiting[0]
		s.waiting = s.waiting[1:]
		if !w.hold.over {
			w.hold.held = true
			s.used++
		}
		close(w.ready)
	}
	if s.used < s.most {
		for _, wake := range s.wakes {
			wake()
		}
	}
}

// join wakes the owner of a run when a slot is free, until leave.
func (s *slots) join(r *run) (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wakes == nil {
		s.wakes = map[*run]func(){}
	}
	s.wakes[r] = r.wakeUp
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.wakes, r)
	}
}

// slotHold is the slot of one holder. A nil slotHold never has one.
type slotHold struct {
	slots *slots
	held  bool // guarded by the mutex of slots, as over is
	over  bool // it takes none any more
}

// holdOf returns a holder of a slot that was taken.
func (s *slots) holdOf() *slotHold { return &slotHold{slots: s, held: true} }

// rest releases the slot while the holder waits. It reports whether there was one.
func (h *slotHold) rest() bool {
	if h == nil {
		return false
	}
	h.slots.mu.Lock()
	defer h.slots.mu.Unlock()
	if !h.held {
		return false
	}
	h.held = false
	h.slots.free()
	return true
}

// take takes a slot if one is free. It reports whether the holder may continue.
func (h *slotHold) take() bool {
	h.slots.mu.Lock()
	ok := h.taken()
	h.slots.mu.Unlock()
	return ok
}

// taken is take with the mutex of slots held. A holder that is over needs no slot.
func (h *slotHold) taken() bool {
	if h.over {
		return true
	}
	if h.slots.used >= h.slots.most {
		return false
	}
	h.held = true
	h.slots.used++
	return true
}

// wait takes a slot, when there is one. It fails only with the error of ctx.
func (h *slotHold) wait(ctx context.Context) error {
	s := h.slots
	s.mu.Lock()
	if h.taken() {
		s.mu.Unlock()
		return nil
	}
	w := &slotWaiter{h, make(chan struct{})}
	s.waiting = append(s.waiting, w)
	s.mu.Unlock()
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.waiting, w); i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
		return ctx.Err()
	}
	return nil // it has got one
}

// end releases the slot for good.
func (h *slotHold) end() {
	if h == nil {
		return
	}
	h.slots.mu.Lock()
	defer h.slots.mu.Unlock()
	h.over = true
	if h.held {
		h.held = false
		h.slots.free()
	}
}

// leastWait is the shortest wait for a slot of the run that is logged.
const leastWait = time.Millisecond

// logWait logs a wait for a slot of the run since a time.
func (c *CallOutputs) logWait(since time.Time) {
	if d := c.run.clock.Now().Sub(since); d >= leastWait {
		c.LogQueued(QueueRun, "", d)
	}
}

// waitForSlot takes a slot for h and logs how long that took: since a time, or if it is zero since
// now, unless a slot is free. It fails only with the error of ctx.
func (c *CallOutputs) waitForSlot(ctx context.Context, h *slotHold, since time.Time) error {
	if since.IsZero() {
		if h.take() {
			return nil
		}
		since = c.run.clock.Now()
	}
	err := h.wait(ctx)
	if err == nil {
		c.logWait(since)
	}
	return err
}

// parallelKey is the context key of a step of [Call.Beside].
type parallelKey struct{}

// parallelStep is one of several that run at the same time.
type parallelStep struct {
	slot  *slotHold
	found passages
}

// Beside runs step for each number below n at the same time, each with a slot of the run, and waits
// for all; it releases the slot of this execution for that time. It returns the errors of the
// steps. A step without a slot when ctx ends does not run, and has the error of ctx. Passages count
// in the order of the steps, whichever ends first.
func (c *Call) Beside(ctx context.Context, n int, step func(ctx context.Context, i int) error) []error {
	if c.slot.rest() {
		defer c.waitForSlot(ctx, c.slot, time.Time{}) //nolint:errcheck // without one, ctx has ended
	}
	errs, steps := make([]error, n), parallelSteps(c, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			b := &steps[i]
			defer b.slot.end()
			if errs[i] = c.waitForSlot(ctx, b.slot, time.Time{}); errs[i] == nil {
				errs[i] = step(context.WithValue(ctx, parallelKey{}, b), i)
			}
		})
	}
	all.Wait()
	joinSteps(c, steps)
	return errs
}
