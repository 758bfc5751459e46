package component

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

const (
	echo = `{"component_name": "EchoTool", "name": "Echo", "params": {"replies": ` +
		`{"a": "A", "b": "B"}, "fail_on": ["bad"]}}`
	complete = `[{"name": "complete_task", "arguments": {"answer": "x"}}]`
)

// plan writes a planning answer.
func plan(calls ...string) string {
	var list []string
	for _, c := range calls {
		name, query, ok := strings.Cut(c, " ")
		if !ok {
			list = append(list, `{"name": "`+name+`", "arguments": {"answer": "x"}}`)
			continue
		}
		list = append(list, `{"name": "`+name+`", "arguments": {"query": "`+query+`"}}`)
	}
	return "[" + strings.Join(list, ",") + "]"
}

func last(req engine.ModelRequest) string { return req.Messages[len(req.Messages)-1].Content }

func TestAgentRunsToolsOfOneRoundTogether(t *testing.T) {
	m := say(plan("echo_tool_0 a", "echo_tool_1 bad", "nope x"), complete, "done")
	s := run(t, node(t, "Agent", `{"tools": [`+echo+`,`+echo+`]}`, ""), nil, "q", engine.Null, engine.Ports{Model: m})
	require.NoError(t, s.err)
	require.Equal(t, "done", s.outs.Get("content").Text())
	require.Equal(t, "Observation:\n[echo_tool_0 result]\nA\n[echo_tool_1 result]\ntool failed on: bad\n[nope "+
		"result]\nLLM tool nope does not exist",
		m.asked[2].Messages[2].Content)
	require.Equal(t, `[{"name": "echo_tool_0", "arguments": {"query": "a"}, "results": "A"}, `+
		`{"name": "echo_tool_1", "arguments": {"query": "bad"}, "results": "tool failed on: bad"}]`,
		s.outs.Get("use_tools").Text(), "tools that do not exist were not used")
}

func TestAgentCompletesAfterTheOtherCalls(t *testing.T) {
	m := say(plan("complete_task", "echo_tool_0 a"), "done")
	s := run(t, node(t, "Agent", `{"tools": [`+echo+`]}`, ""), nil, "q", engine.Null, engine.Ports{Model: m})
	require.NoError(t, s.err)
	require.Len(t, m.asked, 2)
	require.Equal(t, "Observation:\n[echo_tool_0 result]\nA\n"+answerNow, last(m.asked[1]))
}

// A message reads what a streaming Agent used where it reads its answer: streamed, in one text and
// in a template.
func TestMessageShowsTheToolsOfAnAgent(t *testing.T) {
	const used = `[{"name": "echo_tool_0", "arguments": {"query": "a"}, "results": "A"}]`
	for _, c := range []struct{ text, want string }{
		{"{X@content} by {X@use_tools}", "done by " + used},
		{"{X@use_tools}", used},
		{"{X@use_tools}: {X@content}, {X@use_tools}", used + ": done, " + used},
		{"{X@use_tools.0.name}", "echo_tool_0"},
		{`{% if true %}{{X@use_tools}}{% endif %}`, used},
	} {
		for _, order := range []engine.Scheduling{engine.Batch, engine.Eager} {
			m := say(plan("echo_tool_0 a"), complete, "done")
			canvas := node(t, "Agent", `{"tools": [`+echo+`]}`, c.text)
			s := play(t, canvas, nil, engine.Null, engine.Options{Ports: engine.Ports{Model: m}, Scheduling: order})
			require.NoError(t, s.err)
			said := ""
			for _, e := range s.events {
				if e.Type == engine.EventMessage {
					said += e.Data().Get("content").Str()
				}
			}
			require.Equal(t, c.want, said, "%s, order %v", c.text, order)
		}
	}
}

