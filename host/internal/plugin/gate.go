package plugin

import (
	"context"
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
	held  map[string]int // by tenant, without zeros
	queue []*visitor     // oldest first
}

// gateShare lets a single tenant use three quarters of a gate.
const gateShare = 3

// visitor waits for a place.
type visitor struct {
	tenant string
	ready  chan struct{}
}

func newGate(n int) *gate { return &gate{free: n, held: map[string]int{}} }

// enter takes a place for a tenant. It gives up when ctx ends or after wait, if wait is positive.
func (g *gate) enter(ctx context.Context, tenant string, wait time.Duration) bool {
	g.mu.Lock()
	if g.admits(tenant) {
		g.take(tenant)
		g.mu.Unlock()
		return true
	}
	v := &visitor{tenant, make(chan struct{})}
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
		return true
	case <-ctx.Done():
	case <-late:
	}
	return !g.quit(v)
}

// leave releases a slot of a tenant.
func (g *gate) leave(tenant string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.free++
	if g.held[tenant]--; g.held[tenant] == 0 {
		delete(g.held, tenant)
	}
	g.admitWaiting()
}

// busy returns how many places are taken.
func (g *gate) busy() (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, held := range g.held {
		n += held
	}
	return n
}

// admits reports whether a tenant may take a place.
func (g *gate) admits(tenant string) bool { return g.held[tenant] < gateShare*g.free }

func (g *gate) take(tenant string) {
	g.free--
	g.held[tenant]++
}

// admitWaiting assigns the free slots to waiting calls that may have one.
func (g *gate) admitWaiting() {
	for {
		next := -1
		for i, v := range g.queue {
			if g.admits(v.tenant) && (next < 0 || g.held[v.tenant] < g.held[g.queue[next].tenant]) {
				next = i
			}
		}
		if next < 0 {
			return
		}
		g.take(g.queue[next].tenant)
		close(g.queue[next].ready)
		g.queue = slices.Delete(g.queue, next, next+1)
	}
}

// quit takes a visitor out of the queue. It reports false when it got its place meanwhile.
func (g *gate) quit(v *visitor) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.queue, v)
	if i < 0 {
		return false
	}
	g.queue = slices.Delete(g.queue, i, i+1)
	return true
}
