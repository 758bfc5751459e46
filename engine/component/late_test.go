package component

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// answering plans one tool, and then streams pieces and an error.
type answering struct {
	pieces []string
	err    error
}

func (answering) ModelInfo(context.Context, string) engine.Info { return engine.Info{} }

func (a answering) Generate(_ context.Context, req *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	return func(yield func(engine.ModelPiece, error) bool) {
		switch asked := last(*req); {
		case strings.Contains(asked, answerNow):
			for _, p := range a.pieces {
				if !yield(engine.ModelPiece{Text: p}, nil) {
					return
				}
			}
			yield(engine.ModelPiece{}, a.err)
		case strings.Contains(asked, "echo_tool_0 result"):
			yield(engine.ModelPiece{Text: complete}, nil)
		default:
			yield(engine.ModelPiece{Text: plan("echo_tool_0 a")}, nil)
		}
	}
}

// playLate runs an Agent whose message names only what is there at the end of the answer.
func playLate(t *testing.T, order engine.Scheduling, m answering) (said string, err error) {
	t.Helper()
	reg, err := engine.NewRegistry(append(Builtin(), enginetest.EchoToolSpec())...)
	require.NoError(t, err)
	c, err := engine.Load(reg, sketch.Bytes("begin Begin -> X", `X Agent {"tools": [`+echo+`]} -> M`,
		`M Message {"content": ["{X@use_tools.0.results}{X@content}"]} -> N`, `N Message {"content": ["after"]}`))
	require.NoError(t, err)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	in, opt := engine.Input{Query: engine.String("q")}, engine.Options{Ports: engine.Ports{Model: m}, Scheduling: order}
	for e, err := range c.Run(ctx, c.State(), in, opt) {
		if err != nil {
			return said, err
		}
		if e.Type == engine.EventMessage {
			said += e.Data().Get("content").Str()
		}
	}
	return said, nil
}

// A long answer of which a message reads only the tools at its end is not held back.
func TestLateOutputsOfALongAnswer(t *testing.T) {
	piece := strings.Repeat("x", 1<<10)
	for _, order := range []engine.Scheduling{engine.Batch, engine.Eager} {
		m := answering{pieces: make([]string, 200)}
		for i := range m.pieces {
			m.pieces[i] = piece
		}
		said, err := playLate(t, order, m)
		require.NoError(t, err, "order %v", order)
		require.Equal(t, "A"+strings.Repeat(piece, 200)+"after", said)
	}
}

// Nothing is said after an answer that broke, whatever its message reads of it.
func TestLateOutputsOfABrokenAnswer(t *testing.T) {
	for _, order := range []engine.Scheduling{engine.Batch, engine.Eager} {
		said, err := playLate(t, order, answering{pieces: []string{"do"}, err: errors.New("overloaded")})
		require.ErrorContains(t, err, "overloaded")
		require.Empty(t, said, "order %v", order)
	}
}