func TestAgentPlanning(t *testing.T) {
	for _, c := range []struct{ name, answer, told string }{
		{"prose", "let me see", "no JSON"},
		{"a single call without a list", `{"name": "echo_tool_0", "arguments": {}}`, "a single object"},
		{"no arguments", `[{"name": "echo_tool_0"}]`, `the call of echo_tool_0 has no "arguments"`},
		{"no name", `[{"arguments": {}}]`, `entry 1 has no "name"`},
		{"arguments are not an object", `["echo_tool_0"]`, "entry 1 is a string"},
		{"arguments are not JSON", `[{"name": "echo_tool_0", "arguments": [1]}]`, "arguments is a list"},
		{"arguments as a string", `[{"name": "echo_tool_0", "arguments": "{query: 'a'}"}]`, "[echo_tool_0 result]\nA"},
		{"an empty list", `[]`, "nothing was called"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := say(c.answer, complete, "done")
			s := run(t, node(t, "Agent", `{"tools": [`+echo+`]}`, ""), nil, "q", engine.Null, engine.Ports{Model: m})
			require.NoError(t, s.err)
			require.Len(t, m.asked, 3, "the round was used up")
			require.Contains(t, last(m.asked[1]), c.told)
		})
	}
}

func TestAgentPlanningRequest(t *testing.T) {
	m := say(complete, "done")
	run(t, node(t, "Agent", `{"temperature": 0.5, "temperatureEnabled": true, "sys_prompt": "R `+
		`<plan_generation>Plan well.</plan_generation>",
		"tools": [`+echo+`, {"component_name": "Retrieval", "params": {"description": "the `+
		`handbook"}}]}`, ""), nil, "q", engine.Null, engine.Ports{Model: m})
	req := m.asked[0]
	require.Equal(t, engine.PurposePlan, req.Purpose)
	require.Equal(t, []string{stopMark}, req.Config.Stop)
	require.Nil(t, req.Config.Temperature)
	require.Len(t, req.Tools, 2)
	require.Equal(t, "search_my_dateset_1", req.Tools[1].Name)
	require.Equal(t, "the handbook", req.Tools[1].Description)
	require.Contains(t, req.System, "Plan well.")
	require.Contains(t, req.System, `"name": "echo_tool_0"`)
	require.NotNil(t, m.asked[1].Config.Temperature, "the answer is sampled as the canvas says")
	require.Equal(t, "R", m.asked[1].System)
}

func TestAgentLongConversation(t *testing.T) {
	m := say()
	for range 7 {
		m.replies = append(m.replies, reply{text: plan("echo_tool_0 a")})
	}
	m.replies = append(m.replies, reply{text: "done"})
	s := run(t, node(t, "Agent", `{"max_rounds": 6, "tools": [`+echo+`]}`, ""), nil, "first", engine.Null,
		engine.Ports{Model: m})
	require.NoError(t, s.err)
	final := m.asked[7].Messages
	require.Len(t, final, 11)
	require.Equal(t, "first", final[0].Content)
	require.Contains(t, final[10].Content, "\nfirst\n", "the request is said again")
}

func TestAgentMakesTheQuestionStandAlone(t *testing.T) {
	c := node(t, "Agent", `{"tools": [`+echo+`]}`, "{X@content}")
	m := say(complete, "one", "a whole question", complete, "two")
	s := run(t, c, nil, "q1", engine.Null, engine.Ports{Model: m})
	s = run(t, c, s.state, "and then?", engine.Null, engine.Ports{Model: m})
	require.Equal(t, "two", s.message)
	require.Equal(t, engine.PurposeQuestion, m.asked[2].Purpose)
	require.Contains(t, m.asked[2].System, "USER: q1\nASSISTANT: one\nUSER: and then?")
	require.Contains(t, m.asked[3].System, "a whole question")
	require.Equal(t, "and then?", m.asked[4].Messages[2].Content)
}

const cited = `{"component_name": "EchoTool", "name": "Echo", "params": {"default_reply": "found", "chunks": ` +
	`[{"chunk_id": "c1", "content": "Alpha", "docnm_kwd": "a.pdf"}]}}`

// lateFirst is a search whose answer for the first query follows that for the second.
type lateFirst struct{ second chan struct{} }

