package component_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// Edited outputs have the types that the component declares, so that later nodes get only values
// that a run could produce.
func TestEditedOutputsKeepTheirTypes(t *testing.T) {
	registry, err := engine.NewRegistry(component.Builtin()...)
	require.NoError(t, err)
	c, err := engine.Load(registry, sketch.Bytes(
		"begin Begin -> LLM:A",
		"LLM:A LLM -> M",
		`M Message {"content":["{LLM:A@content}"]}`,
	))
	require.NoError(t, err)
	for output, want := range map[string]string{
		`{"content":"text"}`:           "",
		`{"content":{"value":"text"}}`: "",
		`{"content":null}`:             "",
		`{"structured":[1]}`:           "",
		`{"structured":{"a":1}}`:       "",
		`{"other":5}`:                  "",
		`{"content":5}`:                `node "LLM:A": output content is a number; its type is string`,
		`{"content":["a"]}`:            `node "LLM:A": output content is a list; its type is string`,
		`{"content":{"value":true}}`:   `node "LLM:A": output content is a boolean; its type is string`,
		`{"structured":"x"}`:           `node "LLM:A": output structured is a string; its type is json`,
	} {
		pin, err := engine.ParseJSON([]byte(output))
		require.NoError(t, err)
		opt := engine.Options{Pins: map[string]engine.Value{"LLM:A": pin}}
		var failed error
		for _, err := range c.Run(t.Context(), c.State(), engine.Input{}, opt) {
			failed = err
		}
		edited := c.State()
		for name, v := range pin.Fields() {
			if x := v.Get("value"); !x.IsNull() {
				v = x
			}
			err = edited.SetOutput("LLM:A", name, v)
		}
		if want == "" {
			require.NoError(t, failed, output)
			require.NoError(t, err, output)
			continue
		}
		require.EqualError(t, failed, "option Pins: "+want)
		require.EqualError(t, err, want)
	}
}
