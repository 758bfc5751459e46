package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/egress/hostmatch"
	"github.com/easel-canvas/easel/host/internal/egress/web"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
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

// List returns the secrets that a principal sees without their values.
func (s *Secrets) List(ctx context.Context, who Principal) ([]Secret, error) {
	return s.store.Secrets.List(ctx, who.Viewer())
}

// OpenOf returns the value of a secret for the document of a canvas, with the rights of the member
// who published or saved it. Errors: [ErrNotFound].
func (s *Secrets) OpenOf(ctx context.Context, c Canvas, name string) ([]byte, error) {
	v, err := s.store.Projects.Acting(ctx, c.Tenant, runs.ActorOf(&c), "")
	if err != nil {
		return nil, err
	}
	value, _, err := s.store.Secrets.OpenFor(ctx, v, name)
	return value, err
}

// PutIn is Put for a principal that administers the project of the secret; nil is the project where
// it is, or the default one. Errors: those of [Error].
func (s *Secrets) PutIn(
	ctx context.Context, who Principal, name, value string, hosts []string, project *string,
) error {
	whose, err := s.store.Secrets.Access(ctx, who.Tenant, name)
	known := err == nil
	if errors.Is(err, ErrNotFound) {
		whose, err = access.Object{Tenant: who.Tenant, Team: true, Kind: access.Secret, ID: name}, nil
		if project != nil {
			whose.Project = *project
		}
	}
	if err != nil {
		return err
	}
	if err := who.Check(access.Delete, whose); errors.Is(err, ErrNotFound) && known {
		return Refuse(CodeExists, "a secret of another project has the name %q", name)
	} else if err != nil {
		return missing(err, "project")
	}
	if project != nil {
		next := whose
		next.Project = *project
		if err := missing(who.Check(access.Delete, next), "project"); err != nil {
			return err
		}
		if err := (&Projects{s.store}).Place(ctx, who, *project); err != nil {
			return err
		}
	}
	return s.put(ctx, who.Tenant, name, value, hosts, project)
}

// Remove is Delete for a principal that administers the project of the secret. Errors: those of
// [Error].
func (s *Secrets) Remove(ctx context.Context, who Principal, name string) error {
	whose, err := s.store.Secrets.Access(ctx, who.Tenant, name)
	if err == nil {
		err = who.Check(access.Delete, whose)
	}
	if err != nil {
		return missing(err, "secret")
	}
	return s.Delete(ctx, who.Tenant, name)
}

// Put stores a secret over what was there and binds it to hosts; nil keeps those that it has.
// Errors: those of [Error].
func (s *Secrets) Put(ctx context.Context, tenant, name, value string, hosts []string) error {
	return s.put(ctx, tenant, name, value, hosts, nil)
}

func (s *Secrets) put(ctx context.Context, tenant, name, value string, hosts []string, project *string) error {
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
	return s.store.Secrets.PutIn(ctx, tenant, name, []byte(value), hosts, project)
}

// Delete removes a secret. Errors: [ErrNotFound].
func (s *Secrets) Delete(ctx context.Context, tenant, name string) error {
	return missing(s.store.Secrets.Delete(ctx, tenant, name), "secret")
}

// SecretsOf resolves the secrets of the default project of a tenant for what all members use, such
// as MCP servers.
func SecretsOf(records *store.Store, tenant string) engine.Secrets {
	return SecretsFor(records, func(context.Context) (access.Viewer, error) {
		return access.Viewer{Tenant: tenant}, nil
	})
}

// SecretsFor resolves the secrets that the viewer of a run may use.
func SecretsFor(records *store.Store, viewer func(context.Context) (access.Viewer, error)) engine.Secrets {
	return viewerSecrets{records, viewer}
}

type viewerSecrets struct {
	store  *store.Store
	viewer func(context.Context) (access.Viewer, error)
}

// Secret looks a name up. Errors: [web.ErrNoSecret], those of the store.
func (s viewerSecrets) Secret(ctx context.Context, name string) (engine.Secret, error) {
	v, err := s.viewer(ctx)
	if err != nil {
		return engine.Secret{}, err
	}
	value, hosts, err := s.store.Secrets.OpenFor(ctx, v, name)
	if errors.Is(err, store.ErrNotFound) {
		return engine.Secret{}, fmt.Errorf("secret %q %w", name, web.ErrNoSecret)
	}
	return engine.Secret{Value: string(value), Hosts: hosts}, err
}