func (r *lateFirst) Retrieve(_ context.Context, q *engine.RetrievalQuery) (engine.Found, error) {
	if q.Text == "first" {
		<-r.second
	} else {
		defer close(r.second)
	}
	chunk := engine.Object("chunk_id", q.Text, "content", q.Text, "docnm_kwd", q.Text)
	return engine.Found{Chunks: []engine.Value{chunk}}, nil
}

// Passages count in the order of the tool calls: their numbers must not depend on the time that
// each takes.
func TestPassagesOfToolsKeepTheirOrder(t *testing.T) {
	m := say(plan("search_my_dateset_0 first", "search_my_dateset_0 second"), complete, "x")
	run(t, node(t, "Agent", `{"sys_prompt": "S", "tools": [
		{"component_name": "Retrieval", "name": "Search", "params": {"kb_ids": ["k"]}}]}`, ""), nil, "q", engine.Null,
		engine.Ports{Model: m, Retriever: &lateFirst{make(chan struct{})}})
	var order []string
	for _, chunk := range m.asked[len(m.asked)-1].Chunks.Fields() {
		order = append(order, chunk.Get("content").Str())
	}
	require.Equal(t, []string{"first", "second"}, order)
}

func TestAgentCitations(t *testing.T) {
	t.Run("a short conversation gets the rules along", func(t *testing.T) {
		m := say(plan("echo_tool_0 a"), complete, "x [ID:417]")
		run(t, node(t, "Agent", `{"sys_prompt": "S", "tools": [`+cited+`]}`, ""), nil, "q", engine.Null,
			engine.Ports{Model: m})
		require.Equal(t, "S\n\n"+citationRules, m.asked[2].System)
		require.Equal(t, "Alpha", m.asked[2].Chunks.Get("417").Get("content").Text())
	})
	t.Run("a long one is cited in a second call", func(t *testing.T) {
		m := say(plan("echo_tool_0 a"), plan("echo_tool_0 b"), complete, "<think>t</think>x", "x [ID:417]")
		s := run(t,
			node(t, "Agent", `{"sys_prompt": "S <citation_guidelines>own rules</citation_guidelines>", "tools": [`+
				cited+`]}`, "{X@content}"), nil, "q", engine.Null, engine.Ports{Model: m})
		require.NoError(t, s.err)
		require.Equal(t, "x [ID:417]", s.message, "only the cited text is said")
		require.Equal(t, "S", m.asked[3].System)
		require.Equal(t, engine.PurposeCite, m.asked[4].Purpose)
		require.Equal(t, "x", last(m.asked[4]))
		require.Contains(t, m.asked[4].System, "own rules")
		require.Contains(t, m.asked[4].System, "ID: 417\n├── Title: a.pdf\n└── Content:\nAlpha")
	})
	t.Run("cite off", func(t *testing.T) {
		m := say(plan("echo_tool_0 a"), complete, "x")
		run(t, node(t, "Agent", `{"cite": false, "sys_prompt": "S", "tools": [`+cited+`]}`, ""), nil, "q", engine.Null,
			engine.Ports{Model: m})
		require.Equal(t, "S", m.asked[2].System)
	})
}

func TestAgentStructured(t *testing.T) {
	const params = `{"max_retries": 1, "outputs": {"structured": {"schema": {"properties": {"n": {}}}}}, "tools": [` +
		echo + `]}`
	m := say(complete, "prose", "still prose", `{"n": 3}`)
	s := run(t, node(t, "Agent", params, "{X@structured.n}"), nil, "q", engine.Null, engine.Ports{Model: m})
	require.NoError(t, s.err)
	require.Equal(t, "3", s.message)
	require.True(t, m.asked[1].Stream)
	require.Equal(t, "prose", last(m.asked[2]))

	m = say(complete, "prose", "prose", "prose")
	s = run(t, node(t, "Agent", params, ""), nil, "q", engine.Null, engine.Ports{Model: m})
	require.ErrorIs(t, s.err, errNoStructure)
	require.Len(t, m.asked, 4)
}

