package mcp

import (
	"context"

	"github.com/easel-canvas/easel/engine"
)

// Port answers the engine's MCP port for one run.
type Port struct {
	Client *Client
	Owner  string // names the run and its tenant; connections are its own
	// Find reads what the tenant has written down about a server.
	Find func(ctx context.Context, id string) (Server, error)
}

var _ engine.MCP = (*Port)(nil)

// ListTools lists the tools that a server has in this run.
func (p *Port) ListTools(ctx context.Context, id string) ([]engine.ToolDef, error) {
	s, err := p.Find(ctx, id)
	if err != nil {
		return nil, err
	}
	list, err := p.Client.Offered(ctx, p.Owner, s)
	if err != nil {
		return nil, err
	}
	out := make([]engine.ToolDef, len(list))
	for i, t := range list {
		out[i] = engine.ToolDef{Name: t.Get("name").Str(), Description: t.Get("description").Str(), Parameters: t.Get("inputSchema")}
	}
	return out, nil
}

// CallTool calls a tool of a server.
func (p *Port) CallTool(ctx context.Context, id, name string, arguments engine.Value) (string, error) {
	s, err := p.Find(ctx, id)
	if err != nil {
		return "", err
	}
	return p.Client.Call(ctx, p.Owner, s, name, arguments)
}
