package component

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/easel-canvas/easel/engine"
)

// Agent is a language model that may call tools before it answers: components, other agents and
// tools of MCP servers. Without tools it is an LLM.
//
// There are two protocols for tools. In prompt mode the model plans in JSON lists, one call per
// round, and writes the answer afterwards; in native mode it calls functions itself. The error of a
// tool is reported to the model, and is never an error of the agent.
//
// Differs: complete_task among other calls waits for them; a sub-agent without tools returns its
// answer. Source: RAGFlow agent/component/agent_with_tools.py at 80a16e71 (behaviour read, code
// written independently).
type Agent struct {
	LLM
	Tools        engine.Value `json:"tools" label:"Tools" doc:"steps and agents that the model may call" shape:"list of {component_name, name, id, params}" section:"tools" widget:"tools"`
	MCP          engine.Value `json:"mcp" label:"MCP servers" doc:"servers whose tools the model may call" shape:"list of {mcp_id, tools: {name: {name, description, inputSchema}}}; without tools, all of the server" section:"tools" widget:"servers"`
	CustomHeader engine.Value `json:"custom_header" label:"Extra headers" doc:"sent to the MCP servers" shape:"{name: value}" section:"tools" widget:"headers" show:"mcp"`
	MaxRounds    int          `json:"max_rounds" label:"Rounds of tools at most" doc:"rounds of tool calls after the first" section:"advanced" default:"5" min:"0"`
	ToolMode     string       `json:"tool_mode" label:"How it calls tools" doc:"functions where the model can, else by the prompt" section:"advanced" options:"auto=Automatic|prompt=By prompt|native=Functions" default:"auto"`
	UserPrompt   string       `json:"user_prompt" label:"Request it expects" doc:"the request that another agent is offered" section:"tools" widget:"prompt" show:"@tool"`
	AgentLimits
	RememberTools bool `json:"remember_tools" label:"Remember tool results" doc:"keeps a summary for later turns; costs one more model call" section:"advanced"`
	tools         toolset
	servers       []*remoteServer
}

var agentSpec = engine.Spec{
	Ignores:  modelIgnores,
	Name:     "Agent",
	Declares: engine.DeclaresSchema,
	Title:    "Agent",
	Search:   []string{"tools", "function", "mcp", "assistant", "autonomous", "工具"}, First: "prompts",
	Category: engine.CategoryModel, Icon: "robot",
	Doc:      "A language model that calls tools, round by round, before it answers.",
	FromForm: agentFromForm,
	New:      func() engine.Component { return &Agent{} },
	Outputs: []engine.Field{
		{Name: "content", Type: "string", Doc: "the answer"},
		{Name: "structured", Type: "json", Doc: "the answer as JSON, when its form is declared"},
		{Name: "use_tools", Type: "list", Doc: "the tool calls: {name, arguments, results}"},
	},
	Waits:    true,
	Thoughts: "Thinking about which tools help.",
	Tool: &engine.ToolSpec{
		Function:    "agent",
		Description: "An agent for a part of the work. Give it one task at a time, with everything it needs to know.",
		Args: []engine.Field{
			{Name: "user_prompt", Type: "string", Doc: "the task, complete and clear", Required: true},
			{Name: "reasoning", Type: "string", Doc: "why this task is given to this agent", Required: true},
			{Name: "context", Type: "string", Doc: "what is known already and matters for the task", Required: true},
		},
		Result: "content",
	},
}

// Init compiles the prompts and the tools.
func (a *Agent) Init(s *engine.Setup) error {
	if err := a.LLM.Init(s); err != nil {
		return err
	}
	if a.RememberTools {
		s.LookBack(engine.Lookback{Memories: mostRecalled})
	}
	return a.bindTools(s)
}

// Run sets the answer, or announces it as a stream.
func (a *Agent) Run(ctx context.Context, call *engine.Call) error {
	args := call.Args()
	asked := ""
	if args.Get("user_prompt").Truthy() {
		asked = delegated(args.Get("reasoning").Text(), args.Get("context").Text(), args.Get("user_prompt").Text())
	}
	c, err := a.prepare(ctx, call, asked)
	if err != nil {
		return err
	}
	if !a.hasTools() {
		return a.ask(ctx, call, c)
	}
	c.system = a.recalled(call, c.system)
	c.fit(call.ModelInfo(ctx, a.LLMID).Context)
	if a.schema.IsNull() && !a.rejects() && call.CanStream() && !call.MaySuspend() {
		return call.Defer("content", c.value())
	}
	text, err := a.work(ctx, call, c, nil)
	if stand, ok := standIn(&a.Common); ok && errors.Is(err, errRejected) {
		text, err = stand, nil
	}
	if err != nil {
		return err
	}
	if !a.schema.IsNull() {
		return a.structure(ctx, call, text)
	}
	if call.IsTool() {
		text = afterReasoning(text)
	}
	call.Out("content", engine.String(text))
	return nil
}

