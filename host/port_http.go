package host

import (
	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/web"
)

func (h *Host) httpPort(j *runs.Job) engine.HTTP {
	return &web.Client{AllowPrivate: h.cfg.AllowPrivate, Secrets: h.secretsPort(j)}
}
