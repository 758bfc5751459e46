package pluginnode_test

import (
	"context"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/pluginnode"
)

// model answers with its replies in turn and keeps what it was asked.
type model struct {
	replies []engine.ModelPiece
	asked   []*engine.ModelRequest
}

func (m *model) Generate(_ context.Context, req *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	m.asked = append(m.asked, req)
	piece := engine.ModelPiece{Text: "done"}
	if len(m.replies) > 0 {
		piece, m.replies = m.replies[0], m.replies[1:]
	}
	return func(yield func(engine.ModelPiece, error) bool) { yield(piece, nil) }
}

func (m *model) ModelInfo(context.Context, string) engine.Info { return engine.Info{Tools: true} }

func wish(args string) engine.ModelPiece {
	return engine.ModelPiece{ToolCalls: []engine.ToolCall{{ID: "1", Name: "sample_0", Arguments: args}}}
}

// agent is a canvas with one tool.
func agent(params string) []string {
	return []string{"begin Begin -> A", `A Agent {"tool_mode": "native", "tools": [{"component_name": "plugin:sample@1", "name": "Sample", "params": ` + params + `}]} -> M`, `M Message {"content": ["{A@content}"]}`}
}

func TestToolHidesWhatIsPinned(t *testing.T) {
	s := newShop(t, pluginnode.Config{})
	s.add(mirror, mirrorManifest)
	m := &model{replies: []engine.ModelPiece{wish(`{"limit": 9, "city": "Bergen"}`)}}
	got := s.play(t.Context(), engine.Ports{Model: m}, agent(`{"city": "Oslo", "units": "f"}`)...)
	require.NoError(t, got.err)
	def := m.asked[0].Tools[0]
	require.Equal(t, "sample_0", def.Name)
	require.Equal(t, "A sample.", def.Description)
	require.JSONEq(t, `{"type": "object", "properties": {"limit": {"type": "integer", "default": 3}, "tags": {"type": "array", "items": {"type": "string"}}}}`, def.Parameters.JSON())
	result := got.tools[0].Get("result")
	require.JSONEq(t, `{"city": "Oslo", "limit": 9}`, result.Get("arguments").JSON(), "a model does not override the canvas")
	require.JSONEq(t, `{"units": "f"}`, result.Get("params").JSON())
}

func TestToolWithoutPinsShowsAll(t *testing.T) {
	s := newShop(t, pluginnode.Config{})
	s.add(guest(`say {"outputs":{"text":"3 degrees","temp":3}}`), mirrorManifest)
	m := &model{replies: []engine.ModelPiece{wish(`{"city": "Oslo"}`)}}
	got := s.play(t.Context(), engine.Ports{Model: m}, agent(`{}`)...)
	require.NoError(t, got.err)
	require.Equal(t, "city", m.asked[0].Tools[0].Parameters.Get("required").At(0).Str())
	require.Equal(t, "3 degrees", m.asked[1].Messages[len(m.asked[1].Messages)-1].Content, "the text is what a model reads")
}

func TestToolErrorsAreTextForTheModel(t *testing.T) {
	s := newShop(t, pluginnode.Config{})
	s.add(mirror, mirrorManifest)
	m := &model{replies: []engine.ModelPiece{wish(`{"limit": 1}`)}}
	got := s.play(t.Context(), engine.Ports{Model: m}, agent(`{}`)...)
	require.NoError(t, got.err, "the run goes on")
	told := m.asked[1].Messages[len(m.asked[1].Messages)-1].Content
	require.JSONEq(t, `{"error": {"code": "invalid_argument", "message": "arguments.city: missing", "retryable": false}}`, told)
}

func TestMissingToolIsToldToTheModel(t *testing.T) {
	s := newShop(t, pluginnode.Config{})
	m := &model{replies: []engine.ModelPiece{wish(`{}`)}}
	got := s.play(t.Context(), engine.Ports{Model: m}, agent(`{}`)...)
	require.NoError(t, got.err)
	require.Equal(t, "sample_0", m.asked[0].Tools[0].Name)
	require.Contains(t, m.asked[1].Messages[len(m.asked[1].Messages)-1].Content, "easel plugin install")
}

// TestToolComesAliveWhenThePluginArrives binds an Agent while its plugin is missing: the model is
// told so, and the same binding uses the plugin as soon as it is there, with what the canvas pins.
func TestToolComesAliveWhenThePluginArrives(t *testing.T) {
	s := newShop(t, pluginnode.Config{})
	c, err := engine.Load(s.registry(), canvas(t, agent(`{"city": "Oslo"}`)...))
	require.NoError(t, err)
	ask := func() string {
		m := &model{replies: []engine.ModelPiece{wish(`{"city": "Bergen"}`)}}
		for _, err := range c.Run(t.Context(), c.State(), engine.Input{Query: engine.String("Q")}, engine.Options{Ports: engine.Ports{Model: m}, Seed: 1}) {
			require.NoError(t, err)
		}
		return m.asked[1].Messages[len(m.asked[1].Messages)-1].Content
	}
	require.Contains(t, ask(), "easel plugin install")
	m := s.add(mirror, mirrorManifest)
	require.Contains(t, ask(), `"arguments": {"city": "Oslo"`)
	s.remove(m)
	require.Contains(t, ask(), "easel plugin install")
}

// TestToolGoneAfterBinding has the plugin leave while an Agent holds it: the model is told what to
// do, and the run goes on.
func TestToolGoneAfterBinding(t *testing.T) {
	s := newShop(t, pluginnode.Config{})
	m := s.add(guest(`say {"outputs":{"text":"3 degrees"}}`), mirrorManifest)
	c, err := engine.Load(s.registry(), canvas(t, agent(`{}`)...))
	require.NoError(t, err)
	s.remove(m)
	asked := &model{replies: []engine.ModelPiece{wish(`{"city": "Oslo"}`), {Text: "done"}, wish(`{"city": "Oslo"}`)}}
	tell := func(request int) string {
		for _, err := range c.Run(t.Context(), c.State(), engine.Input{Query: engine.String("Q")}, engine.Options{Ports: engine.Ports{Model: asked}, Seed: 1}) {
			require.NoError(t, err)
		}
		return asked.asked[request].Messages[len(asked.asked[request].Messages)-1].Content
	}
	require.Contains(t, tell(1), "easel plugin install")
	s.add(guest(`say {"outputs":{"text":"4 degrees"}}`), mirrorManifest)
	require.Equal(t, "4 degrees", tell(3), "the same binding finds the plugin that came back")
}
