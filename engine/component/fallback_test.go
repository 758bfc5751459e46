package component

import (
	"context"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// second is a port whose first fallback model answers.
type second struct{ asked [][]string }

func (s *second) Generate(_ context.Context, req *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	s.asked = append(s.asked, req.Fallback)
	return func(yield func(engine.ModelPiece, error) bool) {
		_ = yield(engine.ModelPiece{Text: "fine", Model: req.Fallback[0]}, nil) &&
			yield(engine.ModelPiece{Usage: &engine.Usage{Prompt: 1000, Completion: 1000}}, nil)
	}
}

func TestFallbackModelsOfACanvas(t *testing.T) {
	settings := `{"fallback_models": ["b@Q", "c"]}`
	prices := engine.Prices{"m": {Input: 1, Output: 1}, "b": {Input: 10, Output: 20}}
	m := &second{}
	opt := engine.Options{Ports: engine.Ports{Model: m}, Prices: prices}
	found, err := events(t, wide(t, 1, settings), opt)
	require.NoError(t, err)
	require.Equal(t, [][]string{{"b@Q", "c"}}, m.asked)
	usage := found[engine.EventUsage][0]
	require.Equal(t, "b@Q", usage.Get("model").Str())
	require.Equal(t, "0.03", usage.Get("cost").Text())

	// With a limit on money, a model without a price must not answer.
	delete(prices, "b")
	opt.Limits.Cost = engine.MicrosOf(1)
	_, err = events(t, wide(t, 1, settings), opt)
	require.ErrorIs(t, err, engine.ErrNoPrice)
	require.ErrorContains(t, err, `"b@Q"`)
}

func TestNamesInSettings(t *testing.T) {
	reg, err := engine.NewRegistry(Builtin()...)
	require.NoError(t, err)
	for _, bad := range []string{`"b"`, `{"b": 1}`, `[7]`, `true`} {
		for _, name := range []string{"fallback_models", "approval"} {
			_, err := engine.Load(reg, []byte(`{"settings": {"`+name+`": `+bad+`}, "components": {"begin": `+
				`{"obj": {"component_name": "Begin", "params": {}}}}}`))
			require.ErrorContains(t, err, "settings: "+name)
		}
	}
}
