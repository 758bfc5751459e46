package host

import (
	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/upload"
)

func (h *Host) box() *upload.Box {
	return &upload.Box{Store: h.store, Files: h.files, Documents: &h.documents}
}

func (h *Host) filesPort(j *runs.Job) engine.Files { return h.box().Of(j.Tenant) }

func (h *Host) documentsPort(j *runs.Job) engine.Documents { return h.box().Maker(j.Tenant) }
