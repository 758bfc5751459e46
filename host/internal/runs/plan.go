package runs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/access"
)

// plans caches compiled canvases by the content of their document, so that the same canvas is
// compiled once. A canvas with plugins is not cached: the module of a plugin's name may change.
type plans struct {
	registry *engine.Registry
	most     int64      // bytes of the cache
	large    sync.Mutex // held while a large document is compiled, so that many requests for one need the memory once

	mu     sync.Mutex
	used   int64 // bytes of byHash and saved, as planSize estimates them
	byHash map[[32]byte]plan
	saved  map[savedAs]revision
}

// plan is a compiled document.
type plan struct {
	doc    []byte
	canvas *engine.Canvas
}

// savedAs names the document of a canvas of the records store.
type savedAs struct {
	tenant, id string
	published  bool
}

func savedAsOf(j *Job) savedAs { return savedAs{j.Tenant, j.Canvas, j.Published} }

// revision is a saved canvas, or what was published of it, as it was read last.
// It may be out of date: [store.Runs.StartAt] finds out.
type revision struct {
	rev    int64
	doc    []byte
	canvas *engine.Canvas
	actor  access.Actor // of doc
	whose  access.Object
}

// Bounds of the cache. When it is full it is emptied, which is rare and needs no bookkeeping per
// use.
const (
	mostPlans     = 256
	mostPlanBytes = 32 << 20
	largePlan     = 1 << 20 // bytes of a document from which one is compiled at a time
)

// planSize estimates what a compiled canvas holds: its document as text and parsed, and the graph
// made of it.
func planSize(dsl []byte) int64 { return 2*int64(len(dsl)) + jsonSize(dsl) }

// cached is the compiled canvas of a document, or nil.
func (p *plans) cached(sum [32]byte) *engine.Canvas {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byHash[sum].canvas
}

// named returns a cached document and its plan by its hash, see [store.PlanOf]; nil if it is not
// cached.
func (p *plans) named(hash string) ([]byte, *engine.Canvas) {
	sum, err := hex.DecodeString(hash)
	if err != nil || len(sum) != sha256.Size {
		return nil, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	v := p.byHash[[sha256.Size]byte(sum)]
	return v.doc, v.canvas
}

// room makes room for one more entry of a size. It returns false for one that is larger than the
// cache. The caller holds mu.
func (p *plans) room(size int64) bool {
	most := p.most
	if most == 0 {
		most = mostPlanBytes
	}
	if size > most {
		return false
	}
	if p.byHash == nil || len(p.byHash) >= mostPlans || len(p.saved) >= mostPlans || p.used+size > most {
		p.byHash, p.saved, p.used = map[[32]byte]plan{}, map[savedAs]revision{}, 0
	}
	p.used += size
	return true
}

// load compiles a document. Errors: [ErrCanvas].
func (p *plans) load(dsl []byte) (*engine.Canvas, error) {
	sum := sha256.Sum256(dsl)
	c := p.cached(sum)
	if c == nil && len(dsl) > largePlan {
		p.large.Lock()
		defer p.large.Unlock()
		c = p.cached(sum)
	}
	if c != nil {
		return c, nil
	}
	c, err := engine.Load(p.registry, dsl)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCanvas, err)
	}
	if bytes.Contains(dsl, []byte(engine.PluginPrefix)) {
		return c, nil
	}
	size := planSize(dsl)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.room(size) {
		p.byHash[sum] = plan{dsl, c}
	}
	return c, nil
}

// last is the canvas of a job as it was read last; its rev is 0 when it must be
// read. Runs that save their state change the canvas themselves, so that only
// the others profit.
func (p *plans) last(j *Job) revision {
	if j.Keep != KeepNothing || j.Base != "" {
		return revision{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.saved[savedAsOf(j)]
}

// keep notes the canvas of a job as it was read, unless its plan is not kept.
func (p *plans) keep(j *Job, v revision) {
	if j.Keep != KeepNothing || v.rev == 0 || bytes.Contains(v.doc, []byte(engine.PluginPrefix)) {
		return
	}
	sum := sha256.Sum256(v.doc)
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, ok := p.saved[savedAsOf(j)]; ok && known.rev == v.rev {
		return
	}
	if !p.room(int64(len(v.doc))) {
		return
	}
	if p.byHash[sum].canvas == nil { // never added, or the cache was emptied since
		if !p.room(planSize(v.doc)) {
			return
		}
		p.byHash[sum] = plan{v.doc, v.canvas}
	}
	p.saved[savedAsOf(j)] = v
}

// forget drops the canvas of a job, which has changed.
func (p *plans) forget(j *Job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.saved, savedAsOf(j))
}

// Load compiles a document as a run would. Errors: [ErrCanvas].
func (cs *canvases) Load(dsl []byte) (*engine.Canvas, error) { return cs.plans.load(dsl) }
