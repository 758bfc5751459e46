package host

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/engine/enginetest"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// ticketServer is an MCP server with one tool.
func ticketServer(t *testing.T) (url string) {
	server := sdk.NewServer(&sdk.Implementation{Name: "tickets", Version: "1"}, nil)
	type find struct {
		Query string `json:"query"`
	}
	sdk.AddTool(server, &sdk.Tool{Name: "find", Description: "finds tickets"},
		func(_ context.Context, _ *sdk.CallToolRequest, in find) (*sdk.CallToolResult, any, error) {
			text := &sdk.TextContent{Text: "ticket 7 of " + in.Query}
			return &sdk.CallToolResult{Content: []sdk.Content{text}}, nil, nil
		})
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.URL
}

const lastMessage = `Message:Z Message {"content": ["end: {sys.query}"]}`

// A run of each kind becomes a case, which passes without a model, a network or a host, and fails
// for an edited canvas.
func TestEachKindOfRunBecomesACase(t *testing.T) {
	c := newCrew(t)
	registry, err := engine.NewRegistry(component.Builtin()...)
	require.NoError(t, err)
	const begin = "begin Begin"
	url := ticketServer(t)
	server := c.made("key", "POST", "/api/v2/mcp-servers", `{"name":"tickets","url":"`+url+`"}`)
	inner := c.canvas("key", sketch.Chain(begin, `LLM:I LLM {"llm_id":"m@local"}`,
		`Message:M Message {"content":["inside {LLM:I@content}"]}`), false)
	form := `UserFillUp:F UserFillUp {"enable_tips":true,"tips":"Your city?",
		"inputs":{"city":{"name":"City","type":"line","optional":false}}}`
	city := `Message:Z Message {"content":["city {UserFillUp:F@city}"]}`
	run := func(id, body string) string { return c.made("key", "POST", "/api/v2/canvases/"+id+"/runs", body) }
	ended := func(run string) string { c.said("key", run); return run }
	simple := func(nodes ...string) func() string {
		return func() string {
			dsl := sketch.Chain(append(append([]string{begin}, nodes...), lastMessage)...)
			return ended(run(c.canvas("key", dsl, false), `{"query":"code?"}`))
		}
	}
	resume := func(body string) func() string {
		return func() string {
			dsl := sketch.Chain(begin, `LLM:A LLM {"llm_id":"m@local"}`, form, city)
			first := ended(run(c.canvas("key", dsl, false), body))
			return ended(c.made("key", "POST", "/api/v2/runs/"+first+"/resume", `{"inputs":{"city":"Oslo"}}`))
		}
	}
	llm := `LLM:A LLM {"llm_id":"m@local","prompts":[{"role":"user","content":"{sys.query}"}]}`
	shown := `Message:S Message {"content":["model: {LLM:A@content}"]}`
	for name, play := range map[string]func() string{
		"message": simple(), "model": simple(llm, shown),
		"retrieval": simple(`Retrieval:R Retrieval {"query":"code","kb_ids":["` + c.shared + `"]}`),
		"agent with a tool": simple(`Agent:A Agent {"llm_id":"m@local","prompts":[{"role":"user",
			"content":"{sys.query}"}],
			"tools":[{"component_name":"Retrieval","name":"Search","params":{"kb_ids":["` + c.shared + `"]}}]}`),
		"agent with an MCP server": simple(`Agent:A Agent {"llm_id":"m@local","prompts":[{"role":"user",
			"content":"{sys.query}"}],"mcp":[{"mcp_id":"` + server + `","tools":{"find":{}}}]}`),
		"iteration": func() string {
			return ended(run(c.canvas("key", sketch.Canvas(begin+" -> X",
				`X Iteration {"items_ref":"sys.query"} -> Message:Z`,
				`II IterationItem -> LLM:A ^ X`, `LLM:A LLM {"llm_id":"m@local","prompts":[{"role":"user",
				"content":"{II@item}"}]} ^ X`, lastMessage), false), `{"query":["a","b","c"]}`))
		},
		"sub-canvas": simple(`Canvas:C Canvas {"canvas":"`+inner+`","version":"draft"}`,
			`Message:S Message {"content":["{Canvas:C@content}"]}`),
		"canvas as a tool": simple(`Agent:A Agent {"llm_id":"m@local","prompts":[{"role":"user",
			"content":"{sys.query}"}],
			"tools":[{"component_name":"Canvas","name":"Inner","params":{"canvas":"` + inner + `",
			"version":"draft"}}]}`),
		"form": func() string {
			return ended(run(c.canvas("key", sketch.Chain(begin, form, city), false), `{"query":"x"}`))
		},
		"answered form": resume(`{"query":"x"}`),
		"answered form of a session": func() string {
			id := c.canvas("key", sketch.Chain(begin, llm, form, city), false)
			session := c.made("key", "POST", "/api/v2/canvases/"+id+"/sessions", `{}`)
			first := ended(run(id, `{"query":"x","session":"`+session+`"}`))
			return ended(c.made("key", "POST", "/api/v2/runs/"+first+"/resume", `{"inputs":{"city":"Oslo"}}`))
		},
		"second turn": func() string {
			id := c.canvas("key", sketch.Chain(begin, llm, shown, lastMessage), false)
			session := c.made("key", "POST", "/api/v2/canvases/"+id+"/sessions", `{}`)
			ended(run(id, `{"query":"first","session":"`+session+`"}`))
			return ended(run(id, `{"query":"second","session":"`+session+`"}`))
		},
		"approval": func() string {
			first := ended(run(c.canvas("key", sketch.Chain(begin, `StringTransform:S StringTransform {"approval":true,
				"method":"merge","script":"merged {sys.query}"}`, lastMessage), false), `{"query":"x"}`))
			return ended(c.made("key", "POST", "/api/v2/runs/"+first+"/approve",
				`{"approvals":[{"id":"approval:StringTransform:S","decision":"yes"}]}`))
		},
		"pinned": func() string {
			return ended(run(c.canvas("key", sketch.Chain(begin, llm, shown, lastMessage), false),
				`{"query":"x","pins":{"LLM:A":{"content":"pinned answer"}}}`))
		},
		"until": func() string {
			return ended(run(c.canvas("key", sketch.Chain(begin, llm, shown, lastMessage), false),
				`{"query":"x","until":"Message:S"}`))
		},
		"rerun": func() string {
			first := ended(run(c.canvas("key", sketch.Chain(begin, llm, shown, lastMessage), false), `{"query":"x"}`))
			return ended(c.made("key", "POST", "/api/v2/runs/"+first+"/rerun", `{"node":"Message:S"}`))
		},
		"rerun with a pin": func() string {
			first := ended(run(c.canvas("key", sketch.Chain(begin, llm, shown, lastMessage), false), `{"query":"x"}`))
			return ended(c.made("key", "POST", "/api/v2/runs/"+first+"/rerun",
				`{"node":"LLM:A","pins":{"LLM:A":{"content":"pinned answer"}}}`))
		},
		"failed": func() string {
			dsl := sketch.Chain(begin, `LLM:A LLM {"llm_id":"gone@nowhere"}`, lastMessage)
			return ended(run(c.canvas("key", dsl, false), `{"query":"x"}`))
		},
		"random choice": simple(`Message:R Message {"content":["one of a","one of b","one of c","one of d","one of e",
			"one of f","one of g","one of h"]}`),
	} {
		t.Run(name, func(t *testing.T) {
			id := play()
			text := c.send("key", "GET", "/api/v2/runs/"+id+"/case", "")
			v, err := engine.ParseJSONText(text)
			require.NoError(t, err)
			require.NotZero(t, v.Get("runs").Len(), text)
			differs := func(v engine.Value) []string {
				one, err := enginetest.ReadCase(v)
				require.NoError(t, err)
				played, err := enginetest.Play(t.Context(), registry, one)
				require.NoError(t, err)
				return enginetest.Compare(v, played)
			}
			require.Empty(t, differs(v))
			if start := v.Get("runs").At(0).Get("start"); !start.IsNull() {
				one, err := enginetest.ReadCase(v)
				require.NoError(t, err)
				cut := &enginetest.Player{Registry: registry, Cut: enginetest.AfterEntry(1)}
				played, err := cut.Play(t.Context(), one)
				require.NoError(t, err)
				require.Empty(t, enginetest.Compare(v, played), "begun again by another process")
			}
			if strings.HasPrefix(name, "answered") || name == "approval" { // the question is in the state
				return
			}
			for path, edited := range edits(v.Get("dsl")) {
				if hidden[name] == "" || !strings.HasPrefix(path, hidden[name]) {
					require.NotEmpty(t, differs(v.With("dsl", edited)), path)
				}
			}
		})
	}
}

