// Package searchmodel has the embedding and reranking models that a host is configured with.
package searchmodel

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/easel-canvas/easel/host/internal/knowledge/models/embed"
	"github.com/easel-canvas/easel/host/internal/knowledge/models/encoder"
	"github.com/easel-canvas/easel/host/internal/knowledge/models/endpoint"
	"github.com/easel-canvas/easel/host/internal/knowledge/models/rerank"
)

// Config names models. The zero value has none.
type Config struct {
	// Embedding is URL#MODEL of an OpenAI-compatible server, or a folder with a model; or several
	// of these with commas between them, of which the first is for new datasets. EmbeddingKey has
	// their keys in the same order; with one model it is its key as a whole. "" is the encoder of
	// the program, [NoModel] no default.
	Embedding    string
	EmbeddingKey string
	// Builtin is the encoder of the program, for texts in English; nil if it was built without one.
	Builtin embed.Embedder
	// Tenant finds further models of a tenant; nil means none.
	Tenant TenantModels
	// Rerank is URL#MODEL of a reranking server; #MODEL@SHAPE for another shape than cohere.
	Rerank    string
	RerankKey string
	// Client sends the requests; nil means http.DefaultClient.
	Client *http.Client
}

// NoModel leaves new datasets without an embedding model.
const NoModel = "none"

// OfProgram opens the encoder of the program; nil if it was built without one.
func OfProgram() embed.Embedder {
	if !encoder.Built() {
		return nil
	}
	return encoder.NewBuiltin()
}

// BuiltinName names the encoder of the program in datasets.
const BuiltinName = encoder.Name + "@Builtin"

// TenantModels are the embedding and reranking models that tenants have in their model
// configuration.
type TenantModels interface {
	// EmbeddingModels lists their ids, NAME@PROVIDER.
	EmbeddingModels(ctx context.Context, tenant string) ([]string, error)
	// Embed returns one vector per text, of the model with an id.
	Embed(ctx context.Context, tenant, id string, texts []string) ([][]float32, error)
	// RerankModels lists the ids of reranking models.
	RerankModels(ctx context.Context, tenant string) ([]string, error)
	// Rerank sends texts to the model with an id and returns the answer of its server.
	Rerank(ctx context.Context, tenant, id, query string, texts []string) ([]byte, error)
}

// Models are the opened models. The zero value has none.
type Models struct {
	embedders  []named // the configured default first, the encoder of the program last
	configured int     // embedders before that of the program
	byWords    bool    // new datasets have no model
	tenant     TenantModels
	reranker   rerank.Reranker
	rerankName string
}

// named is an embedding model with its name, NAME@PROVIDER.
type named struct {
	embed.Embedder
	name string
}

// Open opens the models.
func Open(cfg Config) (*Models, error) {
	m := &Models{tenant: cfg.Tenant}
	at := endpoint.Endpoint{Client: cfg.Client}
	if err := m.openEmbedders(cfg, at); err != nil {
		return nil, err
	}
	m.configured = len(m.embedders)
	if cfg.Builtin != nil {
		m.embedders = append(m.embedders, named{cfg.Builtin, BuiltinName})
	}
	if cfg.Rerank != "" {
		location, name, _ := strings.Cut(cfg.Rerank, "#")
		model, shape, found := strings.Cut(name, "@")
		if !found {
			shape = string(rerank.Cohere)
		}
		var err error
		m.reranker, err = rerank.Open(location, rerank.Options{
			Shape: rerank.Shape(shape), Model: model, Key: cfg.RerankKey, Endpoint: at,
		})
		if err != nil {
			return nil, err
		}
		m.rerankName = model + "@" + provider(location)
	}
	return m, nil
}

