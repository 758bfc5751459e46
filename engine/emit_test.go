package engine_test

import (
	"context"
	"iter"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// noting records an entry before it calls the model, and streams the answer.
type noting struct{ ask }

func (n *noting) Stream(ctx context.Context, call *engine.Call, request engine.Value, emit func(string) error) error {
	call.Log(engine.EventProgress, engine.Object("pct", 50))
	return n.ask.Stream(ctx, call, request, emit)
}

// patient is a model that answers once all entries from before its call have been emitted.
type patient struct{ seen chan uint64 }

func (p patient) Generate(ctx context.Context, req *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	return func(yield func(engine.ModelPiece, error) bool) {
		for note := uint64(0); note < req.Noted; {
			select {
			case note = <-p.seen:
			case <-ctx.Done():
				yield(engine.ModelPiece{}, ctx.Err())
				return
			}
		}
		yield(engine.ModelPiece{Text: "yes"}, nil)
	}
}

// TestNotesAreHandedOutWhileTextIsAwaited has a node read, on the goroutine of the run's owner, a
// text whose model call waits for an entry.
func TestNotesAreHandedOutWhileTextIsAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := toys(t)
		spec := engine.Spec{Name: "Noting", Waits: true, New: func() engine.Component { return &noting{} }}
		require.NoError(t, reg.Add(spec))
		c, err := engine.Load(reg, sketch.Bytes(
			`begin Begin -> q`, `q Noting {"prompt":"x"} -> t m`,
			`t Text {"script":"{q@content}"}`, `m Say {"content":"{t@result}"}`))
		require.NoError(t, err)
		model := patient{seen: make(chan uint64, 9)}
		opt := engine.Options{Internal: true, Ports: engine.Ports{Model: model}}
		var types []engine.EventType
		for e, err := range c.Run(t.Context(), c.State(), engine.Input{}, opt) {
			require.NoError(t, err)
			if e.Note > 0 {
				types = append(types, e.Type)
				model.seen <- e.Note
			}
		}
		require.Equal(t, []engine.EventType{engine.EventProgress, engine.EventUsage}, types)
	})
}
