package component

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

func TestWordingDistinguishesTemplatesFromTexts(t *testing.T) {
	for text, want := range map[string]bool{
		"plain {sys.query}":             false,
		"{{sys.query}} {{ sys.query }}": false,
		"${sys.query} }} %} {":          false,
		"{{{sys.query}}}":               false,
		"{{secret:KEY}}":                false,
		"{# a remark #}":                false,
		"{% if 1 %}{% endif %}":         true,
		"{{ {sys.query}|upper }}":       true,
		"{{ x }}":                       true,
		"{{secret:KEY}} {{ x }}":        true,
		"{% never closed":               true,
	} {
		parsed := engine.ParseText(text)
		require.Equal(t, want, newWording(&parsed).isTemplate(), text)
	}
}

// probe is a component that runs a function of a test with its Call.
type probe func(call *engine.Call)

func (p probe) Run(_ context.Context, call *engine.Call) error {
	p(call)
	return nil
}

// withCall calls do with the Call of a node that runs.
func withCall(t *testing.T, do func(call *engine.Call)) {
	reg, err := engine.NewRegistry(
		engine.Spec{Name: "Begin", Inline: true, New: func() engine.Component { return probe(do) }})
	require.NoError(t, err)
	c, err := engine.Load(reg, sketch.Bytes("begin Begin"))
	require.NoError(t, err)
	for _, err := range c.Run(t.Context(), c.State(), engine.Input{}, engine.Options{}) {
		require.NoError(t, err)
	}
}

// FuzzWording checks that any text is filled or refused without a panic, that a text that is not a
// template is unchanged, and that a value never becomes part of the template.
func FuzzWording(f *testing.F) {
	for _, s := range []string{
		"{% raw %}{sys.a}{% endraw %}", `{{ "{sys.a}" ~ '\'' }}`, "{{{sys.a}{{", "{# {sys.a}",
		"{% set x = {sys.a} %}{{ x }}", "{{ {'a': {sys.a}} }}", "{%}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 400 {
			return
		}
		text := engine.ParseText(s)
		w := newWording(&text)
		bad := func(*engine.Ref) (engine.Value, string, error) { return engine.String("{% bad"), "{% bad", nil }
		var got string
		var err error
		withCall(t, func(call *engine.Call) { got, err = w.fill(call, bad) })
		if !w.isTemplate() {
			require.NoError(t, err)
			if len(text.Refs()) == 0 {
				require.Equal(t, s, got)
			}
		}
	})
}
