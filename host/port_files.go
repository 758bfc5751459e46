package host

import (
	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/durable"
	"github.com/easel-canvas/easel/host/internal/upload"
)

func (h *Host) filesPort(j *durable.Job) engine.Files {
	return (&upload.Box{Store: h.store, Log: h.log, Documents: &h.documents}).Of(j.Tenant)
}
