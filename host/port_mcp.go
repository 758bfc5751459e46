package host

import (
	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/durable"
	"github.com/easel-canvas/easel/host/internal/mcp"
)

func (h *Host) mcpPort(j *durable.Job) engine.MCP {
	return &mcp.Port{Client: h.mcp, Owner: j.Tenant + " " + j.ID, Find: mcp.Finder(h.store, j.Tenant)}
}
