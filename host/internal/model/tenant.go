package model

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"slices"
	"sync"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/limit"
)

// Tenants stores the providers that tenants have added to those of the host's configuration, which
// all tenants share. Keys are stored sealed and are never returned. It is safe for concurrent use.
type Tenants struct {
	Records Records // the providers and the choice of each tenant
	Host    *Models
	// Transport sends requests to addresses that tenants configure; a host sets one that refuses
	// private addresses. Nil means the default one. The host's own providers do not use it.
	Transport http.RoundTripper
	// Local returns a transport to a port of this machine, for providers that the operator of the
	// host has marked as local. Nil leaves them to Transport.
	Local func(port uint16) http.RoundTripper
	// Operator is the tenant that operates the host, "" for none. Prices that other tenants set are
	// not of the models of the host: what the operator pays for would be free by their word.
	Operator string
	// Account returns the account of a caller; nil disables counting.
	Account func(tenant, caller string) Account
	// Used receives what each call used; nil drops it. It must not block.
	Used func(Use)
	// Limiter admits the calls of all tenants; nil admits each at once.
	Limiter *limit.Limiter

	local   sync.Map // transports by port
	lessons lessons  // of the models of tenants; those of the host have their own
}

// load builds the models of a tenant; its own providers come first.
func (t *Tenants) load(ctx context.Context, tenant string) (*Models, error) {
	list, err := t.read(ctx, tenant)
	if err != nil {
		return nil, err
	}
	choice, err := t.Choice(ctx, tenant)
	if err != nil {
		return nil, err
	}
	m := &Models{limiter: t.Limiter, tenant: tenant}
	if t.Host != nil {
		m.config = t.Host.config
	}
	for to, from := range map[*string]string{
		&m.config.Default: choice.Default, &m.config.Speech: choice.Speech, &m.config.Voice: choice.Voice,
		&m.config.Embedding: choice.Embedding, &m.config.Transcription: choice.Transcription,
	} {
		if from != "" {
			*to = from
		}
	}
	if m.own, err = t.Aliases(ctx, tenant); err != nil {
		return nil, err
	}
	if m.prices, err = t.Prices(ctx, tenant); err != nil {
		return nil, err
	}
	for _, p := range list {
		made, err := t.provider(&p, tenant)
		if err != nil {
			return nil, err
		}
		m.providers = append(m.providers, made)
	}
	if t.Host != nil {
		m.providers = append(m.providers, t.Host.providers...)
	}
	if tenant != t.Operator && t.Host != nil {
		m.foreign = t.Host.providers
	}
	return m, nil
}

// Listed is a model that canvases may name; Name is empty if the provider accepts every name.
type Listed struct {
	Name     string
	Kind     Kind
	Provider string // label of the provider
	Host     bool   // from the host's configuration
	Alias    string // alias of the configuration that leads to the model; "*" is every unknown id
	Tools    *bool  // supports tool calling; nil is not configured
	Default  bool   // the one for chats that a canvas uses if it names none
}

// ID returns what canvases name the model by. "*" stands for any name.
func (l Listed) ID() string {
	switch {
	case l.Alias != "":
		return l.Alias
	case l.Name == "":
		return "*@" + l.Provider
	}
	return l.Name + "@" + l.Provider
}

// List returns the models of a tenant, its own first, and then the aliases of chat models.
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
			out = append(out, Listed{
				Name: e.Name, Kind: e.kind(), Provider: p.config.Label(), Host: host, Tools: e.Tools,
			})
		}
	}
	return append(m.marked(out), m.aliases()...), nil
}

// marked marks the default model for chats, and adds it if its provider accepts every name.
func (m *Models) marked(list []Listed) []Listed {
	p, name, err := m.first(KindChat)
	if err != nil {
		return list
	}
	label := p.config.Label()
	i := slices.IndexFunc(list, func(l Listed) bool { return l.Name == name && l.Provider == label })
	if i < 0 {
		i, list = len(list), append(list, Listed{Name: name, Kind: KindChat, Provider: label, Host: p.owner == ""})
	}
	list[i].Default = true
	return list
}

