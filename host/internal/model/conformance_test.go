package model

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/engine/enginetest"
	"github.com/easel-canvas/easel/host/internal/testing/modeltest"
)

// overVendor sends the replies of a scripted model over the API of a vendor.
type overVendor struct {
	t      *testing.T
	form   modeltest.Form
	script engine.Model
}

func (o overVendor) ModelInfo(ctx context.Context, id string) engine.Info {
	return o.script.(engine.ModelInfo).ModelInfo(ctx, id)
}

// Generate sends the reply of the script through a server. A failure of the script stays as it is.
func (o overVendor) Generate(ctx context.Context, req *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	return func(yield func(engine.ModelPiece, error) bool) {
		var reply modeltest.Reply
		for piece, err := range o.script.Generate(ctx, req) {
			if err != nil {
				if reply.Text != "" && !yield(engine.ModelPiece{Text: reply.Text}, nil) {
					return
				}
				yield(engine.ModelPiece{}, err)
				return
			}
			reply.Text += piece.Text
			for _, c := range piece.ToolCalls {
				reply.Calls = append(reply.Calls, modeltest.Call{Name: c.Name, Arguments: c.Arguments})
			}
		}
		if thought, rest, ok := strings.Cut(strings.TrimPrefix(reply.Text, "<think>"), "</think>"); ok {
			reply.Thought, reply.Text = thought, rest
		}
		server, models := vendor(o.t, o.form, reply)
		sent := *req
		sent.LLM = "m"
		for piece, err := range models.Generate(ctx, &sent) {
			piece.Usage = nil // the script counts nothing
			if !yield(piece, err) {
				break
			}
		}
		require.Empty(o.t, server.Faults())
	}
}

// The cases of the engine have the same events over the API of each vendor.
func TestCasesOverVendors(t *testing.T) {
	reg, err := engine.NewRegistry(component.Builtin()...)
	require.NoError(t, err)
	paths, err := filepath.Glob("../../../engine/testdata/cases/*.json")
	require.NoError(t, err)
	played := 0
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		c, err := enginetest.ParseCase(data)
		require.NoError(t, err)
		cancelled := func(r enginetest.Run) bool { return r.Cancel != nil }
		if !strings.Contains(string(data), `"Agent"`) || slices.ContainsFunc(c.Runs, cancelled) {
			continue // a run that is cancelled after a piece depends on where the script cuts its texts
		}
		played++
		for _, form := range modeltest.Forms() {
			t.Run(c.Name+"/"+form.Name, func(t *testing.T) {
				player := enginetest.Player{Registry: reg, Through: func(script engine.Model) engine.Model {
					return overVendor{t, form, script}
				}}
				observed, err := player.Play(t.Context(), c)
				require.NoError(t, err)
				for _, d := range enginetest.Compare(c.Value(), observed) {
					t.Error(d)
				}
			})
		}
	}
	require.Greater(t, played, 20)
}
