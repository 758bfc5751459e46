package host

import (
	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/durable"
	"github.com/easel-canvas/easel/host/internal/mcp"
)

func (h *Host) mcpPort(j *durable.Job) engine.MCP {
	return &mcp.Port{Client: h.mcp, Owner: mcpOwner(j), Find: mcp.Finder(h.store, j.Tenant)}
}

// mcpOwner names a run's connections to MCP servers, which end with it.
func mcpOwner(j *durable.Job) string { return j.Tenant + " " + j.ID }
