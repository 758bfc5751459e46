package enginetest

import (
	"context"
	"sync"

	"github.com/easel-canvas/easel/engine"
)

// outsideTape forwards calls of tools and web requests to the real ports and records requests and
// answers. It may be used by many goroutines.
type outsideTape struct {
	tools engine.Tools
	mcp   engine.MCP
	http  engine.HTTP

	mu      sync.Mutex
	calls   []*OutsideCall // in the order they began
	servers engine.Value
}

func (t *outsideTape) begin(c OutsideCall) *OutsideCall {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls = append(t.calls, &c)
	return &c
}

// end keeps the answer of a call.
func (t *outsideTape) end(c *OutsideCall, result engine.Value, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.Result = result; err != nil {
		c.setError(err)
	}
}

// recorded lists the calls with their answers.
func (t *outsideTape) recorded() []OutsideCall {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]OutsideCall, len(t.calls))
	for i, c := range t.calls {
		list[i] = *c
	}
	return list
}

// tapedTools is a tape as the port Tools.
type tapedTools struct{ *outsideTape }

func (t tapedTools) CallTool(ctx context.Context, c *engine.ExternalCall) (engine.Value, error) {
	call := t.begin(componentCall(c))
	result, err := t.tools.CallTool(ctx, c)
	t.end(call, result, err)
	return result, err
}

// tapedMCP is a tape as the port MCP. Addresses and headers of servers are not kept.
type tapedMCP struct{ *outsideTape }

func (t tapedMCP) ListTools(ctx context.Context, server *engine.MCPServer) ([]engine.ToolDef, error) {
	defs, err := t.mcp.ListTools(ctx, server)
	if err != nil {
		return nil, err
	}
	list := make([]engine.Value, len(defs))
	for i, d := range defs {
		list[i] = engine.Object("name", d.Name, "description", d.Description, "parameters", d.Parameters)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.servers = t.servers.With(serverName(server), engine.List(list...))
	return defs, nil
}

func (t tapedMCP) CallTool(
	ctx context.Context, server *engine.MCPServer, name string, arguments engine.Value,
) (engine.ToolAnswer, error) {
	call := t.begin(OutsideCall{Server: serverName(server), Name: name, Arguments: arguments})
	answer, err := t.mcp.CallTool(ctx, server, name, arguments)
	recorded := answer.Result
	if len(answer.Files) > 0 {
		recorded = answer.Value()
	}
	t.end(call, recorded, err)
	return answer, err
}
