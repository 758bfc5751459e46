package plugin

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// gate bounds how many calls are under way, and shares them among tenants: one may hold at most
// [gateShare] times as many places as are free, so that there is always room for another, however
// long its calls take. Freed places go to the waiting tenant that holds least.
type gate struct {
	mu    sync.Mutex
	free  int
	held  map[string]*holding // by tenant
	queue []*visitor          // oldest first
}

// holding counts the places of a tenant and its calls that wait for one.
type holding struct{ places, waiting int }

// maxIdleHoldings bounds the tenants without places that a gate keeps, so that most calls change no
// map.
const maxIdleHoldings = 64

// gateShare lets a single tenant use three quarters of a gate.
const gateShare = 3

// visitor waits for a place.
type visitor struct {
	tenant *holding
	ready  chan struct{}
}

func newGate(n int) *gate { return &gate{free: n, held: map[string]*holding{}} }

// enter takes a place for a tenant, which leave releases. It returns nil when ctx ends or after
// wait, if wait is positive.
func (g *gate) enter(ctx context.Context, tenant string, wait time.Duration) *holding {
	g.mu.Lock()
	h := g.of(tenant)
	if g.admits(h) {
		g.take(h)
		g.mu.Unlock()
		return h
	}
	v := &visitor{h, make(chan struct{})}
	h.waiting++
	g.queue = append(g.queue, v)
	g.mu.Unlock()
	var late <-chan time.Time
	if wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		late = t.C
	}
	select {
	case <-v.ready:
		return h
	case <-ctx.Done():
	case <-late:
	}
	if g.quit(v) {
		return nil
	}
	return h
}

// leave releases a place of a tenant.
func (g *gate) leave(h *holding) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.free++
	h.places--
	g.admitWaiting()
}

// of finds what a tenant holds.
func (g *gate) of(tenant string) *holding {
	h := g.held[tenant]
	if h == nil {
		if len(g.held) >= maxIdleHoldings {
			maps.DeleteFunc(g.held, func(_ string, h *holding) bool { return *h == holding{} })
		}
		h = &holding{}
		g.held[tenant] = h
	}
	return h
}

// busy returns how many places are taken.
func (g *gate) busy() (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, h := range g.held {
		n += h.places
	}
	return n
}

// admits reports whether a tenant may take a place.
func (g *gate) admits(h *holding) bool { return h.places < gateShare*g.free }

func (g *gate) take(h *holding) {
	g.free--
	h.places++
}

// admitWaiting assigns the free slots to waiting calls that may have one.
func (g *gate) admitWaiting() {
	for {
		next := -1
		for i, v := range g.queue {
			if g.admits(v.tenant) && (next < 0 || v.tenant.places < g.queue[next].tenant.places) {
				next = i
			}
		}
		if next < 0 {
			return
		}
		g.take(g.queue[next].tenant)
		g.queue[next].tenant.waiting--
		close(g.queue[next].ready)
		g.queue = slices.Delete(g.queue, next, next+1)
	}
}

// quit takes a visitor out of the queue. It reports false when the visitor has already got its
// place.
func (g *gate) quit(v *visitor) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.queue, v)
	if i < 0 {
		return false
	}
	g.queue = slices.Delete(g.queue, i, i+1)
	v.tenant.waiting--
	return true
}
