package component

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/easel-canvas/easel/engine"
)

// Tools of MCP servers. The canvas stores the chosen tools of a server, with their descriptions at
// that time. Each execution requests the current list, which the model receives. If the request
// fails, the list of the canvas is used.

// remoteServer is an MCP server of the canvas.
type remoteServer struct {
	id    string
	url   string      // "" leaves the address to the host
	kind  string      // transport of url
	tools []agentTool // those that were chosen, under their own names
	asks  bool        // a person has to agree to each call
	all   bool        // nothing was chosen: all tools of the server
}

// bindServers reads the servers and the tools that are chosen of each. No choice, or an empty one,
// is every tool.
func (a *Agent) bindServers() {
	for _, entry := range a.MCP.Elements() {
		s := &remoteServer{
			id: entry.Get("mcp_id").Text(), url: entry.Get("url").Text(), kind: entry.Get("server_type").Text(),
			all: entry.Get("tools").Len() == 0, asks: entry.Get("approval").True(),
		}
		for name, tool := range entry.Get("tools").Fields() {
			chosen := remoteTool(s, engine.ToolDef{
				Name: name, Description: tool.Get("description").Text(),
				Parameters: first(tool, "inputSchema", "input_schema", "parameters"),
			})
			chosen.approval = s.asks || tool.Get("approval").True()
			s.tools = append(s.tools, chosen)
		}
		a.servers = append(a.servers, s)
	}
}

// Names returns the servers that the host has to know, with the tools that are chosen of each.
func (a *Agent) Names() (list []engine.Named) {
	for _, s := range a.servers {
		if s.url != "" {
			continue
		}
		list = append(list, engine.Named{Kind: engine.NamedServer, Name: s.id, Param: "mcp", Mild: true})
		for _, tool := range s.tools {
			list = append(list, engine.Named{
				Kind: engine.NamedTool, Name: tool.remote, Server: s.id, Param: "mcp", Mild: true,
			})
		}
	}
	return list
}

// label names the server in warnings.
func (s *remoteServer) label() string { return "MCP server " + cmp.Or(s.id, s.url) }

// address returns the server for the port, with the headers of the agent.
func (a *Agent) address(call *engine.Call, s *remoteServer) *engine.MCPServer {
	out := &engine.MCPServer{ID: s.id, URL: s.url, Type: s.kind}
	for name, value := range call.MarkSecrets(a.CustomHeader).Fields() {
		out.Header = append(out.Header, engine.HTTPHeader{Name: name, Value: value.Text()})
	}
	out.SecretMark = call.SecretMark()
	return out
}

func remoteTool(server *remoteServer, def engine.ToolDef) agentTool {
	def.Parameters = modelSchema(def.Parameters)
	return agentTool{def: def, server: server, remote: def.Name}
}

// modelSchema returns the schema of a tool's arguments as providers of models accept it: an object
// with properties, and without the address of its dialect.
func modelSchema(schema engine.Value) engine.Value {
	if schema.Kind() != engine.KindObject {
		schema = engine.Object("type", "object")
	}
	if schema.Get("properties").Kind() != engine.KindObject {
		schema = schema.With("properties", engine.Object())
	}
	return schema.Without("$schema")
}

// hasTools reports whether there may be tools to call.
func (a *Agent) hasTools() bool { return len(a.tools)+len(a.servers) > 0 }

// toolset returns the tools that may be called now. Its only error is that the run was canceled.
func (a *Agent) toolset(ctx context.Context, call *engine.Call) (toolset, error) {
	set := slices.Clone(a.tools)
	for i := range set {
		if d, ok := set[i].bound.Component().(definer); ok {
			set[i].def = d.Define(ctx, call, set[i].def)
		}
	}
	for i, o := range a.offers(ctx, call) {
		s := a.servers[i]
		for _, tool := range s.choose(call, o) {
			tool.def.Name = set.freeName(tool.def.Name)
			set = append(set, tool)
		}
	}
	if err := call.Canceled(); err != nil {
		return nil, err
	}
	return set, ctx.Err()
}

// offer is the current tool list of a server, or the error of the request.
type offer struct {
	tools []engine.ToolDef
	err   error
}

// offers lists the tools of all servers, concurrently.
func (a *Agent) offers(ctx context.Context, call *engine.Call) []offer {
	out := make([]offer, len(a.servers))
	port := call.Ports().MCP
	var group sync.WaitGroup
	for i, s := range a.servers {
		if port == nil {
			out[i].err = engine.ErrNoPort
			continue
		}
		group.Go(func() { out[i].tools, out[i].err = port.ListTools(ctx, a.address(call, s)) })
	}
	group.Wait()
	return out
}

// choose returns the tools of a server with its descriptions. Problems with them are recorded in
// the log of the run.
func (s *remoteServer) choose(call *engine.Call, o offer) []agentTool {
	server := s.label()
	if o.err != nil {
		if s.all {
			warn(call, server, fmt.Errorf("its tools are not known: %w", o.err))
		} else {
			warn(call, server, fmt.Errorf("its tools are taken from the canvas: %w", o.err))
		}
		return s.tools
	}
	if s.all {
		out := make([]agentTool, len(o.tools))
		for i, def := range o.tools {
			out[i] = remoteTool(s, def)
			out[i].approval = s.asks
		}
		return out
	}
	out := slices.Clone(s.tools)
	for i := range out {
		at := slices.IndexFunc(o.tools, func(def engine.ToolDef) bool { return def.Name == out[i].remote })
		if out[i].gone = at < 0; out[i].gone {
			warn(call, server, fmt.Errorf("it has no tool %s any more", out[i].remote))
			continue
		}
		approval := out[i].approval
		out[i] = remoteTool(s, o.tools[at])
		out[i].approval = approval
	}
	return out
}

// freeName returns the name of an MCP tool, with a number appended if another tool has it already.
func (s toolset) freeName(name string) string {
	if s.find(name) == nil {
		return name
	}
	return name + "_" + strconv.Itoa(len(s))
}

// callRemote calls a tool of an MCP server.
func (t *task) callRemote(ctx context.Context, tool *agentTool, c toolCall) (engine.ToolAnswer, error) {
	done := t.call.TraceTool(c.name, c.args)
	answer, err := t.remoteAnswer(ctx, tool, c)
	if err != nil {
		done(engine.String(err.Error()), err)
		return answer, err
	}
	done(answer.Result, nil)
	return answer, nil
}

// remoteAnswer calls a tool of a server. Links to the files of its answer follow the text.
func (t *task) remoteAnswer(
	ctx context.Context, tool *agentTool, c toolCall,
) (answer engine.ToolAnswer, err error) {
	port := t.call.Ports().MCP
	switch {
	case port == nil:
		return answer, fmt.Errorf("MCP tool %s: %w", c.name, engine.ErrNoPort)
	case tool.gone:
		return answer, fmt.Errorf(
			"MCP tool %s: its server does not have it any more; use another tool, or none", c.name)
	}
	answer, err = port.CallTool(ctx, t.agent.address(t.call, tool.server), tool.remote, c.args)
	text := answer.Result.Text()
	for _, link := range artifactLinks(answer.Files) {
		text = paragraphs(text, link.Str())
	}
	answer.Result = engine.String(text)
	return answer, err
}