// aliases returns the aliases that lead to a chat model, sorted.
func (m *Models) aliases() []Listed {
	var out []Listed
	both := map[string]string{}
	maps.Copy(both, m.config.Aliases)
	maps.Copy(both, m.own)
	for _, alias := range slices.Sorted(maps.Keys(both)) {
		p, name, ok := m.find(both[alias])
		if !ok {
			continue
		}
		if e, _ := p.config.entry(name); e.kind() == KindChat {
			_, own := m.own[alias]
			out = append(out, Listed{Name: name, Kind: KindChat, Provider: p.config.Label(), Host: !own, Alias: alias})
		}
	}
	return out
}

// Of returns the models of a tenant for one of its callers; "" means the tenant itself. They are
// loaded at the first use, so that a run sees one configuration.
func (t *Tenants) Of(tenant, caller string) *Tenant {
	one := &Tenant{tenants: t, tenant: tenant, account: unlimited{}, used: t.Used}
	if t.Account != nil {
		one.account = t.Account(tenant, caller)
	}
	return one
}

// Tenant calls the models of one tenant on the account of a caller. The configuration is loaded at
// the first call.
type Tenant struct {
	tenants *Tenants
	tenant  string
	run     string
	canvas  string // "" for calls outside of a canvas
	account Account
	used    func(Use) // nil drops what calls used
	mu      sync.Mutex
	models  *Models
}

var (
	_ engine.Model     = (*Tenant)(nil)
	_ engine.ModelInfo = (*Tenant)(nil)
	_ engine.Voice     = (*Tenant)(nil)
)

// InRun returns t for the calls of one run, which share the limits of a run. Call it before the
// first call.
func (t *Tenant) InRun(id string) *Tenant {
	t.run = id
	return t
}

// ForCanvas returns t for the calls of a canvas.
func (t *Tenant) ForCanvas(id string) *Tenant {
	t.canvas = id
	return t
}

// Models returns the models of the tenant. A load failure is not cached: the next call retries.
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
	m.run = t.run
	t.models = m
	return m, nil
}

// Generate calls a chat model. Errors: also those of the caller's [Account].
func (t *Tenant) Generate(ctx context.Context, req *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	m, err := t.Models(ctx)
	if err != nil {
		return func(yield func(engine.ModelPiece, error) bool) { yield(engine.ModelPiece{}, err) }
	}
	if !m.Configured() {
		return m.Generate(ctx, req) // the offline model uses no tokens
	}
	return t.counted(ctx, m, req, m.Generate(ctx, req))
}

// ModelInfo describes the model an llm_id resolves to.
func (t *Tenant) ModelInfo(ctx context.Context, llmID string) engine.Info {
	m, err := t.Models(ctx)
	if err != nil {
		return engine.Info{} // Generate returns the error
	}
	return m.ModelInfo(ctx, llmID)
}

// Speak converts text to speech. Providers report no tokens for it, so it is not counted. Errors:
// also those of the caller's [Account].
func (t *Tenant) Speak(ctx context.Context, text string) ([]byte, error) {
	m, err := t.Models(ctx)
	if err != nil {
		return nil, err
	}
	if err := t.account.Allow(ctx); err != nil {
		return nil, err
	}
	return m.Speak(ctx, text)
}

// Embed returns one embedding per text. Errors: also those of the caller's [Account].
func (t *Tenant) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	m, err := t.Models(ctx)
	if err != nil {
		return nil, err
	}
	if err := t.account.Allow(ctx); err != nil {
		return nil, err
	}
	vectors, tokens, err := m.embed(ctx, texts)
	t.charge(m, "", KindEmbedding, Tokens{Input: tokens})
	return vectors, err
}

// EmbeddingModel returns the id of the embedding model of the tenant; "" if it has none.
func (t *Tenant) EmbeddingModel(ctx context.Context) (string, error) {
	m, err := t.Models(ctx)
	if err != nil {
		return "", err
	}
	return m.EmbeddingModel()
}
