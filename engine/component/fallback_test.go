package component

import (
	"context"
	"iter"
	"sync/atomic"
	"testing"
	"time"

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

// dear is a port that knows a fallback model, which answers; it counts its calls.
type dear struct {
	calls atomic.Int64
	used  engine.Usage
}

func (d *dear) ModelInfo(_ context.Context, llm string) engine.Info {
	if llm == "m@p" {
		return engine.Info{Context: 2000, Fallback: []string{"b"}}
	}
	return engine.Info{Context: 2000}
}

func (d *dear) Generate(context.Context, *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	d.calls.Add(1)
	return func(yield func(engine.ModelPiece, error) bool) {
		time.Sleep(20 * time.Millisecond) // other calls begin now, if they may
		_ = yield(engine.ModelPiece{Text: "fine", Model: "b"}, nil) && yield(engine.ModelPiece{Usage: &d.used}, nil)
	}
}

// A limit on money holds for the dearest model of a call and its dearest tokens: it is
// exceeded by one answer at most.
func TestMoneyIsReservedForTheDearestModel(t *testing.T) {
	for name, c := range map[string]struct {
		settings string
		prices   engine.Prices
		used     engine.Usage
	}{
		"fallback of the canvas": {
			`{"fallback_models": ["b"]}`,
			engine.Prices{"m": {Input: 1e-3, Output: 1e-3}, "b": {Input: 10, Output: 20}},
			engine.Usage{Prompt: 1000, Completion: 1000},
		},
		"fallback of the port": {
			`{}`,
			engine.Prices{"m": {Input: 1e-3, Output: 1e-3}, "b": {Input: 10, Output: 20}},
			engine.Usage{Prompt: 1000, Completion: 1000},
		},
		"cache": {
			`{}`,
			engine.Prices{"m": {Input: 1e-3, Written: 15}, "b": {Input: 1e-3, Written: 15}},
			engine.Usage{Prompt: 2000, Written: 2000},
		},
		"dear cached input": {
			`{}`,
			engine.Prices{"m": {Input: 1e-3, Cached: 15}, "b": {Input: 1e-3, Cached: 15}},
			engine.Usage{Prompt: 2000, Cached: 2000},
		},
		"long requests are cheaper": {
			`{}`,
			engine.Prices{
				"m": {Input: 1e-3, Above: &engine.Tier{Tokens: 1999}},
				"b": {Input: 15, Above: &engine.Tier{Tokens: 1999, Price: engine.Price{Input: 1e-3}}},
			},
			engine.Usage{Prompt: 1999},
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := &dear{used: c.used}
			opt := engine.Options{Ports: engine.Ports{Model: m}, Prices: c.prices}
			opt.Limits.Cost = engine.MicrosOf(0.05) // an answer costs 0.03
			_, err := events(t, wide(t, 5, c.settings), opt)
			require.ErrorIs(t, err, engine.ErrTooExpensive)
			require.EqualValues(t, 2, m.calls.Load())
		})
	}
}
