package enginetest

import (
	"context"
	"fmt"

	"github.com/easel-canvas/easel/engine"
)

// world holds the ports of one run: stand-ins, and tapes around real ports.
type world struct {
	ports     engine.Ports
	model     *Model
	memory    *Memory
	modelTape *ModelTape
	retriever *RetrieverTape
	searches  *searches
	files     *FilesTape
	tape      *outsideTape    // around real ports of tools; nil without any
	answers   *outsideAnswers // of tools, from the case
	lastID    uint64          // the ids of the run begin behind it
	given     *engine.Ports
}

func newWorld(reg *engine.Registry, run *Run, lastID uint64, given *engine.Ports) *world {
	w := &world{
		model: &Model{Script: run.Script, Fallback: run.Fallback}, memory: &Memory{}, ports: *given,
		lastID: lastID, given: given,
	}
	p := &w.ports
	if p.Model != nil {
		w.modelTape = &ModelTape{Model: p.Model}
		p.Model = w.modelTape
	} else {
		p.Model = w.model
	}
	if p.Retriever != nil {
		w.retriever = &RetrieverTape{Retriever: p.Retriever}
		p.Retriever = w.retriever
	} else {
		p.Retriever = &Retriever{Found: run.Retrieval}
	}
	if p.Files != nil {
		w.files = &FilesTape{Files: p.Files}
		p.Files = w.files
	} else {
		p.Files = &Files{Blobs: run.Blobs}
	}
	w.searches = &searches{port: p.Retriever}
	p.Retriever = w.searches.full()
	w.openTools(run)
	if p.Canvases == nil && !run.Canvases.IsNull() {
		p.Canvases = inside{run.Canvases, reg}
	}
	p.Memory = w.memory
	if p.Speech == nil {
		p.Speech = Voice{}
	}
	if p.Clock == nil {
		p.Clock = &Clock{}
	}
	p.IDs = w.freshIDs()
	return w
}

// inside has the canvases of a case that run inside of its own.
type inside struct {
	canvases engine.Value
	registry *engine.Registry
}

// Canvas returns the document that ran. It has the rights of the outer run.
func (c inside) Canvas(_ context.Context, q engine.CanvasQuery) (sub engine.SubCanvas, err error) {
	dsl, ok := c.canvases.Get(q.ID).Lookup(q.Version)
	if !ok {
		return sub, fmt.Errorf("the case does not have canvas %q, version %q", q.ID, q.Version)
	}
	sub.Canvas, err = engine.Load(c.registry, dsl.AppendJSON(nil))
	return sub, err
}

// openTools wraps the real ports of tools and web requests in tapes; the others answer from the
// case where it has answers.
func (w *world) openTools(run *Run) {
	p := &w.ports
	if p.Tools != nil || p.MCP != nil || p.HTTP != nil {
		w.tape = &outsideTape{tools: p.Tools, mcp: p.MCP, http: p.HTTP}
	}
	w.answers = &outsideAnswers{calls: run.Tools, servers: run.Servers}
	switch {
	case p.Tools != nil:
		p.Tools = tapedTools{w.tape}
	case len(run.Tools) > 0:
		p.Tools = answeredTools{w.answers}
	}
	switch {
	case p.MCP != nil:
		p.MCP = tapedMCP{w.tape}
	case !run.Servers.IsNull():
		p.MCP = answeredMCP{w.answers}
	}
	switch {
	case p.HTTP != nil:
		p.HTTP = tapedHTTP{w.tape}
	case hasRequests(run.Tools):
		p.HTTP = answeredHTTP{w.answers}
	default:
		p.HTTP = HTTP{}
	}
}

// toolCalls returns the calls of tools, without their answers.
func (w *world) toolCalls() []engine.Value {
	if w.tape == nil {
		return w.answers.requests()
	}
	calls := w.tape.recorded()
	list := make([]engine.Value, len(calls))
	for i := range calls {
		list[i] = calls[i].request().Value()
	}
	return list
}

// repeated calls fn for each list of calls that a cut makes again.
func (w *world) repeated(fn func(r *repetitions, n int)) {
	w.searches.mu.Lock()
	fn(&w.searches.cuts, len(w.searches.list))
	w.searches.mu.Unlock()
	w.answers.mu.Lock()
	fn(&w.answers.cuts, len(w.answers.asked))
	w.answers.mu.Unlock()
	w.memory.mu.Lock()
	fn(&w.memory.cuts, len(w.memory.saved))
	w.memory.mu.Unlock()
}

// freshIDs makes ids as at the start of the run.
func (w *world) freshIDs() engine.IDs {
	if w.given.IDs != nil {
		return w.given.IDs
	}
	return IDsFrom(w.lastID)
}

// calls returns the model calls of the run.
func (w *world) calls() []engine.Value {
	if w.modelTape != nil {
		return w.modelTape.Calls()
	}
	return w.model.Calls()
}

// record stores the answers of the real ports in a run, so that stand-ins can replay them.
func (w *world) record(from *Run, to *Run) {
	*to = *from
	if w.modelTape != nil {
		to.Script, to.Fallback = w.modelTape.Script(), nil
	}
	if w.retriever != nil {
		to.Retrieval = w.retriever.Found()
	}
	if w.files != nil {
		to.Blobs = w.files.Blobs()
	}
	if w.tape != nil {
		to.Tools, to.Servers = w.tape.recorded(), w.tape.servers
	}
}
