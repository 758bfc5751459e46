package component_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/engine/enginetest"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// registry contains all built-in components.
func registry(t testing.TB) *engine.Registry {
	t.Helper()
	reg, err := engine.NewRegistry(component.Builtin()...)
	require.NoError(t, err)
	return reg
}

// value reads JSON.
func value(t testing.TB, text string) engine.Value {
	t.Helper()
	v, err := engine.ParseJSONText(text)
	require.NoError(t, err, text)
	return v
}

// seen holds the observations of a run.
type seen struct {
	said    string                  // all text of all messages
	order   []string                // ids of finished nodes
	inputs  map[string]engine.Value // of each node, the last time it finished
	outputs map[string]engine.Value // likewise
	ends    []engine.Value          // data of message_end and user_inputs
	notes   []string                // texts of warnings
	state   *engine.State
	err     error
}

// play runs a canvas once.
func play(t testing.TB, in engine.Input, ports engine.Ports, lines ...string) *seen {
	t.Helper()
	c, err := engine.Load(registry(t), sketch.Bytes(lines...))
	require.NoError(t, err)
	return playOn(t, c, c.State(), in, ports)
}

func playOn(t testing.TB, c *engine.Canvas, st *engine.State, in engine.Input, ports engine.Ports) *seen {
	t.Helper()
	s := &seen{inputs: map[string]engine.Value{}, outputs: map[string]engine.Value{}, state: st}
	for e, err := range c.Run(context.Background(), st, in,
		engine.Options{Ports: ports, Seed: 1, Internal: true, TaskID: "task", CanvasID: "canvas"}) {
		if err != nil {
			s.err = err
			break
		}
		data := e.Data()
		switch e.Type {
		case engine.EventMessage:
			s.said += data.Get("content").Str()
		case engine.EventMessageEnd, engine.EventUserInputs:
			s.ends = append(s.ends, data)
		case engine.EventWarning:
			s.notes = append(s.notes, data.Get("text").Str())
		case engine.EventNodeFinished:
			s.order = append(s.order, e.Node)
			s.inputs[e.Node] = data.Get("inputs")
			s.outputs[e.Node] = data.Get("outputs").Without("_created_time").Without("_elapsed_time")
			checkOutputs(t, c, e.Node, data.Get("outputs"))
		}
	}
	return s
}

// checkOutputs fails if an output of a node differs from the declaration of its component.
func checkOutputs(t testing.TB, c *engine.Canvas, id string, outputs engine.Value) {
	t.Helper()
	obj := c.Document().Get("components").Get(id).Get("obj")
	spec, err := registry(t).Lookup(obj.Get("component_name").Str())
	require.NoError(t, err)
	for _, wrong := range enginetest.CheckOutputs(spec, obj.Get("params"), outputs) {
		t.Errorf("%s: %s", id, wrong)
	}
}

// one runs a single component after begin, which passes on the inputs, and returns the observation.
func one(t testing.TB, node, inputs string, globals ...string) *seen {
	t.Helper()
	lines := append([]string{"begin Begin -> X", "X " + node}, globals...)
	return play(t, engine.Input{Query: engine.String("Q"), Inputs: value(t, inputs)}, engine.Ports{}, lines...)
}

// refused loads a canvas that must not load, and returns the error's text.
func refused(t testing.TB, lines ...string) string {
	t.Helper()
	_, err := engine.Load(registry(t), sketch.Bytes(lines...))
	require.Error(t, err)
	return err.Error()
}
