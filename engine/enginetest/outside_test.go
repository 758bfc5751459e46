package enginetest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/engine/enginetest"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// shopTools are tools that look a secret up and return their arguments.
type shopTools struct {
	secrets engine.Secrets
	calls   int
}

func (s *shopTools) CallTool(ctx context.Context, c *engine.ExternalCall) (engine.Value, error) {
	s.calls++
	key, err := s.secrets.Secret(ctx, "KEY")
	if err != nil {
		return engine.Null, err
	}
	query := c.Arguments.Get("query").Str()
	if strings.Contains(query, "fail") {
		return engine.Null, fmt.Errorf("no such thing: %w", engine.ErrNoRetry)
	}
	text := "found " + query + " with " + key.Value
	return engine.Object("formalized_content", text, "json", engine.List()), nil
}

// numbers is an MCP server that doubles.
type numbers struct{ calls int }

func (n *numbers) ListTools(context.Context, *engine.MCPServer) ([]engine.ToolDef, error) {
	return []engine.ToolDef{{Name: "double", Description: "doubles", Parameters: engine.Object("type", "object")}}, nil
}

func (n *numbers) CallTool(_ context.Context, _ *engine.MCPServer, _ string, args engine.Value) (
	engine.ToolAnswer, error,
) {
	n.calls++
	v, _ := args.Get("n").Int()
	return engine.ToolAnswer{Result: engine.String(fmt.Sprint(2 * v))}, nil
}

type oneSecret string

func (s oneSecret) Secret(context.Context, string) (engine.Secret, error) {
	return engine.Secret{Value: string(s)}, nil
}

// toolCanvas searches as a node, then as an agent that has an MCP server too.
var toolCanvas = sketch.Canvas(
	"begin Begin -> SearXNG:S",
	`SearXNG:S SearXNG {"query": "QUERY", "exception_method": "comment",
		"exception_default_value": "none"} -> Agent:A`,
	`Agent:A Agent {"llm_id": "m", "sys_prompt": "s",
		"tools": [{"component_name": "SearXNG", "name": "S", "params": {}}], "mcp": [{"mcp_id": "numbers"}]}
		-> Message:M`,
	`Message:M Message {"content": ["{SearXNG:S@formalized_content} {Agent:A@content}"]}`,
)

func recordTools(t *testing.T, query string) *enginetest.Case {
	t.Helper()
	return recordScript(t, query, []enginetest.Reply{
		enginetest.TextReply(`[{"name": "searxng_search_0", "arguments": {"query": "coats"}},
			{"name": "double", "arguments": {"n": 21}}]`),
		enginetest.TextReply(`[{"name": "complete_task", "arguments": {"answer": "x"}}]`),
		enginetest.TextReply("the end"),
	})
}

func recordScript(t *testing.T, query string, script []enginetest.Reply) *enginetest.Case {
	t.Helper()
	reg, err := engine.NewRegistry(component.Builtin()...)
	require.NoError(t, err)
	tape := &enginetest.SecretsTape{Secrets: oneSecret("hush-hush-1234")}
	player := &enginetest.Player{
		Registry: reg, Concurrency: 1, Secrets: tape,
		Ports: engine.Ports{
			Model: &enginetest.Model{Script: script}, Tools: &shopTools{secrets: tape}, MCP: &numbers{},
		},
	}
	dsl, err := engine.ParseJSONText(strings.Replace(toolCanvas, "QUERY", query, 1))
	require.NoError(t, err)
	runs := []enginetest.Run{{Kwargs: engine.Object("query", "q", "user_id", "u")}}
	c, err := player.Record(t.Context(), "tools", "tools", dsl, runs)
	require.NoError(t, err, "the case repeats without the real ports")
	return c
}

// A recorded case contains the answers of tools and MCP servers, and no secret; it plays without
// them.
func TestRecordedToolsPlayAgain(t *testing.T) {
	c := recordTools(t, "shoes")
	text := c.Value().JSON()
	require.NotContains(t, text, "hush-hush")
	require.Contains(t, text, "found shoes with {{secret:KEY}}")
	read, err := enginetest.ParseCase([]byte(text))
	require.NoError(t, err)
	run := read.Runs[0]
	require.Len(t, run.Tools, 3)
	i := slices.IndexFunc(run.Tools, func(c enginetest.OutsideCall) bool { return c.Name == "double" })
	require.Equal(t, "42", run.Tools[i].Result.Str())
	require.Equal(t, "double", run.Servers.Get("numbers").At(0).Get("name").Str())
	require.Equal(t, 3, run.Want.Get("tool_calls").Len())
}

// Native calls of functions are recorded, and a model that made none is still one that could.
func TestRecordedFunctionCallsPlayAgain(t *testing.T) {
	none := []engine.ToolCall{}
	for name, script := range map[string][]enginetest.Reply{
		"calls": {
			{Calls: []engine.ToolCall{
				{ID: "1", Name: "searxng_search_0", Arguments: `{"query": "coats"}`},
				{ID: "2", Name: "double", Arguments: `{"n": 21}`},
			}},
			{Pieces: []enginetest.Piece{{Text: "the "}, {Text: "end"}}, Calls: none},
		},
		"no call": {{Pieces: []enginetest.Piece{{Text: "the end"}}, Calls: none}},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := enginetest.ParseCase([]byte(recordScript(t, "shoes", script).Value().JSON()))
			require.NoError(t, err)
			run := c.Runs[0]
			require.Equal(t, len(script), run.Want.Get("llm_calls").Len())
			for i, r := range script {
				require.Equal(t, r.Calls, run.Script[i].Calls)
			}
			require.Contains(t, run.Want.JSON(), "the end")
		})
	}
}

// An error of a tool plays again as it was, with or without another try.
func TestRecordedErrorOfATool(t *testing.T) {
	c := recordTools(t, "fail")
	require.Equal(t, "no such thing: "+engine.ErrNoRetry.Error(), c.Runs[0].Tools[0].Error)
	require.True(t, c.Runs[0].Tools[0].Final)
}

// A call with other arguments is named, with the argument that differs.
func TestChangedArgumentsOfATool(t *testing.T) {
	c := recordTools(t, "shoes")
	reg, err := engine.NewRegistry(component.Builtin()...)
	require.NoError(t, err)
	changed := *c
	c.DSL, err = engine.ParseJSONText(strings.Replace(toolCanvas, "QUERY", "boots", 1))
	require.NoError(t, err)
	seen, err := enginetest.Play(t.Context(), reg, c)
	require.NoError(t, err)
	differences := enginetest.Compare(changed.Value(), seen)
	require.NotEmpty(t, differences)
	require.Equal(t, `run 1: tool call SearXNG: arguments.query: expected shoes, saw boots`, differences[0])
	require.Contains(t, seen.JSON(), `no answer is recorded for the arguments`)

	past := strings.Replace(toolCanvas, `"downstream": ["SearXNG:S"]`, `"downstream": ["Agent:A"]`, 1)
	c.DSL, err = engine.ParseJSONText(past)
	require.NoError(t, err)
	seen, err = enginetest.Play(t.Context(), reg, c)
	require.NoError(t, err)
	differences = enginetest.Compare(changed.Value(), seen)
	require.Contains(t, differences[0], `tool calls: expected {"component": "SearXNG"`)
}