func TestAgentInAgent(t *testing.T) {
	inner := `{"component_name": "Agent", "name": "Web Search", "id": "Agent:W", "params": ` +
		`{"sys_prompt": "INNER", "user_prompt": "ask this", "tools": [` + echo + `]}}`
	m := &script{replies: []reply{
		{match: "Web_Search_0", text: `[{"name": "Web_Search_0", "arguments": ` +
			`{"user_prompt": "find", "reasoning": "why", "context": ""}}]`},
		{match: "INNER", text: plan("echo_tool_0 a")},
		{match: "INNER", text: complete},
		{match: "INNER", text: "<think>t</think>inner answer"},
		{text: complete},
		{text: "outer answer"},
	}}
	s := run(t, node(t, "Agent", `{"tools": [`+inner+`]}`, ""), nil, "q", engine.Null, engine.Ports{Model: m})
	require.NoError(t, s.err)
	require.Equal(t, "outer answer", s.outs.Get("content").Text())
	require.Equal(t, "inner answer", s.outs.Get("use_tools").At(0).Get("results").Text())
	def := m.asked[0].Tools[0].Parameters
	require.Equal(t, "ask this", def.Get("properties").Get("user_prompt").Get("default").Text())
	var paths []string
	for _, e := range s.trace {
		if !strings.Contains("analyze_task reflection", e.Get("tool_name").Text()) {
			paths = append(paths, engine.TraceEntry(e).Get("path").Text()+" "+e.Get("tool_name").Text())
		} else {
			require.NotContains(t, engine.TraceEntry(e).Get("path").Text(), e.Get("tool_name").Text(),
				"a step is not a tool")
		}
	}
	require.Equal(t, []string{"Ex-->Web_Search-->Echo echo_tool_0", "Ex-->Web_Search Web_Search_0"}, paths)
	require.Contains(t, m.asked[1].System, "# Why this is asked\nwhy\n\n# Request\nfind")
}

// call returns a native call of EchoTool.
func call(id, query string) engine.ToolCall {
	return engine.ToolCall{ID: id, Name: "echo_tool_0", Arguments: `{"query": "` + query + `"}`}
}

func TestAgentNative(t *testing.T) {
	m := &script{info: engine.Info{Tools: true}, replies: []reply{
		{text: "Let me look.", calls: []engine.ToolCall{
			call("1", "a"), call("2", "bad"),
			{Name: "nope", Arguments: "{"},
		}},
		{text: "It is A."},
	}}
	s := run(t, node(t, "Agent", `{"tools": [`+echo+`]}`, "{X@content}"), nil, "q", engine.Null, engine.Ports{Model: m})
	require.NoError(t, s.err)
	require.Equal(t, "Let me look.\n\nIt is A.", s.message)
	require.Equal(t, 2, s.outs.Get("use_tools").Len())
	require.Len(t, m.asked, 2)
	require.Len(t, m.asked[0].Tools, 1)
	got := m.asked[1].Messages
	require.Equal(t, "uattt", roles(got))
	require.Len(t, got[1].ToolCalls, 3)
	require.Equal(t, got[1].ToolCalls[2].ID, got[4].ToolID)
	require.NotEmpty(t, got[4].ToolID, "a call without id gets one")
	require.Equal(t, "A", got[2].Content)
	require.Equal(t, "tool failed on: bad", got[3].Content)
	require.Contains(t, got[4].Content, "nope")
}

func TestAgentNativeLastRequestHasNoTools(t *testing.T) {
	m := &script{info: engine.Info{Tools: true}}
	for i := range 3 {
		m.replies = append(m.replies, reply{calls: []engine.ToolCall{call(strconv.Itoa(i), "a")}})
	}
	m.replies = append(m.replies, reply{text: "forced"})
	s := run(t, node(t, "Agent", `{"max_rounds": 2, "tools": [`+echo+`]}`, ""), nil, "q", engine.Null,
		engine.Ports{Model: m})
	require.NoError(t, s.err)
	require.Equal(t, "forced", s.outs.Get("content").Text())
	require.Len(t, m.asked, 4)
	require.Empty(t, m.asked[3].Tools)
	require.Equal(t, answerAnyway("q"), last(m.asked[3]))
}

