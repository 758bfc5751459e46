package host

import (
	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/mcp"
	"github.com/easel-canvas/easel/host/internal/runs"
)

func (p *ports) mcpServers(j *runs.Job) engine.MCP {
	return &mcp.Port{
		Client: p.mcp, Owner: mcpOwner(j), Find: app.FindServer(p.store, j.Tenant), Secrets: p.secrets(j),
		Save: p.save(j),
	}
}

// mcpOwner names a run's connections to MCP servers, which end with it.
func mcpOwner(j *runs.Job) string { return j.Tenant + " " + j.ID }
