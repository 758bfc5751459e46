package main

import (
	"github.com/easel-canvas/easel/engine"
)

// held is a canvas behind a handle, parsed once, with its conversation.
type held struct {
	canvas *engine.Canvas
	state  *engine.State
	busy   bool // guarded by bridge.mu; the other fields belong to the call that set it
}

// patch changes params of one node; the others stay compiled.
func (b *bridge) patch(header engine.Value, _ string) ([]byte, error) {
	h, free, err := b.borrow(header.Get("canvas"))
	if err != nil {
		return nil, err
	}
	defer free()
	canvas, err := h.canvas.Patch(header.Get("node").Str(), header.Get("params"))
	if err != nil {
		return nil, err
	}
	state, err := canvas.Adopt(h.state)
	if err != nil {
		return nil, err
	}
	h.canvas, h.state = canvas, state
	return empty, nil
}

func (b *bridge) save(header engine.Value, _ string) ([]byte, error) {
	h, free, err := b.borrow(header.Get("canvas"))
	if err != nil {
		return nil, err
	}
	defer free()
	return h.canvas.Save(h.state), nil
}

// restore takes the state of a saved document of the same canvas.
func (b *bridge) restore(header engine.Value, body string) ([]byte, error) {
	h, free, err := b.borrow(header.Get("canvas"))
	if err != nil {
		return nil, err
	}
	defer free()
	state, err := h.canvas.Restore([]byte(body))
	if err != nil {
		return nil, err
	}
	h.state = state
	return empty, nil
}

func (b *bridge) reset(header engine.Value, _ string) ([]byte, error) {
	h, free, err := b.borrow(header.Get("canvas"))
	if err != nil {
		return nil, err
	}
	defer free()
	h.state.Reset(header.Get("keep_history").True())
	return empty, nil
}

// form returns the fields that a person fills in to run one node alone.
func (b *bridge) form(header engine.Value, _ string) ([]byte, error) {
	h, free, err := b.borrow(header.Get("canvas"))
	if err != nil {
		return nil, err
	}
	defer free()
	form, err := h.canvas.InputForm(header.Get("node").Str())
	if err != nil {
		return nil, err
	}
	return form.AppendJSON(nil), nil
}

// rewind prepares a canvas that waits for a person, or is in the middle of a run, for a new start.
func (h *held) rewind() error {
	if !h.state.Paused() && !h.state.Unfinished() {
		return nil
	}
	doc, err := engine.ParseJSON(h.canvas.Save(h.state))
	if err != nil {
		return err
	}
	state, err := h.canvas.Restore(doc.Without("waiting").Without("run").AppendJSON(nil))
	if err != nil {
		return err
	}
	h.state = state
	return nil
}

// base sets the initial values of a run from the middle: {outputs: node -> outputs, variables: name
// -> value}.
func (h *held) base(v engine.Value) error {
	for node, outputs := range v.Get("outputs").Fields() {
		for name, x := range outputs.Fields() {
			if err := h.state.SetOutput(node, name, x); err != nil {
				return err
			}
		}
	}
	for name, x := range v.Get("variables").Fields() {
		h.state.SetGlobal(name, x)
	}
	return nil
}