func TestAgentNativeCitesWhatToolsFound(t *testing.T) {
	m := &script{
		info:    engine.Info{Tools: true},
		replies: []reply{{calls: []engine.ToolCall{call("1", "a")}}, {text: "x"}},
	}
	run(t, node(t, "Agent", `{"sys_prompt": "S", "tools": [`+cited+`]}`, ""), nil, "q", engine.Null,
		engine.Ports{Model: m})
	require.Equal(t, "S", m.asked[0].System)
	require.Equal(t, "S\n\n"+citationRules, m.asked[1].System)
}

func TestAgentToolMode(t *testing.T) {
	for _, c := range []struct {
		mode   string
		able   bool
		native bool
	}{{"auto", true, true}, {"auto", false, false}, {"prompt", true, false}, {"native", false, true}} {
		m := say(complete, "done")
		m.info.Tools = c.able
		run(t, node(t, "Agent", `{"tool_mode": "`+c.mode+`", "tools": [`+echo+`]}`, ""), nil, "q", engine.Null,
			engine.Ports{Model: m})
		require.Equal(t, c.native, m.asked[0].Purpose != engine.PurposePlan, "%+v", c)
	}
}

// A model that refuses tools plans in text if the canvas sets no mode; a forced mode fails.
func TestAgentWhoseModelRefusesTools(t *testing.T) {
	refusal := fmt.Errorf("%w: 400 m does not support tools", engine.ErrToolsRefused)
	script := func() *script {
		return &script{info: engine.Info{Tools: true}, replies: []reply{
			{err: refusal}, {text: plan("echo_tool_0 a")}, {text: complete}, {text: "done"},
		}}
	}
	m := script()
	s := run(t, node(t, "Agent", `{"tools": [`+echo+`]}`, "{X@content}"), nil, "q", engine.Null, engine.Ports{Model: m})
	require.NoError(t, s.err)
	require.Equal(t, "done", s.message)
	require.Len(t, m.asked, 4)
	require.Equal(t, engine.PurposePlan, m.asked[1].Purpose)
	require.Contains(t, strings.Join(s.warnings, "\n"), "does not support tools; it plans in text instead")
	require.Equal(t, 1, s.outs.Get("use_tools").Len())

	m = script()
	forced := node(t, "Agent", `{"tool_mode": "native", "tools": [`+echo+`]}`, "")
	s = run(t, forced, nil, "q", engine.Null, engine.Ports{Model: m})
	require.ErrorIs(t, s.err, engine.ErrToolsRefused)
	require.Len(t, m.asked, 1)
}

// A problem while an agent plans is a warning that names the omitted step.
func TestAgentWarnsOfFailedPlanning(t *testing.T) {
	m := &script{replies: []reply{{err: errors.New("503 busy")}, {text: complete}, {text: "done"}}}
	s := run(t, node(t, "Agent", `{"tools": [`+echo+`]}`, ""), nil, "q", engine.Null, engine.Ports{Model: m})
	require.NoError(t, s.err)
	require.Equal(t, "done", s.outs.Get("content").Text())
	const left = "planning: round 1 of 6 is left out: the model gave no plan: 503 busy"
	require.Contains(t, strings.Join(s.warnings, "\n"), left)

	m = &script{replies: []reply{
		{text: plan("echo_tool_0 a")}, {text: complete}, {text: "done"}, {err: errors.New("no summary today")},
	}}
	const remembers = `{"remember_tools": true, "tools": [` + echo + `]}`
	s = run(t, node(t, "Agent", remembers, ""), nil, "q", engine.Null, engine.Ports{Model: m})
	require.NoError(t, s.err)
	require.Contains(t, strings.Join(s.warnings, "\n"), "remember_tools: no summary today")
}

func TestAgentNamesForProviders(t *testing.T) {
	require.Equal(t, "____Search_0", functionName("网络é Search_0"))
	require.Len(t, functionName(strings.Repeat("a", 80)+"_12"), 64)
	require.True(t, strings.HasSuffix(functionName(strings.Repeat("a", 80)+"_12"), "a_12"))
}

