package host

import (
	"context"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/runs"
)

// secrets resolves the secrets that a run may use: those of the member for whom it acts, or in a
// canvas inside of it of the one for whom that acts.
func (p *ports) secrets(j *runs.Job) engine.Secrets {
	outer := p.rightsOf(j)
	return app.SecretsFor(p.store, func(ctx context.Context) (access.Viewer, error) {
		if inner, ok := ctx.Value(innerRights{}).(*rights); ok {
			return inner.viewer(ctx)
		}
		return outer.viewer(ctx)
	})
}

// innerRights is the key of the rights of a canvas inside of another one.
type innerRights struct{}

// enter returns the context in which a canvas with other rights runs.
func (r *rights) enter(ctx context.Context) context.Context {
	return context.WithValue(ctx, innerRights{}, r)
}
