package limit

import (
	"slices"
	"sync"
	"time"
)

// Turn is a call that was admitted. Its methods accept a nil Turn, which a nil [Limiter] returns.
type Turn struct {
	limiter *Limiter
	call    Call
	scopes  []*scope // model, tenant, run
	number  uint64   // order of arrival
	entered time.Time
	ready   chan struct{} // closed when the call starts, or fails with err
	began   time.Time     // set before ready is closed, as err is
	err     error
	left    sync.Once
	held    bool // a step of [Turn.Hold] runs; guarded by the mutex of the limiter
	resting bool // its slot is free for others; guarded by the mutex of the limiter
}

// started reports whether the call left its queue.
func (t *Turn) started() bool {
	select {
	case <-t.ready:
		return true
	default:
		return false
	}
}

// Waited returns how long the call was in the queue.
func (t *Turn) Waited() time.Duration {
	if t == nil {
		return 0
	}
	return t.began.Sub(t.entered)
}

// restAfter is the time after which the call of a busy caller loses its slot.
const restAfter = time.Second

// Hold runs a step of the caller during which the call receives nothing, such as a reader that is
// not ready for more. A long step frees the slot until its end: the reader may be waiting for
// another call that needs it. The call then continues without waiting again.
func (t *Turn) Hold(step func() bool) bool {
	if t == nil || !t.hold() {
		return step()
	}
	timer := time.AfterFunc(restAfter, t.rest)
	defer func() {
		timer.Stop()
		t.wake()
	}()
	return step()
}

// hold begins a step, and reports whether the number of calls at once is limited.
func (t *Turn) hold() bool {
	t.limiter.mu.Lock()
	defer t.limiter.mu.Unlock()
	t.held = slices.ContainsFunc(t.scopes, func(s *scope) bool { return s.limits.Concurrency > 0 })
	return t.held
}

// rest frees the slot during a step.
func (t *Turn) rest() {
	t.limiter.mu.Lock()
	defer t.limiter.mu.Unlock()
	if !t.held {
		return
	}
	t.resting = true
	for _, s := range t.scopes {
		s.active--
	}
	t.limiter.dispatch(time.Now())
}

// wake ends a step, and takes the slot again if it was freed.
func (t *Turn) wake() {
	t.limiter.mu.Lock()
	defer t.limiter.mu.Unlock()
	t.held = false
	if !t.resting {
		return
	}
	t.resting = false
	for _, s := range t.scopes {
		s.active++
	}
}

// Retry counts one more request of the call. It does not wait.
func (t *Turn) Retry() {
	if t == nil {
		return
	}
	now := time.Now()
	t.limiter.mu.Lock()
	defer t.limiter.mu.Unlock()
	for _, s := range t.scopes {
		s.count(now, 1, 0)
	}
}

// Pause keeps the calls of the model from starting for a time, for all runs, as its server asked.
func (t *Turn) Pause(d time.Duration) {
	if t != nil && d > 0 {
		t.limiter.pause(t.scopes[0], d)
	}
}

// Paused returns how long the model is paused from now on.
func (t *Turn) Paused() time.Duration {
	if t == nil {
		return 0
	}
	t.limiter.mu.Lock()
	defer t.limiter.mu.Unlock()
	return max(0, time.Until(t.scopes[0].paused))
}

// AsEstimated is the argument of [Turn.Leave] if the number of used tokens is unknown.
const AsEstimated = -1

// Leave ends the call, which used so many tokens. Only the first Leave counts.
func (t *Turn) Leave(tokens int64) {
	if t == nil {
		return
	}
	if tokens == AsEstimated {
		tokens = t.call.Tokens
	}
	t.left.Do(func() { t.limiter.leave(t, tokens) })
}

func (l *Limiter) leave(t *Turn, tokens int64) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range t.scopes {
		s.active--
		if more := tokens - t.call.Tokens; more > 0 {
			s.count(now, 0, more)
		} else {
			s.window.refund(t.began, -more)
		}
		if s.idle(now) {
			delete(l.scopes, s.key)
		}
	}
	l.dispatch(now)
}
