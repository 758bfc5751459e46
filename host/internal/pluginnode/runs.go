package pluginnode

import (
	"sync"
	"time"

	"github.com/easel-canvas/easel/host/internal/plugin"
)

// keepRun is how long what a run keeps outlives its last use. Runs say when they end; this is for
// tools inside an Agent, which are not told.
const keepRun = time.Hour

// runs keeps what plugins hold for a run: Extism variables, and the instance of a plugin with state
// "run".
type runs struct {
	mu    sync.Mutex
	open  map[string]map[holder]*held // by run
	swept time.Time
}

// holder is a plugin working for a tenant.
type holder struct{ tenant, plugin string }

type held struct {
	scratch *plugin.Scratch
	module  *plugin.Module
	used    time.Time
}

// join gives the variables of a plugin in a run.
func (r *runs) join(m *plugin.Module, tenant, run string) *plugin.Scratch {
	r.mu.Lock()
	defer r.mu.Unlock()
	who, now := holder{tenant, m.Manifest().Name}, time.Now()
	r.sweep(now)
	in := r.open[run]
	if in == nil {
		in = map[holder]*held{}
		r.open[run] = in
	}
	h := in[who]
	if h == nil {
		h = &held{scratch: &plugin.Scratch{}}
		in[who] = h
	}
	h.module, h.used = m, now
	return h.scratch
}

// sweep drops, once in a while, runs that were idle for long. The caller holds mu.
func (r *runs) sweep(now time.Time) {
	if r.open == nil {
		r.open, r.swept = map[string]map[holder]*held{}, now
	}
	if now.Sub(r.swept) < keepRun/10 {
		return
	}
	r.swept = now
	for run, in := range r.open {
		for who, h := range in {
			if now.Sub(h.used) > keepRun {
				delete(in, who)
			}
		}
		if len(in) == 0 {
			delete(r.open, run)
		}
	}
}

// end drops what a run kept.
func (r *runs) end(run string) {
	r.mu.Lock()
	in := r.open[run]
	delete(r.open, run)
	r.mu.Unlock()
	for who, h := range in {
		h.module.EndRun(who.tenant, run)
	}
}