// mcp are servers with tools; a server without any refuses requests.
type mcp map[string][]engine.ToolDef

func (m mcp) ListTools(_ context.Context, server *engine.MCPServer) ([]engine.ToolDef, error) {
	if tools, known := m[server.ID]; known {
		return tools, nil
	}
	return nil, errors.New(server.ID + " is away")
}

func (mcp) CallTool(_ context.Context, server *engine.MCPServer, name string, args engine.Value) (
	answer engine.ToolAnswer, err error,
) {
	if args.Get("query").Text() == "bad" {
		return answer, errors.New("server is down")
	}
	answer.Result = engine.String(server.ID + "/" + name + args.Text())
	return answer, nil
}

func TestAgentMCP(t *testing.T) {
	const params = `{"tools": [` + echo + `], "mcp": [{"mcp_id": "id1", "tools": {"lookup": ` +
		`{"description": "d", "inputSchema": {"type": "object"}}, "echo_tool_0": {}}}]}`
	m := say(plan("lookup a", "lookup bad", "echo_tool_0_2 c"), complete, "done")
	s := run(t, node(t, "Agent", params, ""), nil, "q", engine.Null, engine.Ports{Model: m, MCP: mcp{}})
	require.NoError(t, s.err)
	require.Contains(t, m.asked[2].Messages[2].Content, "[lookup result]\nid1/lookup{\"query\": \"a\"}\n[lookup "+
		"result]\nserver is down\n[echo_tool_0_2 result]\nid1/echo_tool_0")

	m = say(plan("lookup a"), complete, "done")
	s = run(t, node(t, "Agent", params, ""), nil, "q", engine.Null, engine.Ports{Model: m})
	require.NoError(t, s.err)
	require.Contains(t, s.outs.Get("use_tools").At(0).Get("results").Text(), "not available here")
}

// mcpLog remembers the server of each call.
type mcpLog struct {
	mcp
	servers []*engine.MCPServer
}

func (l *mcpLog) CallTool(ctx context.Context, server *engine.MCPServer, name string, args engine.Value) (
	engine.ToolAnswer, error,
) {
	l.servers = append(l.servers, server)
	return l.mcp.CallTool(ctx, server, name, args)
}

// The headers of the agent go to its servers; placeholders of secrets carry the mark of the run.
func TestAgentHeadersForServers(t *testing.T) {
	const params = `{"custom_header": {"Authorization": "Bearer {{secret:K}}", "X-N": 7},
		"mcp": [{"mcp_id": "id1", "url": "https://a/mcp", "server_type": "sse", "tools": {"lookup": {}}}]}`
	port := &mcpLog{mcp: mcp{}}
	m := say(plan("lookup a"), complete, "done")
	s := run(t, node(t, "Agent", params, ""), nil, "q", engine.Null, engine.Ports{Model: m, MCP: port})
	require.NoError(t, s.err)
	require.Len(t, port.servers, 1)
	got := port.servers[0]
	require.Equal(t, "https://a/mcp", got.URL)
	require.Equal(t, "sse", got.Type)
	require.NotEmpty(t, got.SecretMark)
	require.Equal(t, []engine.HTTPHeader{
		{Name: "Authorization", Value: "Bearer " + engine.Placeholder("K", got.SecretMark)}, {Name: "X-N", Value: "7"},
	}, got.Header)

	_, err := loadNode("Agent", `{"custom_header": ""}`, "")
	require.NoError(t, err)
	_, err = loadNode("Agent", `{"custom_header": "X-N: 7"}`, "")
	require.ErrorContains(t, err, "custom_header")
}

