package host

import (
	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/durable"
)

// ports is the world of one run. Each port has a file of its own, port_*.go.
func (h *Host) ports(j *durable.Job) engine.Ports {
	models := h.modelPort(j)
	return engine.Ports{
		Model:     models,
		Speech:    models,
		Retriever: h.retrieverPort(j),
		Files:     h.filesPort(j),
		Documents: h.documentsPort(j),
		HTTP:      h.httpPort(j),
		Code:      h.codePort(),
		MCP:       h.mcpPort(j),
		Tools:     h.tools.Port(j.Tenant, h.secretsPort(j)),
		Secrets:   h.secretsPort(j),
		Budget:    h.runMemory.open(j.ID),
	}
}
