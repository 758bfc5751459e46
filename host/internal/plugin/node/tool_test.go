package node_test

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin/node"
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
	s := newShop(t, node.Config{})
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
	s := newShop(t, node.Config{})
	s.add(guest(`say {"outputs":{"text":"3 degrees","temp":3}}`), mirrorManifest)
	m := &model{replies: []engine.ModelPiece{wish(`{"city": "Oslo"}`)}}
	got := s.play(t.Context(), engine.Ports{Model: m}, agent(`{}`)...)
	require.NoError(t, got.err)
	require.Equal(t, "city", m.asked[0].Tools[0].Parameters.Get("required").At(0).Str())
	require.Equal(t, "3 degrees\n\n{\"temp\": 3}", m.asked[1].Messages[len(m.asked[1].Messages)-1].Content)
}

// TestToolGivesAllItsOutputs checks the form in which a model reads the outputs of a plugin.
func TestToolGivesAllItsOutputs(t *testing.T) {
	long := strings.Repeat("x", 40_000)
	for _, c := range []struct{ name, outputs, want string }{
		{"text only", `{"text":"hi"}`, "hi"},
		{"outputs without a text", `{"temp":3,"n":9007199254740993}`, `{"temp": 3, "n": 9007199254740993}`},
		{"text and other outputs", `{"a":[1],"text":"hi","b":{"c":null}}`, "hi\n\n{\"a\": [1], \"b\": {\"c\": null}}"},
		{"a number as text", `{"text":1}`, `{"text": 1}`},
		{
			"an output above the limit", `{"text":"hi","long":"` + long + `","n":1}`,
			"hi\n\n{\"n\": 1, \"left_out\": [\"long\"]}",
		},
		{"no outputs", `{}`, "{}"},
		{"an optional output that is null", `{"text":"hi","when":null}`, "hi"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newShop(t, node.Config{})
			s.add(guest(`say {"outputs":`+c.outputs+`}`), `{"arguments":{"type":"object"},
				"outputs":{"type":"object","properties":{"when":{"type":"string"}}}}`)
			m := &model{replies: []engine.ModelPiece{wish(`{}`)}}
			got := s.play(t.Context(), engine.Ports{Model: m}, agent(`{}`)...)
			require.NoError(t, got.err)
			require.Equal(t, c.want, m.asked[1].Messages[len(m.asked[1].Messages)-1].Content)
		})
	}
}

// TestCitationsBecomeReferences has a tool and a node name what their answers rest on.
func TestCitationsBecomeReferences(t *testing.T) {
	const cited = `say {"outputs":{"text":"wet"},"citations":[` +
		`{"id":"a","title":"Yr","url":"https://yr.example/a","content":"Rain."},{"id":"b","content":"Wind."}]}`
	s := newShop(t, node.Config{})
	s.add(guest(cited), `{"arguments":{"type":"object"}}`)
	number := engine.CitationNumber("a")
	m := &model{replies: []engine.ModelPiece{wish(`{}`), {Text: fmt.Sprintf("It is wet [ID:%d].", number)}}}
	got := s.play(t.Context(), engine.Ports{Model: m}, agent(`{}`)...)
	require.NoError(t, got.err)
	read := m.asked[1].Messages[len(m.asked[1].Messages)-1].Content
	require.Equal(t, fmt.Sprintf("wet\n\n{\"citations\": "+
		"[{\"ID\": %d, \"title\": \"Yr\", \"url\": \"https://yr.example/a\", "+
		"\"content\": \"Rain.\"}, {\"ID\": %d, \"content\": \"Wind.\"}]}", number, engine.CitationNumber("b")), read)
	chunk := got.reference.Get("chunks").Get(strconv.Itoa(number))
	require.Equal(t, `["a","Rain.","Yr","https://yr.example/a"]`,
		engine.List(chunk.Get("id"), chunk.Get("content"), chunk.Get("document_name"),
			chunk.Get("url")).JSON(), got.reference)

	got = s.play(t.Context(), engine.Ports{}, "begin Begin -> P", `P plugin:sample@1 {} -> M`,
		`M Message {"content": ["{P@text}"]}`)
	require.NoError(t, got.err)
	require.Equal(t, 2, got.reference.Get("chunks").Len(), got.reference)
}

// TestToolTakesNullForAbsent has a model write null for arguments it leaves out.
func TestToolTakesNullForAbsent(t *testing.T) {
	s := newShop(t, node.Config{})
	s.add(mirror, mirrorManifest)
	m := &model{replies: []engine.ModelPiece{wish(`{"city": "Oslo", "tags": null, "limit": null}`)}}
	got := s.play(t.Context(), engine.Ports{Model: m}, agent(`{}`)...)
	require.NoError(t, got.err)
	require.Equal(t, `{"city":"Oslo","limit":3}`, got.tools[0].Get("result").Get("arguments").JSON())
	m = &model{replies: []engine.ModelPiece{wish(`{"city": null}`)}}
	s.play(t.Context(), engine.Ports{Model: m}, agent(`{}`)...)
	require.Contains(t, m.asked[1].Messages[len(m.asked[1].Messages)-1].Content,
		"arguments.city: want string, got null")
}

func TestToolErrorsAreTextForTheModel(t *testing.T) {
	s := newShop(t, node.Config{})
	s.add(mirror, mirrorManifest)
	m := &model{replies: []engine.ModelPiece{wish(`{"limit": 1}`)}}
	got := s.play(t.Context(), engine.Ports{Model: m}, agent(`{}`)...)
	require.NoError(t, got.err, "the run continues")
	told := m.asked[1].Messages[len(m.asked[1].Messages)-1].Content
	require.JSONEq(t, `{"error": {"code": "invalid_argument", "message": "arguments.city: missing", "retryable": false}}`, told)
}

func TestModelGetsAnErrorForAMissingTool(t *testing.T) {
	s := newShop(t, node.Config{})
	m := &model{replies: []engine.ModelPiece{wish(`{}`)}}
	got := s.play(t.Context(), engine.Ports{Model: m}, agent(`{}`)...)
	require.NoError(t, got.err)
	require.Equal(t, "sample_0", m.asked[0].Tools[0].Name)
	require.Contains(t, m.asked[1].Messages[len(m.asked[1].Messages)-1].Content, "easel plugin install")
}

// TestToolWorksOnceItsPluginIsInstalled binds an Agent while its plugin is missing: the model is
// told so, and the same binding uses the plugin as soon as it is there, with what the canvas pins.
func TestToolWorksOnceItsPluginIsInstalled(t *testing.T) {
	s := newShop(t, node.Config{})
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

// TestToolGoneAfterBinding removes a plugin that is bound to an Agent: the model gets an error with
// instructions, and the run continues.
func TestToolGoneAfterBinding(t *testing.T) {
	s := newShop(t, node.Config{})
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
