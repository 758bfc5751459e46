package mcp

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/easel-canvas/easel/engine"
)

// Port implements the engine's MCP port for one run.
type Port struct {
	Client *Client
	Owner  string // identifies the run and its tenant; connections are not shared with other owners
	// Find returns the tenant's configuration of a server.
	Find func(ctx context.Context, id string) (Server, error)

	mu     sync.Mutex
	failed map[string]failure // servers that failed to list their tools, by id
}

// failure is a failed listing, which later agents of the run get without another attempt.
type failure struct {
	err   error
	until time.Time
}

// failureTTL is how long a server is not retried after it failed to list its tools.
const failureTTL = 30 * time.Second

var _ engine.MCP = (*Port)(nil)

// ListTools lists the tools of a server.
func (p *Port) ListTools(ctx context.Context, id string) ([]engine.ToolDef, error) {
	s, err := p.Find(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := p.failure(id); err != nil {
		return nil, err
	}
	list, err := p.Client.Offered(ctx, p.Owner, s)
	if errors.Is(err, ErrServer) && ctx.Err() == nil {
		p.mu.Lock()
		if p.failed == nil {
			p.failed = map[string]failure{}
		}
		p.failed[id] = failure{err, time.Now().Add(failureTTL)}
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

// failure returns the cached error of a server, or nil if it may be tried.
func (p *Port) failure(id string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.failed[id]; time.Now().Before(s.until) {
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
