package chunking

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
)

// Result holds the chunks of a recorded case.
type Result struct {
	ID     string
	Chunks []engine.Value // {text, doc_type_kwd, mom, img_id, position_int, page_num_int, top_int}
}

// Value returns the result as its golden file has it: {case_id, chunks}.
func (r *Result) Value() engine.Value {
	return engine.Object("case_id", r.ID, "chunks", engine.List(r.Chunks...))
}

// Play runs a recorded case of a chunker of pipelines: {id, component, param, input}. The input has
// the outputs of the previous node.
func Play(data []byte) (*Result, error) {
	c, err := engine.ParseJSON(data)
	if err != nil {
		return nil, fmt.Errorf("chunker case: %w", err)
	}
	r := &Result{ID: c.Get("id").Text()}
	if r.Chunks, err = play(c); err != nil {
		return nil, fmt.Errorf("chunker case %s: %w", r.ID, err)
	}
	return r, nil
}

// isChunker reports whether a component of pipelines outputs chunks.
func isChunker(s *engine.Spec) bool {
	return s.Pipeline && slices.ContainsFunc(s.Outputs, func(f engine.Field) bool { return f.Name == "chunks" })
}

// play runs a pipeline of a document and the chunker, from the chunker on.
func play(c engine.Value) ([]engine.Value, error) {
	registry, err := engine.NewRegistry(component.Builtin()...)
	if err != nil {
		return nil, err
	}
	name := c.Get("component").Text()
	switch spec, err := registry.Lookup(name); {
	case err != nil:
		return nil, err
	case !isChunker(spec):
		return nil, fmt.Errorf("component %q: not a component of pipelines with the output chunks", name)
	}
	outputs := engine.NewObject(4)
	for key, v := range c.Get("input").Fields() {
		outputs.Set(key, engine.Object("value", v))
	}
	const id = "Chunker"
	doc := engine.Object("components", engine.Object(
		engine.PipelineID, engine.Object("obj", engine.Object("component_name", "File", "params",
			engine.Object("outputs", outputs.Value())), "downstream", engine.Strings(id)),
		id, engine.Object("obj", engine.Object("component_name", name, "params", c.Get("param"))),
	))
	canvas, err := engine.LoadValue(registry, doc)
	if err != nil {
		return nil, err
	}
	state := canvas.State()
	options := engine.Options{From: id, Ports: engine.Ports{Counter: Counter{}}}
	for _, err := range canvas.Run(context.Background(), state, engine.Input{}, options) {
		var node *engine.NodeError
		if errors.As(err, &node) {
			err = node.Err
		}
		if err != nil {
			return nil, err
		}
	}
	chunks := state.Outputs(id).Get("chunks").Slice()
	for i := range chunks {
		chunks[i] = chunks[i].Without("positions")
	}
	return chunks, nil
}
