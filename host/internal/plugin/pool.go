package plugin

import (
	"context"
	"sync"
	"time"

	"github.com/easel-canvas/easel/plugins/contract"
)

// pool keeps instances that ended their call well. Instances of one tenant never
// serve another; with StateRun, those of one run never serve another run.
type pool struct {
	m     *Module
	mu    sync.Mutex
	idle  map[string][]*guest // newest last
	runs  map[string]*place
	timed bool // an instance was made
	fresh bool // every call gets its own instance
}

// place holds the one instance of a run. free carries it from call to call, nil
// before the first; users counts the calls that have it or wait for it.
type place struct {
	free  chan *guest
	users int
	ended bool
}

// Bounds of reuse.
const (
	maxIdle     = 16      // instances kept per tenant
	maxReuse    = 100_000 // calls before an instance is replaced; at 10,000 a Go guest pays 1 µs a call for it
	runMaxTimes = 10      // a run's instance may be idle this many times longer
)

func newPool(m *Module) *pool {
	return &pool{m: m, idle: map[string][]*guest{}, runs: map[string]*place{}}
}

// take returns an idle instance or nil when a new one has to be made. For a run
// it waits until the run's instance is free. Unless it reports false, give must follow.
func (p *pool) take(ctx context.Context, req *CallRequest) (*guest, bool) {
	if p.m.manifest.State == contract.StateRun {
		at := p.join(req)
		select {
		case g := <-at.free:
			return g, true
		case <-ctx.Done():
			p.leave(req, at)
			return nil, false
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.idle[req.Tenant]
	if len(list) == 0 || req.command {
		return nil, true
	}
	g := list[len(list)-1]
	list[len(list)-1] = nil
	p.idle[req.Tenant] = list[:len(list)-1]
	return g, true
}

// firstTook decides by the time of the first instance whether each call gets its own.
func (p *pool) firstTook(took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.timed {
		p.timed = true
		state := p.m.manifest.State
		p.fresh = (state == "" || state == contract.StateNone) && took < p.m.host.cfg.FreshUnder
	}
}

func runKey(tenant, run string) string { return tenant + "\x00" + run }

// join counts a call in at the place of its run.
func (p *pool) join(req *CallRequest) *place {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.runs[runKey(req.Tenant, req.Run)]
	if at == nil {
		at = &place{free: make(chan *guest, 1)}
		at.free <- nil
		p.runs[runKey(req.Tenant, req.Run)] = at
	}
	at.users++
	return at
}

// leave counts a call out; the last one of an ended run closes its instance.
func (p *pool) leave(req *CallRequest, at *place) {
	p.mu.Lock()
	at.users--
	last := at.ended && at.users == 0
	if last {
		delete(p.runs, runKey(req.Tenant, req.Run))
	}
	p.mu.Unlock()
	if last {
		closeAll([]*guest{<-at.free})
	}
}

// give returns an instance to the pool after a call; good means that it had no fault.
func (p *pool) give(g *guest, req *CallRequest, good bool) {
	if g != nil && (!good || g.served >= maxReuse || int(g.memorySize()) > p.m.limits.MemoryMB<<19) {
		g.close()
		g = nil
	}
	if p.m.manifest.State == contract.StateRun {
		p.mu.Lock()
		at := p.runs[runKey(req.Tenant, req.Run)]
		p.mu.Unlock()
		at.free <- g
		p.leave(req, at)
		return
	}
	if g == nil {
		return
	}
	p.mu.Lock()
	list := p.idle[req.Tenant]
	if keep := !p.fresh && len(list) < maxIdle; keep {
		p.idle[req.Tenant] = append(list, g)
		g = nil
	}
	p.mu.Unlock()
	if g != nil {
		g.close()
	}
}

// endRun frees the instance of a run, after its last call.
func (p *pool) endRun(tenant, run string) {
	p.mu.Lock()
	at := p.runs[runKey(tenant, run)]
	idle := at != nil && at.users == 0
	if at != nil {
		at.ended = true
	}
	if idle {
		delete(p.runs, runKey(tenant, run))
	}
	p.mu.Unlock()
	if idle {
		closeAll([]*guest{<-at.free})
	}
}

func closeAll(list []*guest) {
	for _, g := range list {
		if g != nil {
			g.close()
		}
	}
}

// expire closes the instances that have been idle since before then.
func (p *pool) expire(before time.Time) {
	var old []*guest
	p.mu.Lock()
	for tenant, list := range p.idle {
		n := 0
		for n < len(list) && list[n].resumed.Before(before) {
			n++
		}
		old = append(old, list[:n]...)
		if n == len(list) {
			delete(p.idle, tenant)
		} else {
			p.idle[tenant] = append([]*guest(nil), list[n:]...)
		}
	}
	longer := before.Add(-(runMaxTimes - 1) * p.m.host.cfg.IdleFor)
	for key, at := range p.runs {
		if at.users > 0 {
			continue
		}
		g := <-at.free
		if g != nil && !g.resumed.Before(longer) {
			at.free <- g
			continue
		}
		delete(p.runs, key)
		old = append(old, g)
	}
	p.mu.Unlock()
	closeAll(old)
}

// drain closes every idle instance.
func (p *pool) drain() { p.expire(time.Now().Add(1000 * time.Hour)) }

// idleCount returns how many instances wait for a call.
func (p *pool) idleCount() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, list := range p.idle {
		n += len(list)
	}
	n += len(p.runs)
	return n
}