// The model is offered the current tools of the servers: the chosen ones, or all if none is
// chosen.
func TestAgentListsToolsOfServers(t *testing.T) {
	schema := engine.Object("type", "object", "properties", engine.Object("n", engine.Object("type", "integer")))
	dialect := engine.Object("$schema", "https://json-schema.org/draft/2020-12/schema", "type", "object")
	servers := mcp{
		"chosen": {{Name: "other"}, {Name: "lookup", Description: "described now", Parameters: schema}},
		"open":   {{Name: "all", Description: "a"}, {Name: "lookup"}},
		"empty":  {{Name: "any", Parameters: dialect}},
	}
	const params = `{"tools": [` + echo + `], "mcp": [
		{"mcp_id": "chosen", "tools": {"lookup": {"description": "old"}, "removed": {"description": "old"}}},
		{"mcp_id": "away", "tools": {"kept": {"description": "as it was", "inputSchema": {"type": "object", ` +
		`"required": ["x"]}}}},
		{"mcp_id": "empty", "tools": {}},
		{"mcp_id": "open"}]}`
	m := say(plan("lookup a", "lookup_6 b", "removed c", "kept d"), complete, "done")
	s := run(t, node(t, "Agent", params, ""), nil, "q", engine.Null, engine.Ports{Model: m, MCP: servers})
	require.NoError(t, s.err)
	offered := map[string]engine.ToolDef{}
	for _, def := range m.asked[0].Tools {
		offered[def.Name] = def
	}
	require.Len(t, offered, 6, offered)
	require.Equal(t, `{"type":"object","properties":{}}`, offered["any"].Parameters.JSON(),
		"an empty choice is all tools; providers refuse $schema and objects without properties")
	require.Equal(t, `{"type":"object","required":["x"],"properties":{}}`, offered["kept"].Parameters.JSON())
	require.Equal(t, "described now", offered["lookup"].Description)
	require.Equal(t, schema.JSON(), offered["lookup"].Parameters.JSON())
	require.Equal(t, "as it was", offered["kept"].Description)
	require.Equal(t, `{"type":"object","properties":{}}`, offered["all"].Parameters.JSON())
	require.Contains(t, offered, "lookup_6")
	require.Contains(t, offered, "echo_tool_0")
	seen := m.asked[2].Messages[2].Content
	require.Contains(t, seen, "[lookup result]\nchosen/lookup")
	require.Contains(t, seen, "[lookup_6 result]\nopen/lookup")
	require.Contains(t, seen, "[removed result]\nMCP tool removed: its server does not have it any more")
	require.Contains(t, seen, "[kept result]\naway/kept")
}

// An agent whose servers have no tools any more answers like a model without tools.
func TestAgentWithoutAnyToolLeft(t *testing.T) {
	for _, params := range []string{
		`{"mcp": [{"mcp_id": "s"}]}`,
		`{"mcp": [{"mcp_id": "s", "tools": {"removed": {}}}]}`,
	} {
		m := say("answer")
		s := run(t, node(t, "Agent", params, ""), nil, "q", engine.Null, engine.Ports{Model: m, MCP: mcp{"s": {}}})
		require.NoError(t, s.err)
		require.Equal(t, "answer", s.outs.Get("content").Text())
		require.Empty(t, m.asked[0].Tools)
	}
}

func TestAgentReportsToolsThatCannotRun(t *testing.T) {
	const broken = `{"tools": [{"component_name": "Retrieval", "params": {"top_n": "many"}}, ` +
		`{"component_name": "TavilySearch", "params": {}}, {"component_name": "Switch", "params": {}}]}`
	m := say(
		`[{"name": "search_my_dateset_0", "arguments": {}}, {"name": "tavily_search_1", "arguments": `+
			`{"query": "a"}}, {"name": "switch_2", "arguments": {}}]`, complete, "done")
	s := run(t, node(t, "Agent", broken, ""), nil, "q", engine.Null, engine.Ports{Model: m})
	require.NoError(t, s.err)
	require.Regexp(t, `(?s)top_n.*not available here.*Switch cannot be used as a tool`, m.asked[2].Messages[2].Content)

	_, err := loadNode("Agent", `{"tools": [{"component_name": "Nope", "params": {}}]}`, "")
	require.ErrorContains(t, err, "Nope")
	_, err = loadNode("Agent", `{"tools": [{"params": {}}]}`, "")
	require.ErrorContains(t, err, "tools[0].component_name")
}
