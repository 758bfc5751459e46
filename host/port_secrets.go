package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/web"
)

func (p *ports) secrets(j *runs.Job) engine.Secrets { return secrets{p.store, j.Tenant} }

// secrets resolves a tenant's secrets by name.
type secrets struct {
	store  *store.Store
	tenant string
}

// Secret looks a name up. Errors: [web.ErrNoSecret], those of the store.
func (s secrets) Secret(ctx context.Context, name string) (engine.Secret, error) {
	value, hosts, err := s.store.Secrets.OpenBound(ctx, s.tenant, name)
	if errors.Is(err, store.ErrNotFound) {
		return engine.Secret{}, fmt.Errorf("secret %q %w", name, web.ErrNoSecret)
	}
	return engine.Secret{Value: string(value), Hosts: hosts}, err
}