// hidden are the beginnings of the params that do not change what a kind of run does: of nodes that
// do not run or are replaced, and the names of tools of agents, which other names of it replace.
var hidden = map[string]string{
	"form": "Message:Z", "until": "Message:Z", "pinned": "LLM:A", "rerun": "LLM:A", "rerun with a pin": "LLM:A",
	"random choice": "Message:R", "agent with a tool": "Agent:A.tools", "canvas as a tool": "Agent:A.tools",
}

// edits returns documents that each differ from one in a text, a number or a truth value of a
// param, by its path.
func edits(dsl engine.Value) map[string]engine.Value {
	made := map[string]engine.Value{}
	var walk func(v engine.Value, path string, put func(engine.Value) engine.Value)
	walk = func(v engine.Value, path string, put func(engine.Value) engine.Value) {
		switch v.Kind() {
		case engine.KindObject:
			for name, member := range v.Fields() {
				if name != "outputs" {
					walk(member, path+"."+name, func(x engine.Value) engine.Value { return put(v.With(name, x)) })
				}
			}
		case engine.KindList:
			for i, e := range v.Elements() {
				walk(e, fmt.Sprintf("%s[%d]", path, i), func(x engine.Value) engine.Value {
					list := v.Slice()
					list[i] = x
					return put(engine.List(list...))
				})
			}
		case engine.KindString:
			made[path] = put(engine.String(v.Str() + " edited"))
		case engine.KindNumber:
			made[path] = put(engine.Int(17))
		case engine.KindBool:
			made[path] = put(engine.Bool(!v.True()))
		}
	}
	nodes := dsl.Get("components")
	for id, node := range nodes.Fields() {
		obj := node.Get("obj")
		walk(obj.Get("params"), id, func(params engine.Value) engine.Value {
			return dsl.With("components", nodes.With(id, node.With("obj", obj.With("params", params))))
		})
	}
	return made
}
