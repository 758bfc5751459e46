package host

import (
	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/durable"
	"github.com/easel-canvas/easel/host/internal/upload"
)

func (h *Host) box() *upload.Box {
	return &upload.Box{Store: h.store, Files: h.files, Documents: &h.documents}
}

func (h *Host) filesPort(j *durable.Job) engine.Files { return h.box().Of(j.Tenant) }

func (h *Host) documentsPort(j *durable.Job) engine.Documents { return h.box().Maker(j.Tenant) }
