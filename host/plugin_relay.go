package host

import (
	"context"
	"errors"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Relay sends a request of a plugin that runs in a page, with the grant and the secrets of the
// tenant.
func (p *plugins) Relay(ctx context.Context, tenant, name string, r plugin.Relayed) (*plugin.Response, error) {
	m, err := p.catalog.Get(name)
	if err != nil {
		return nil, err
	}
	most, err := p.grants.read(ctx, tenant)
	if err != nil {
		return nil, err
	}
	return m.Relay(ctx, most, relaySecrets{p.store, tenant}, r)
}

// relaySecrets adapts a tenant's secrets to the plugin host.
type relaySecrets struct {
	store  *store.Store
	tenant string
}

func (s relaySecrets) Secret(ctx context.Context, name string) (engine.Secret, bool, error) {
	value, hosts, err := s.store.Secrets.OpenFor(ctx, access.Viewer{Tenant: s.tenant}, name)
	if errors.Is(err, store.ErrNotFound) {
		return engine.Secret{}, false, nil
	}
	return engine.Secret{Value: string(value), Hosts: hosts}, err == nil, err
}