// Stream calls the tools and streams the answer.
func (a *Agent) Stream(ctx context.Context, call *engine.Call, request engine.Value, emit func(string) error) error {
	if !a.hasTools() {
		return a.LLM.Stream(ctx, call, request, emit)
	}
	_, err := a.work(ctx, call, readConversation(request), emit)
	return err
}

// work calls tools and writes the answer.
func (a *Agent) work(ctx context.Context, call *engine.Call, c conversation, emit func(string) error) (string, error) {
	ctx, end := call.Allow(ctx, a.AgentLimits.limits())
	defer end()
	text, err := a.workWithin(ctx, call, c, emit)
	return text, call.Overdue(ctx, err)
}

func (a *Agent) workWithin(
	ctx context.Context, call *engine.Call, c conversation, emit func(string) error,
) (string, error) {
	tools, err := a.toolset(ctx, call)
	if err != nil {
		return "", err
	}
	t := &task{agent: a, call: call, tools: tools, conversation: c, emit: emit}
	t.request, t.files = c.split()
	t.attached = 0 // messages that follow are not the user's
	defer func() { engine.CountImages(call, -t.counted) }()
	var text string
	auto := a.ToolMode == "auto"
	if a.ToolMode == "native" || auto && call.ModelInfo(ctx, a.LLMID).Tools || len(tools.defs()) == 0 {
		text, err = t.native(ctx)
		if auto && errors.Is(err, engine.ErrToolsRefused) && len(t.used) == 0 {
			warn(call, "tools", fmt.Errorf("%w; it plans in text instead", err))
			text, err = t.plan(ctx)
		}
	} else {
		text, err = t.plan(ctx)
	}
	text = engine.WithOpening(text)
	if links := t.unnamedFiles(text); err == nil && links != "" {
		text += links
		if emit != nil {
			err = emit(links)
		}
	}
	if err == nil && a.RememberTools && len(t.used) > 0 {
		err = t.remember(ctx, text)
	}
	return text, err
}

// structure parses the answer as JSON; the model converts an answer that is not JSON, once per try.
func (a *Agent) structure(ctx context.Context, call *engine.Call, text string) error {
	v, err := readBySchema(text, a.schema)
	for n := 0; err != nil && n <= a.MaxRetries; n++ {
		req := &engine.ModelRequest{
			LLM: a.LLMID, Purpose: engine.PurposeStructured, Config: a.config(), Schema: a.schema,
			System:   jsonReformat(jsonAnswer(a.schema)),
			Messages: []engine.ModelMessage{{Role: "user", Content: afterReasoning(text)}},
		}
		answer, failed := call.Generate(ctx, req, nil)
		if endsNode(failed) || ctx.Err() != nil {
			return failed
		}
		if failed != nil {
			err = fmt.Errorf("%w: %w", errNoStructure, failed)
			continue
		}
		v, err = readBySchema(answer.Text, a.schema)
	}
	if err != nil {
		return err
	}
	outStructured(call, v)
	return nil
}

// MaySuspend reports whether a tool of a server needs approval; the canvas checks the other tools.
func (a *Agent) MaySuspend() bool {
	return slices.ContainsFunc(a.servers, func(s *remoteServer) bool {
		return s.asks || slices.ContainsFunc(s.tools, func(t agentTool) bool { return t.approval })
	})
}

// InputForm has one line per reference of the agent's own prompts.
func (a *Agent) InputForm() engine.Value {
	b := engine.NewObject(4)
	for _, refs := range [...][]engine.Ref{a.SysPrompt.Refs(), a.references} {
		for _, r := range refs {
			b.Set(r.Expr, engine.Object("name", r.Expr, "type", "line"))
		}
	}
	return b.Value()
}

var (
	_ engine.Component   = (*Agent)(nil)
	_ engine.Initializer = (*Agent)(nil)
	_ engine.Streamer    = (*Agent)(nil)
	_ engine.Former      = (*Agent)(nil)
)
