package clients

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/mcp"
)

// recordedRequest is one request received by the reference server.
type recordedRequest struct{ Method, URL, Session, Token string }

// everything is a running reference server.
type everything struct {
	url  string
	mu   sync.Mutex
	list []recordedRequest
}

func (e *everything) requests() []recordedRequest {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]recordedRequest(nil), e.list...)
}

// sessions returns the session ids in the requests.
func (e *everything) sessions() map[string]bool {
	out := map[string]bool{}
	for _, r := range e.requests() {
		id := r.Session
		if _, after, ok := strings.Cut(r.URL, "sessionId="); ok {
			id = after
		}
		if id != "" {
			out[id] = true
		}
	}
	return out
}

// awaitSessions waits until requests of n sessions are recorded, and fails if there are more.
func (e *everything) awaitSessions(t *testing.T, n int, why string) {
	t.Helper()
	require.Eventually(t, func() bool { return len(e.sessions()) >= n }, 2*time.Minute, 10*time.Millisecond, why)
	require.Len(t, e.sessions(), n, why)
}

func startEverything(t *testing.T, kind string) *everything {
	t.Helper()
	needNode(t)
	mode, path := "streamableHttp", "/mcp"
	if kind == mcp.TypeSSE {
		mode, path = "sse", "/sse"
	}
	e, port := &everything{}, make(chan string, 1)
	start(t, exec.Command("node", "everything.mjs", mode), func(line string) {
		if v, ok := strings.CutPrefix(line, "port "); ok {
			port <- v
		}
		if v, ok := strings.CutPrefix(line, "request "); ok {
			var r recordedRequest
			if json.Unmarshal([]byte(v), &r) == nil {
				e.mu.Lock()
				e.list = append(e.list, r)
				e.mu.Unlock()
			}
		}
	})
	e.url = "http://127.0.0.1:" + await(t, "the server's port", port) + path
	return e
}

// TestMCPClient uses the reference server over both transports.
func TestMCPClient(t *testing.T) {
	for _, kind := range []string{mcp.TypeStreamable, mcp.TypeSSE} {
		t.Run(kind, func(t *testing.T) {
			e := startEverything(t, kind)
			c := &mcp.Client{Version: "test"}
			s := mcp.Server{
				ID: "e", Name: "everything", Type: kind, URL: e.url,
				Headers: map[string]string{"X-Token": "Bearer {{token}}"}, Values: map[string]string{"token": "t7"},
			}
			tools, err := c.Tools(t.Context(), "run 1", s)
			require.NoError(t, err)
			byName := map[string]engine.Value{}
			for _, tool := range tools {
				byName[tool.Get("name").Str()] = tool
			}
			require.Equal(t, "string",
				byName["echo"].Get("inputSchema").Get("properties").Get("message").Get("type").Str())
			for _, test := range []struct {
				tool string
				args engine.Value
				want string
			}{
				{"echo", engine.Object("message", "Grüße 世界"), "Echo: Grüße 世界"},
				{"get-sum", engine.Object("a", 19, "b", 23), "42"},
				{"get-structured-content", engine.Object("location", "New York"), "temperature"},
				{"get-tiny-image", engine.Object(), "[image-1.png left out"},
				{"get-sum", engine.Object("a", "x"), "MCP server error: "},
			} {
				text, err := c.Call(t.Context(), "run 1", s, test.tool, test.args)
				require.NoError(t, err, test.tool)
				require.Contains(t, text, test.want)
			}
			e.awaitSessions(t, 1, "the calls of one run share a session")
			for _, r := range e.requests() {
				require.Equal(t, "Bearer t7", r.Token, "%s %s", r.Method, r.URL)
			}
			_, err = c.Call(t.Context(), "run 2", s, "echo", engine.Object("message", "x"))
			require.NoError(t, err)
			e.awaitSessions(t, 2, "another run has its own session")

			slow := &mcp.Client{Timeout: 300 * time.Millisecond}
			_, err = slow.Call(t.Context(), "run 3", s, "trigger-long-running-operation",
				engine.Object("duration", 30, "steps", 1))
			require.ErrorIs(t, err, mcp.ErrServer)
			_, err = c.Call(t.Context(), "run 1", s, "echo", engine.Object("message", "still there"))
			require.NoError(t, err)
		})
	}
}

// planner is a model that makes the tool calls in plan, in order, and then answers with the last
// tool result.
type planner struct {
	t    *testing.T
	plan []string // name and arguments, separated by a space

	mu      sync.Mutex
	offered map[string]string // descriptions by name, from the last request with tools
}