// openEmbedders opens the embedding models.
func (m *Models) openEmbedders(cfg Config, at endpoint.Endpoint) error {
	m.byWords = cfg.Embedding == NoModel
	if cfg.Embedding == "" || m.byWords {
		return nil
	}
	list, keys := strings.Split(cfg.Embedding, ","), []string{cfg.EmbeddingKey}
	if len(list) > 1 {
		keys = strings.Split(cfg.EmbeddingKey, ",")
	}
	for i, text := range list {
		location, model, _ := strings.Cut(strings.TrimSpace(text), "#")
		o := embed.Options{Model: model, Endpoint: at}
		if i < len(keys) {
			o.Key = strings.TrimSpace(keys[i])
		}
		e, err := embed.Open(location, o)
		if err != nil {
			return err
		}
		name := e.Model() + "@" + provider(location)
		for _, other := range m.embedders {
			if other.name == name {
				return fmt.Errorf("embedding model %q is given twice", name)
			}
		}
		m.embedders = append(m.embedders, named{e, name})
	}
	return nil
}

// provider returns the part of a name behind the @: the host of an address, or local.
func provider(location string) string {
	if u, err := url.Parse(location); err == nil && u.Host != "" {
		return u.Hostname()
	}
	return "local"
}

// same compares names of models; the provider may be left out.
func same(name, full string) bool {
	short, _, _ := strings.Cut(full, "@")
	return full != "" && (name == full || name == short)
}

// Embedder opens an embedding model: one of the host, or one of the tenant. Errors:
// [embed.ErrUnknown].
func (m *Models) Embedder(ctx context.Context, tenant, name string) (embed.Embedder, error) {
	var known []string
	for _, e := range m.embedders {
		if same(name, e.name) {
			return e, nil
		}
		known = append(known, e.name)
	}
	if m.tenant != nil {
		ids, err := m.tenant.EmbeddingModels(ctx, tenant)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			if same(name, id) {
				return ofTenant{m.tenant, tenant, id}, nil
			}
		}
		known = append(known, ids...)
	}
	if name == BuiltinName {
		return nil, fmt.Errorf("embedding model %q: %w: %w", name, embed.ErrUnknown, encoder.ErrNotBuilt)
	}
	return nil, unknown("embedding", name, known...)
}

// ofTenant is an embedding model of a tenant.
type ofTenant struct {
	models     TenantModels
	tenant, id string
}

// Model implements [embed.Embedder].
func (e ofTenant) Model() string { return e.id }

// Embed implements [embed.Embedder].
func (e ofTenant) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return e.models.Embed(ctx, e.tenant, e.id, texts)
}

// DefaultEmbedding names the embedding model of new datasets in a language; "" is none. The encoder
// of the program reads English only; "" is a language that is not known yet.
func (m *Models) DefaultEmbedding(_, language string) string {
	if name := m.Configured(); name != "" || m.byWords || len(m.embedders) == 0 {
		return name
	}
	if language != "" && !strings.EqualFold(language, "english") {
		return ""
	}
	return BuiltinName
}

// Configured names the first embedding model of the configuration; "" is none.
func (m *Models) Configured() string {
	if m.configured == 0 {
		return ""
	}
	return m.embedders[0].name
}

// Reranker opens a reranking model: the one of the host, or one of the tenant. Errors:
// [embed.ErrUnknown].
func (m *Models) Reranker(ctx context.Context, tenant, name string) (rerank.Reranker, error) {
	var known []string
	if m.rerankName != "" {
		known = append(known, m.rerankName)
	}
	if same(name, m.rerankName) {
		return m.reranker, nil
	}
	if m.tenant != nil {
		ids, err := m.tenant.RerankModels(ctx, tenant)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			if same(name, id) {
				send := func(ctx context.Context, query string, texts []string) ([]byte, error) {
					return m.tenant.Rerank(ctx, tenant, id, query, texts)
				}
				return rerank.By(id, send), nil
			}
		}
		known = append(known, ids...)
	}
	return nil, unknown("reranking", name, known...)
}

func unknown(what, name string, known ...string) error {
	if len(known) == 0 {
		return fmt.Errorf("%s model %q: %w: this host has none", what, name, embed.ErrUnknown)
	}
	return fmt.Errorf("%s model %q: %w (one of %s)", what, name, embed.ErrUnknown, strings.Join(known, ", "))
}
