package node

import (
	"sync"
	"time"

	"github.com/easel-canvas/easel/host/internal/plugin"
)

// keepRun is the time for which the state of a run outlives its last use. Runs report their end;
// this is for tools inside an Agent, which are not notified.
const keepRun = time.Hour

// runs holds the state of plugins for a run: Extism variables, the instance of a plugin with state
// "run", and the module that the run began with, which serves it also after an update.
type runs struct {
	mu    sync.Mutex
	open  map[string]map[holder]*held // by run
	swept time.Time
}

// holder is a major of a plugin working for a tenant.
type holder struct{ tenant, plugin, major string }

type held struct {
	scratch *plugin.Scratch
	module  *plugin.Module
	pinned  bool
	used    time.Time
}

// module returns the module that serves a run: the one it began with, or m at its first use and
// when the former was disabled.
func (r *runs) module(m *plugin.Module, tenant, run string) *plugin.Module {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hold(m, tenant, run).module
}

// join returns the variables of a plugin in a run.
func (r *runs) join(m *plugin.Module, tenant, run string) *plugin.Scratch {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hold(m, tenant, run).scratch
}

// hold returns the state of a plugin in a run. The caller holds mu.
func (r *runs) hold(m *plugin.Module, tenant, run string) *held {
	who, now := holder{tenant, m.Manifest().Name, m.Manifest().Major()}, time.Now()
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
	h.used = now
	if h.module != m && (h.module == nil || !h.pinned || !h.module.Serves()) {
		h.release()
		h.module, h.pinned = m, m.Pin()
	}
	return h
}

func (h *held) release() {
	if h.pinned {
		h.module.Unpin()
		h.pinned = false
	}
}

// sweep drops, from time to time, runs that were idle for long. The caller holds mu.
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
				h.release()
				delete(in, who)
			}
		}
		if len(in) == 0 {
			delete(r.open, run)
		}
	}
}

// end drops the state of a run.
func (r *runs) end(run string) {
	r.mu.Lock()
	in := r.open[run]
	delete(r.open, run)
	r.mu.Unlock()
	for who, h := range in {
		h.module.EndRun(who.tenant, run)
		h.release()
	}
}