func (p *planner) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Messages []struct {
			Role    string
			Content any
		}
		Tools []struct {
			Function struct{ Name, Description string }
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		p.t.Error(err)
	}
	if len(in.Tools) > 0 {
		p.mu.Lock()
		p.offered = map[string]string{}
		for _, tool := range in.Tools {
			p.offered[tool.Function.Name] = tool.Function.Description
		}
		p.mu.Unlock()
	}
	done, last := 0, ""
	for _, m := range in.Messages {
		if m.Role == "tool" {
			done++
			last = fmt.Sprint(m.Content)
		}
	}
	delta := map[string]any{"content": "The tool said: " + last}
	finish := "stop"
	if done < len(p.plan) && len(in.Tools) > 0 {
		name, args, _ := strings.Cut(p.plan[done], " ")
		delta = map[string]any{"tool_calls": []any{map[string]any{
			"index": 0, "id": fmt.Sprint("call_", done), "type": "function",
			"function": map[string]any{"name": name, "arguments": args},
		}}}
		finish = "tool_calls"
	}
	text, err := json.Marshal(map[string]any{"choices": []any{map[string]any{
		"index": 0, "delta": delta,
		"finish_reason": finish,
	}}})
	if err != nil {
		p.t.Error(err)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", text)
}

// TestMCPInACanvas lets an agent of a served canvas use the reference server's tools, and checks
// the tool calls in streams and traces.
func TestMCPInACanvas(t *testing.T) {
	for _, kind := range []string{mcp.TypeStreamable, mcp.TypeSSE} {
		t.Run(kind, func(t *testing.T) {
			e := startEverything(t, kind)
			model := httptest.NewServer(&planner{t: t, plan: []string{
				`echo {"message":"from a canvas"}`,
				`get-sum {"a":"no number"}`, `get-sum {"a":1,"b":2}`,
			}})
			t.Cleanup(model.Close)
			s := serve(t, []string{
				"EASEL_MODEL_BASE_URL=" + model.URL + "/v1", "EASEL_MODEL_NAMES=planner",
				"EASEL_MODEL_PROVIDER=Local",
			}, "--allow-private")
			var created struct {
				Code    int
				Message string
				Data    struct {
					ID        string
					Variables struct{ Tools map[string]any }
				}
			}
			s.call("POST", "/v1/mcp_server/create", Row{
				"name": "everything", "url": e.url, "server_type": kind,
				"timeout": 60, "headers": Row{"X-Token": "Bearer {{token}}"}, "variables": Row{"token": "t8"},
			}).into(t,
				&created)
			require.Zero(t, created.Code, created.Message)
			require.Contains(t, created.Data.Variables.Tools, "echo", "tools are fetched when a server is added")
			var tried struct{ Data string }
			s.call("POST", "/v1/mcp_server/test_tool",
				Row{"mcp_id": created.Data.ID, "tool_name": "echo", "arguments": Row{"message": "try"}}).into(t, &tried)
			require.Equal(t, "Echo: try", tried.Data)
			e.awaitSessions(t, 2, "one session to add the server and one to test the tool")

			id := s.canvas("agent", document(map[string]any{
				"begin": node("Begin", map[string]any{}, "Agent:A"),
				"Agent:A": node("Agent", map[string]any{
					"llm_id": "planner@Local", "sys_prompt": "Use the tools.",
					"prompts": []Row{{"role": "user", "content": "{sys.query}"}},
					"mcp": []Row{{"mcp_id": created.Data.ID, "tools": Row{
						"echo":    created.Data.Variables.Tools["echo"],
						"get-sum": created.Data.Variables.Tools["get-sum"],
					}}},
				}, "Message:M"),
				"Message:M": node("Message", map[string]any{"content": []string{"{Agent:A@content}"}}),
			}))
			var ours parsed
			script(t, &ours, "events.mjs", s.url+"/api/v2/canvases/"+id+"/runs", s.key, `{"query":"go"}`)
			kinds, text := map[string]int{}, ""
			for _, ev := range ours.Events {
				kinds[ev.Event]++
				text += ev.Data.Data.Content
			}
			require.Equal(t, 3, kinds["tool_started"], kinds)
			require.Equal(t, 3, kinds["tool_finished"], kinds)
			require.Contains(t, text, "The tool said: ")
			require.Contains(t, text, "3")
			e.awaitSessions(t, 3, "one session for the run's three calls")
			for _, r := range e.requests() {
				require.Equal(t, "Bearer t8", r.Token, "%s %s", r.Method, r.URL)
			}

			var editor parsed
			script(t, &editor, "events.mjs", s.url+"/v1/canvas/completion", s.key, `{"id":"`+id+`","query":"go"}`)
			require.NotContains(t, editor.kinds(), "tool_", "the dialects have no tool events")
			require.NotEmpty(t, editor.Events)
			var trace struct {
				Data []struct {
					Component string `json:"component_id"`
					Trace     []struct {
						Tool   string `json:"tool_name"`
						Result any    `json:"result"`
					}
				}
			}
			message := editor.Events[0].Data.Message
			for _, path := range []string{
				"/v1/canvas/trace?canvas_id=" + id + "&message_id=" + message,
				"/0.27/api/v1/agents/" + id + "/logs/" + message,
			} {
				s.call("GET", path, nil).into(t, &trace)
				require.Len(t, trace.Data, 1, path)
				require.Equal(t, "Agent:A", trace.Data[0].Component)
				calls := trace.Data[0].Trace
				require.Len(t, calls, 3)
				require.Equal(t, "echo", calls[0].Tool)
				require.Contains(t, fmt.Sprint(calls[0].Result), "Echo: from a canvas")
				require.Contains(t, fmt.Sprint(calls[1].Result), "MCP server error", "the model receives the failure")
			}
		})
	}
}

