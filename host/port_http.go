package host

import (
	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/egress/web"
	"github.com/easel-canvas/easel/host/internal/runs"
)

func (p *ports) http(j *runs.Job) engine.HTTP {
	return &web.Client{AllowPrivate: p.private, Secrets: p.secrets(j)}
}
