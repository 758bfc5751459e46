package enginetest

import "github.com/easel-canvas/easel/engine"

// world is everything outside the engine during one run: stand-ins, and tapes around the ports that
// are real.
type world struct {
	ports     engine.Ports
	model     *Model
	memory    *Memory
	modelTape *ModelTape
	retriever *RetrieverTape
	files     *FilesTape
	lastID    uint64 // the ids of the run begin behind it
	given     *engine.Ports
}

func newWorld(run *Run, lastID uint64, given *engine.Ports) *world {
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
	p.Memory = w.memory
	if p.Speech == nil {
		p.Speech = Voice{}
	}
	if p.HTTP == nil {
		p.HTTP = HTTP{}
	}
	if p.Clock == nil {
		p.Clock = &Clock{}
	}
	p.IDs = w.freshIDs()
	return w
}

// freshIDs makes ids as at the start of the run.
func (w *world) freshIDs() engine.IDs {
	if w.given.IDs != nil {
		return w.given.IDs
	}
	return IDsFrom(w.lastID)
}

// calls are the model calls of the run.
func (w *world) calls() []engine.Value {
	if w.modelTape != nil {
		return w.modelTape.Calls()
	}
	return w.model.Calls()
}

// record puts what the real ports answered into a run, so that stand-ins can answer the same.
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
}