// TestMCPToolsAreCurrent checks that the model is offered the current tools of the reference
// server, not the definitions stored in the canvas.
func TestMCPToolsAreCurrent(t *testing.T) {
	for _, kind := range []string{mcp.TypeStreamable, mcp.TypeSSE} {
		t.Run(kind, func(t *testing.T) {
			e := startEverything(t, kind)
			p := &planner{t: t, plan: []string{`echo {"message":"one"}`, `renamed {}`}}
			model := httptest.NewServer(p)
			t.Cleanup(model.Close)
			s := serve(t, []string{
				"EASEL_MODEL_BASE_URL=" + model.URL + "/v1", "EASEL_MODEL_NAMES=planner",
				"EASEL_MODEL_PROVIDER=Local",
			}, "--allow-private")
			add := func(name, url string) string {
				var created struct{ Data struct{ ID string } }
				s.call("POST", "/v1/mcp_server/create", Row{
					"name": name, "url": url, "server_type": kind,
					"timeout": 60,
				}).into(t, &created)
				return created.Data.ID
			}
			here, away := add("everything", e.url), add("away", "http://127.0.0.1:1/mcp")
			ask := func(title string, servers ...Row) (offered map[string]string, text string) {
				id := s.canvas(title, document(map[string]any{
					"begin": node("Begin", map[string]any{}, "Agent:A"),
					"Agent:A": node("Agent", map[string]any{
						"llm_id": "planner@Local", "sys_prompt": "Use the tools.",
						"prompts": []Row{{"role": "user", "content": "{sys.query}"}}, "mcp": servers,
					}, "Message:M"),
					"Message:M": node("Message", map[string]any{"content": []string{"{Agent:A@content}"}}),
				}))
				var got parsed
				script(t, &got, "events.mjs", s.url+"/api/v2/canvases/"+id+"/runs", s.key, `{"query":"go"}`)
				for _, ev := range got.Events {
					text += ev.Data.Data.Content
				}
				p.mu.Lock()
				defer p.mu.Unlock()
				return p.offered, text
			}
			offered, text := ask("chosen",
				Row{"mcp_id": here, "tools": Row{
					"echo":    Row{"name": "echo", "description": "as it was once"},
					"renamed": Row{"name": "renamed"},
				}},
				Row{"mcp_id": away, "tools": Row{"kept": Row{
					"name":        "kept",
					"description": "of a server that is away",
				}}})
			require.Len(t, offered, 2, offered)
			require.NotEmpty(t, offered["echo"])
			require.NotEqual(t, "as it was once", offered["echo"])
			require.Equal(t, "of a server that is away", offered["kept"])
			require.Contains(t, text, "MCP tool renamed: its server does not have it any more")

			offered, _ = ask("all", Row{"mcp_id": here})
			require.Greater(t, len(offered), 10, "without a selection all tools are offered")
			require.Contains(t, offered, "get-sum")
			closed := func() (n int) {
				for _, r := range e.requests() {
					if r.Method == "DELETE" {
						n++
					}
				}
				return n
			}
			if kind == mcp.TypeStreamable {
				require.Eventually(t, func() bool { return closed() >= 2 }, 2*time.Minute, 20*time.Millisecond,
					"sessions are closed at the end of their runs")
			}
		})
	}
}
