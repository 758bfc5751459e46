package model

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"sync"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Items are where providers are stored; a [store.Store] is one.
type Items interface {
	Items(ctx context.Context, tenant, kind string) ([]store.Item, error)
	Item(ctx context.Context, tenant, kind, id string) (store.Item, error)
	ItemNamed(ctx context.Context, tenant, kind, name string) (store.Item, error)
	PutItem(ctx context.Context, v store.Item) (store.Item, error)
	DeleteItem(ctx context.Context, tenant, kind, id string) error
}

// Tenants keeps the providers that tenants have added, beside those of the host's configuration,
// which all of them share. Keys are stored sealed and are never returned. It is safe for
// concurrent use.
type Tenants struct {
	Store Items
	Host  *Models
	// Transport reaches the addresses that tenants give; a host sets one that refuses private
	// addresses. Nil is the usual one. The host's own providers do not use it.
	Transport http.RoundTripper
	// Account says where the tokens of a caller are counted; nil counts nothing.
	Account func(tenant, caller string) Account
}

// load makes the models of a tenant: its own providers come first.
func (t *Tenants) load(ctx context.Context, tenant string) (*Models, error) {
	list, err := t.read(ctx, tenant)
	if err != nil {
		return nil, err
	}
	choice, err := t.Choice(ctx, tenant)
	if err != nil {
		return nil, err
	}
	m := &Models{}
	if t.Host != nil {
		m.config = t.Host.config
	}
	for to, from := range map[*string]string{
		&m.config.Default: choice.Default, &m.config.Speech: choice.Speech, &m.config.Voice: choice.Voice, &m.config.Embedding: choice.Embedding,
	} {
		if from != "" {
			*to = from
		}
	}
	for _, p := range list {
		made, err := newProvider(p, t.Transport)
		if err != nil {
			return nil, err
		}
		m.providers = append(m.providers, made)
	}
	if t.Host != nil {
		m.providers = append(m.providers, t.Host.providers...)
	}
	return m, nil
}

// Listed is one model that canvases may name; Name is empty where a provider accepts every name.
type Listed struct {
	Name     string
	Kind     Kind
	Provider string // its label
	Host     bool   // of the host's configuration
}

// List lists the models of a tenant, its own first.
func (t *Tenants) List(ctx context.Context, tenant string) ([]Listed, error) {
	m, err := t.load(ctx, tenant)
	if err != nil {
		return nil, err
	}
	shared := 0
	if t.Host != nil {
		shared = len(t.Host.providers)
	}
	var out []Listed
	for i, p := range m.providers {
		host := i >= len(m.providers)-shared
		if len(p.config.Models) == 0 {
			out = append(out, Listed{Kind: KindChat, Provider: p.config.Label(), Host: host})
		}
		for _, e := range p.config.Models {
			out = append(out, Listed{Name: e.Name, Kind: e.kind(), Provider: p.config.Label(), Host: host})
		}
	}
	return out, nil
}

// Of gives the models of a tenant as they are when one is first used, for one of its callers, ""
// for none in particular. A run takes one, so that it sees one configuration.
func (t *Tenants) Of(tenant, caller string) *Tenant {
	one := &Tenant{tenants: t, tenant: tenant, account: free{}}
	if t.Account != nil {
		one.account = t.Account(tenant, caller)
	}
	return one
}

// Tenant answers through the models of one tenant, which are read when the first is needed, on the
// account of a caller.
type Tenant struct {
	tenants *Tenants
	tenant  string
	account Account
	mu      sync.Mutex
	models  *Models
}

var (
	_ engine.Model     = (*Tenant)(nil)
	_ engine.ModelInfo = (*Tenant)(nil)
	_ engine.Voice     = (*Tenant)(nil)
)

// Models reads the models. A failure is not kept: the next call tries again.
func (t *Tenant) Models(ctx context.Context) (*Models, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.models != nil {
		return t.models, nil
	}
	m, err := t.tenants.load(ctx, t.tenant)
	if err != nil {
		return nil, fmt.Errorf("models of the tenant: %w", err)
	}
	t.models = m
	return m, nil
}

// Generate answers one call. Errors: also those of the caller's [Account].
func (t *Tenant) Generate(ctx context.Context, req *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	m, err := t.Models(ctx)
	if err != nil {
		return func(yield func(engine.ModelPiece, error) bool) { yield(engine.ModelPiece{}, err) }
	}
	if !m.Configured() {
		return m.Generate(ctx, req) // what calls no model uses no tokens
	}
	return counted(ctx, t.account, req, m.Generate(ctx, req))
}

// ModelInfo describes the model an llm_id resolves to.
func (t *Tenant) ModelInfo(ctx context.Context, llmID string) engine.Info {
	m, err := t.Models(ctx)
	if err != nil {
		return engine.Info{} // Generate tells the error
	}
	return m.ModelInfo(ctx, llmID)
}

// Speak reads a text aloud. Providers report no tokens for it, so it is not counted.
func (t *Tenant) Speak(ctx context.Context, text string) ([]byte, error) {
	m, err := t.Models(ctx)
	if err != nil {
		return nil, err
	}
	return m.Speak(ctx, text)
}

// Embed turns texts into vectors. Errors: also those of the caller's [Account].
func (t *Tenant) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	m, err := t.Models(ctx)
	if err != nil {
		return nil, err
	}
	if err := t.account.Allow(ctx); err != nil {
		return nil, err
	}
	vectors, tokens, err := m.embed(ctx, texts)
	t.account.Spend(tokens)
	return vectors, err
}
