package plugin

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// slots bound how many guests compute at once and share the time fairly: by tenant, and among the
// plugins of a tenant. A guest that has computed for a [slice] while others wait takes its place in
// the queue again, so that a call never waits for the end of another one.
type slots struct {
	queued atomic.Int32 // guests that wait

	mu      sync.Mutex
	free    int               // below 0 after seize
	tenants map[string]*share // those with a waiting guest, or with recent use while others waited
	floor   time.Duration     // used by the tenant that got the last place; new ones begin there
}

const (
	slice = 100 * time.Microsecond // that a guest computes while others wait
	// breath is the time that it computes until the rest of the host gets the processor. A request
	// takes tens of turns of the host's goroutines, and each waits that long behind guests that
	// occupy all processors.
	breath = 200 * time.Microsecond
)

// share is the part of a tenant, or of a plugin of it.
type share struct {
	used    time.Duration
	waiting int
	floor   time.Duration     // of plugins
	plugins map[string]*share // of a tenant
	queue   []*turn           // of a plugin, oldest first
}

// turn is a guest that waits.
type turn struct{ ready chan struct{} }

func newSlots(n int) *slots { return &slots{free: n, tenants: map[string]*share{}} }

// enter takes a place and returns how long that took. It reports false when ctx ends or after wait,
// if wait is positive.
func (s *slots) enter(ctx context.Context, tenant, plugin string, wait time.Duration) (time.Duration, bool) {
	s.mu.Lock()
	if s.free > 0 && s.queued.Load() == 0 {
		s.free--
		s.mu.Unlock()
		return 0, true
	}
	t := s.join(tenant, plugin)
	s.mu.Unlock()
	began := time.Now()
	var late <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-t.ready:
		return time.Since(began), true
	case <-ctx.Done():
	case <-late:
	}
	return time.Since(began), !s.quit(tenant, plugin, t)
}

// leave releases a slot that was taken at since.
func (s *slots) leave(tenant, plugin string, since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queued.Load() == 0 {
		s.free++
		if len(s.tenants) > 0 {
			clear(s.tenants)
		}
		return
	}
	t, p := s.of(tenant, plugin)
	computed := time.Since(since)
	t.used += computed
	p.used += computed
	if s.free < 0 {
		s.free++
		return
	}
	s.next()
}

// seize takes a place although none is free, for a guest that only has to end.
func (s *slots) seize() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free--
}

// crowded reports whether guests wait.
func (s *slots) crowded() bool { return s.queued.Load() > 0 }

// of finds the shares of a plugin and its tenant, or begins them where the others are.
func (s *slots) of(tenant, plugin string) (t, p *share) {
	t = s.tenants[tenant]
	if t == nil {
		t = &share{used: s.floor, plugins: map[string]*share{}}
		s.tenants[tenant] = t
	}
	p = t.plugins[plugin]
	if p == nil {
		p = &share{used: t.floor}
		t.plugins[plugin] = p
	}
	return t, p
}

func (s *slots) join(tenant, plugin string) *turn {
	t, p := s.of(tenant, plugin)
	// A caller that was idle has no claim on the time that others used.
	if t.waiting == 0 {
		t.used = max(t.used, s.floor)
	}
	if p.waiting == 0 {
		p.used = max(p.used, t.floor)
	}
	w := &turn{make(chan struct{})}
	p.queue = append(p.queue, w)
	t.waiting++
	p.waiting++
	s.queued.Add(1)
	return w
}

// quit takes a guest out of the queue. It reports false when the guest has already got its place.
func (s *slots) quit(tenant, plugin string, w *turn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-w.ready:
		return false
	default:
	}
	t, p := s.of(tenant, plugin)
	for i := range p.queue {
		if p.queue[i] == w {
			p.queue = append(p.queue[:i], p.queue[i+1:]...)
			break
		}
	}
	s.left(t, p)
	return true
}

func (s *slots) left(t, p *share) {
	t.waiting--
	p.waiting--
	s.queued.Add(-1)
}

// next lends a place to the plugin that has used least of the tenant that has used least.
func (s *slots) next() {
	t := least(s.tenants)
	s.floor = max(s.floor, t.used)
	p := least(t.plugins)
	t.floor = max(t.floor, p.used)
	w := p.queue[0]
	p.queue = p.queue[1:]
	s.left(t, p)
	close(w.ready)
}

// least returns the share with waiting guests that has used least.
func least(shares map[string]*share) (found *share) {
	for _, s := range shares {
		if s.waiting > 0 && (found == nil || s.used < found.used) {
			found = s
		}
	}
	return found
}
