package offline

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func tool(t *testing.T, name, description, parameters string) engine.ToolDef {
	return engine.ToolDef{Name: name, Description: description, Parameters: parse(t, parameters)}
}

func TestPlanCallsEachToolThatFits(t *testing.T) {
	search := tool(t, "search_0", "Finds pages", `{"properties": {"query": {"type": "string"}}, "required": ["query"]}`)
	stock := tool(t, "stock_1", "Price of a stock",
		`{"properties": {"stock_code": {"type": "string"}}, "required": ["stock_code"]}`)
	sql := tool(t, "execute_sql_2", "Runs SQL on the stock table",
		`{"properties": {"sql": {"type": "string"}}, "required": ["sql"]}`)
	agent := tool(t, "helper_3", "Helps",
		`{"properties": {"user_prompt": {"type": "string"}, "reasoning": {"type": "string"},
		"context": {"type": "string"}}, "required": ["user_prompt", "reasoning", "context"]}`)
	news := tool(t, "news_4", "News", `{"properties": {"query": {"type": "string"}, "channel": `+
		`{"type": "string", "enum": ["general", "finance news"]},
		"limit": {"type": "integer"}}, "required": ["query", "channel"]}`)
	for _, c := range []struct {
		name, query, want string
		tools             []engine.ToolDef
	}{
		{
			"a search takes the question", "cheap flights",
			`[{"name": "search_0", "arguments": {"query": "cheap flights"}}]`,
			[]engine.ToolDef{search},
		},
		{
			"a value is found by its pattern", "What is the stock price of MSFT?",
			`[{"name": "stock_1", "arguments": {"stock_code": "MSFT"}}]`,
			[]engine.ToolDef{stock},
		},
		{
			"a tool without a required value is not called", "stock of the shop",
			`[{"name": "complete_task", "arguments": {"answer": "stock of the shop"}}]`,
			[]engine.ToolDef{stock, sql},
		},
		{
			"a sub-agent gets the question", "help me",
			`[{"name": "helper_3", "arguments": {"user_prompt": "help me", "reasoning": "help me", "context": "help ` +
				`me"}}]`,
			[]engine.ToolDef{agent},
		},
		{
			"enum values are chosen by common words", "finance today",
			`[{"name": "news_4", "arguments": {"query": "finance today", "channel": "finance news"}}]`,
			[]engine.ToolDef{news},
		},
		{"no tools", "hi there friend", `[{"name": "complete_task", "arguments": {"answer": "hi there friend"}}]`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			req := &engine.ModelRequest{Purpose: engine.PurposePlan, Query: c.query, Tools: c.tools}
			require.Equal(t, c.want, ask(t, req))
		})
	}
}

func TestPlanCompletesAfterOneRound(t *testing.T) {
	search := tool(t, "search_0", "Finds pages", `{"properties": {"query": {"type": "string"}}, "required": ["query"]}`)
	got := ask(t, &engine.ModelRequest{
		Purpose: engine.PurposePlan, Query: "harbours", Tools: []engine.ToolDef{search},
		Messages: []engine.ModelMessage{
			{Role: "user", Content: "harbours"},
			{Role: "assistant", Content: `[{"name": "search_0", "arguments": {"query": "harbours"}}]`},
			{Role: "user", Content: "Observation:\n[search_0 result]\nAll harbours are open.\n\nWhich tool next?"},
		},
	})
	require.Equal(t, `[{"name": "complete_task", "arguments": {"answer": "All harbours are open."}}]`, got)
}

func TestNativeToolsAreCalledOnce(t *testing.T) {
	search := tool(t, "search_0", "Finds pages", `{"properties": {"query": {"type": "string"}}, "required": ["query"]}`)
	req := &engine.ModelRequest{
		Purpose: engine.PurposeAnswer, Query: "ports", Tools: []engine.ToolDef{search},
		Messages: user("ports"),
	}
	require.Equal(t, []engine.ToolCall{{ID: "call_0", Name: "search_0", Arguments: `{"query":"ports"}`}},
		nativeCalls(req))
	req.Messages = append(req.Messages, engine.ModelMessage{Role: "assistant", ToolCalls: nativeCalls(req)},
		engine.ModelMessage{Role: "tool", ToolID: "call_0", Content: "Ports are open."})
	require.Contains(t, ask(t, req), "Ports are open.")
}

func TestQuestionPrecedesTheFirstCall(t *testing.T) {
	got := ask(t, &engine.ModelRequest{
		Purpose: engine.PurposeAnswer, Query: "Answer now.",
		Messages: []engine.ModelMessage{
			{Role: "user", Content: "Is the tower open?"},
			{Role: "assistant", Content: `[{"name": "search_0", "arguments": {"query": "x"}}]`},
			{Role: "user", Content: "Observation:\n[search_0 result]\nThe bridge is closed. The tower is open."},
			{Role: "user", Content: "Answer now."},
		},
	})
	require.Equal(t, Notice+"\nThe tools found:\n- The tower is open.", got)
}

func TestSubAgentReceivesTheQuestion(t *testing.T) {
	agent := tool(t, "helper_0", "Helps",
		`{"properties": {"user_prompt": {"type": "string", "default": "the order"}}, "required": ["user_prompt"]}`)
	got := ask(t, &engine.ModelRequest{
		Purpose: engine.PurposePlan, Query: "find ports",
		Tools: []engine.ToolDef{agent},
	})
	require.Equal(t, `[{"name": "helper_0", "arguments": {"user_prompt": "find ports"}}]`, got)
}
