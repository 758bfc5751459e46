package mcp

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/easel-canvas/easel/engine"
)

// Port answers the engine's MCP port for one run.
type Port struct {
	Client *Client
	Owner  string // names the run and its tenant; connections are its own
	// Find reads what the tenant has written down about a server.
	Find func(ctx context.Context, id string) (Server, error)

	mu   sync.Mutex
	away map[string]silence // servers that did not list their tools, by id
}

// silence is that of a server, which the next agents of the run do not wait for
// again.
type silence struct {
	err   error
	until time.Time
}

// silentFor is how long a server is left alone after it did not answer.
const silentFor = 30 * time.Second

var _ engine.MCP = (*Port)(nil)

// ListTools lists the tools that a server has in this run.
func (p *Port) ListTools(ctx context.Context, id string) ([]engine.ToolDef, error) {
	s, err := p.Find(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := p.silence(id); err != nil {
		return nil, err
	}
	list, err := p.Client.Offered(ctx, p.Owner, s)
	if errors.Is(err, ErrServer) && ctx.Err() == nil {
		p.mu.Lock()
		if p.away == nil {
			p.away = map[string]silence{}
		}
		p.away[id] = silence{err, time.Now().Add(silentFor)}
		p.mu.Unlock()
	}
	if err != nil {
		return nil, err
	}
	out := make([]engine.ToolDef, len(list))
	for i, t := range list {
		out[i] = engine.ToolDef{Name: t.Get("name").Str(), Description: t.Get("description").Str(), Parameters: t.Get("inputSchema")}
	}
	return out, nil
}

// silence is why a server is not asked now.
func (p *Port) silence(id string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.away[id]; time.Now().Before(s.until) {
		return s.err
	}
	return nil
}

// CallTool calls a tool of a server.
func (p *Port) CallTool(ctx context.Context, id, name string, arguments engine.Value) (string, error) {
	s, err := p.Find(ctx, id)
	if err != nil {
		return "", err
	}
	return p.Client.Call(ctx, p.Owner, s, name, arguments)
}
