package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/hostmatch"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/web"
)

// Secrets are the sealed values that canvases of a tenant use by name.
type Secrets struct{ store *store.Store }

// NewSecrets returns the secrets in a store.
func NewSecrets(s *store.Store) *Secrets { return &Secrets{s} }

// Bounds of secrets, in bytes where nothing else is said.
const (
	longestSecretName = 200
	longestSecret     = 64 << 10
	mostSecretHosts   = 100 // in number
	longestHost       = 260
)

// List returns the secrets of a tenant without their values.
func (s *Secrets) List(ctx context.Context, tenant string) ([]Secret, error) {
	return s.store.Secrets.List(ctx, tenant)
}

// Open returns the value of a secret. Errors: [ErrNotFound].
func (s *Secrets) Open(ctx context.Context, tenant, name string) ([]byte, error) {
	return s.store.Secrets.Open(ctx, tenant, name)
}

// Put stores a secret over what was there and binds it to hosts; nil keeps those that it has.
// Errors: those of [Error].
func (s *Secrets) Put(ctx context.Context, tenant, name, value string, hosts []string) error {
	switch {
	case len(name) > longestSecretName:
		return BadArgument("a secret's name has at most %d bytes", longestSecretName)
	case len(hosts) > mostSecretHosts:
		return BadArgument("a secret has at most %d hosts", mostSecretHosts)
	case value == "" || len(value) > longestSecret:
		return BadArgument("a secret has 1 to %d bytes", longestSecret)
	}
	for _, r := range name {
		if r < ' ' || r == '{' || r == '}' {
			return BadArgument("a secret's name has no braces and no control characters")
		}
	}
	for _, host := range hosts {
		if len(host) > longestHost {
			return BadArgument("hosts: a host has at most %d bytes", longestHost)
		}
		if err := hostmatch.Check(host); err != nil {
			return BadArgument("hosts: %s", err)
		}
	}
	return s.store.Secrets.Put(ctx, tenant, name, []byte(value), hosts)
}

// Delete removes a secret. Errors: [ErrNotFound].
func (s *Secrets) Delete(ctx context.Context, tenant, name string) error {
	return missing(s.store.Secrets.Delete(ctx, tenant, name), "secret")
}

// SecretsOf resolves the secrets of a tenant for the ports of its runs.
func SecretsOf(records *store.Store, tenant string) engine.Secrets {
	return tenantSecrets{records, tenant}
}

type tenantSecrets struct {
	store  *store.Store
	tenant string
}

// Secret looks a name up. Errors: [web.ErrNoSecret], those of the store.
func (s tenantSecrets) Secret(ctx context.Context, name string) (engine.Secret, error) {
	value, hosts, err := s.store.Secrets.OpenBound(ctx, s.tenant, name)
	if errors.Is(err, store.ErrNotFound) {
		return engine.Secret{}, fmt.Errorf("secret %q %w", name, web.ErrNoSecret)
	}
	return engine.Secret{Value: string(value), Hosts: hosts}, err
}
