package durable

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/easel-canvas/easel/engine"
)

// plans keeps compiled canvases by the content of their document, so that the
// same canvas is compiled once. A canvas with plugins is not kept: what a
// plugin's name stands for may change.
type plans struct {
	registry *engine.Registry
	mu       sync.Mutex
	byHash   map[[32]byte]*engine.Canvas
	saved    map[savedAs]revision
}

// savedAs names the document of a canvas of the records store.
type savedAs struct {
	tenant, id string
	published  bool
}

func savedAsOf(j *Job) savedAs { return savedAs{j.Tenant, j.Canvas, j.Published} }

// revision is a saved canvas, or what was published of it, as it was read last.
// It may be out of date: [store.Store.StartRunAt] finds out.
type revision struct {
	rev    int64
	doc    []byte
	canvas *engine.Canvas
}

// mostPlans bounds the cache; when it is full it starts anew, which is rare
// and needs no bookkeeping per use.
const mostPlans = 256

// Load compiles a document. Errors: [ErrCanvas].
func (p *plans) load(dsl []byte) (*engine.Canvas, error) {
	sum := sha256.Sum256(dsl)
	p.mu.Lock()
	c := p.byHash[sum]
	p.mu.Unlock()
	if c != nil {
		return c, nil
	}
	c, err := engine.Load(p.registry, dsl)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCanvas, err)
	}
	if c.IsPipeline() {
		return nil, fmt.Errorf("%w: %w", ErrCanvas, engine.ErrPipeline)
	}
	if bytes.Contains(dsl, []byte(engine.PluginPrefix)) {
		return c, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byHash == nil || len(p.byHash) >= mostPlans {
		p.byHash = map[[32]byte]*engine.Canvas{}
	}
	p.byHash[sum] = c
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
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.saved == nil || len(p.saved) >= mostPlans {
		p.saved = map[savedAs]revision{}
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
func (r *Runs) Load(dsl []byte) (*engine.Canvas, error) { return r.plans.load(dsl) }
