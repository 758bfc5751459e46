package host

import (
	"context"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/egress/web"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/tools/native"
	"github.com/easel-canvas/easel/host/internal/tools/sql"
)

// testDatabase connects to a database that an ExeSQL node would use.
func (p *ports) testDatabase(ctx context.Context, settings engine.Value) error {
	s, err := sql.SettingsOf(settings)
	if err != nil {
		return err
	}
	return p.databases.Test(ctx, &s)
}

// tables lists the tables of a database as an ExeSQL node in a run of a job would reach it.
func (p *ports) tables(ctx context.Context, as *runs.Job, params engine.Value) ([]string, error) {
	port := &native.Port{Databases: p.databases, Secrets: p.secrets(as)}
	return port.Tables(ctx, params)
}

// guestTools returns the sandboxed modules for previews in a page; nil without any.
func (p *ports) guestTools() func(as *runs.Job) engine.Tools {
	if p.tools == nil {
		return nil
	}
	return func(as *runs.Job) engine.Tools {
		return p.tools.Guest(as.Tenant, p.secrets(as))
	}
}

// external runs components with outside effects: some in the host, all others as sandboxed modules.
func (p *ports) external(j *runs.Job) engine.Tools {
	secrets := p.secrets(j)
	return &native.Port{
		Network:   &web.Client{AllowPrivate: p.private},
		Databases: p.databases,
		Files:     p.files.RunFiles(filesOf(j)),
		Documents: p.files.Documents,
		Secrets:   secrets,
		Model:     p.model(j),
		Chromium:  p.chromium,
		Others:    p.tools.Port(j.Tenant, secrets),
	}
}
