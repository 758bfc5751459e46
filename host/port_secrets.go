package host

import (
	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/runs"
)

func (p *ports) secrets(j *runs.Job) engine.Secrets { return app.SecretsOf(p.store, j.Tenant) }
