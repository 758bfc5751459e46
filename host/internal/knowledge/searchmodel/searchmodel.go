// Package searchmodel has the embedding and reranking models that a host is configured with.
package searchmodel

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/easel-canvas/easel/host/internal/knowledge/embed"
	"github.com/easel-canvas/easel/host/internal/knowledge/endpoint"
	"github.com/easel-canvas/easel/host/internal/knowledge/rerank"
)

// Config names models. The zero value has none.
type Config struct {
	// Embedding is URL#MODEL of an OpenAI-compatible server, or a folder with a model.
	Embedding    string
	EmbeddingKey string
	// Rerank is URL#MODEL of a reranking server; #MODEL@SHAPE for another shape than cohere.
	Rerank    string
	RerankKey string
	// Client sends the requests; nil means http.DefaultClient.
	Client *http.Client
}

// Models are the opened models. They are the same for all tenants. The zero value has none.
type Models struct {
	embedder   embed.Embedder
	embedding  string // name@provider
	reranker   rerank.Reranker
	rerankName string
}

// Open opens the models.
func Open(cfg Config) (*Models, error) {
	m := &Models{}
	at := endpoint.Endpoint{Client: cfg.Client}
	if cfg.Embedding != "" {
		location, model, _ := strings.Cut(cfg.Embedding, "#")
		var err error
		m.embedder, err = embed.Open(location, embed.Options{Model: model, Key: cfg.EmbeddingKey, Endpoint: at})
		if err != nil {
			return nil, err
		}
		m.embedding = m.embedder.Model() + "@" + provider(location)
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

// provider is the part of a name behind the @: the host of an address, or local.
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

// Embedder opens an embedding model. Errors: [embed.ErrUnknown].
func (m *Models) Embedder(_ context.Context, _, name string) (embed.Embedder, error) {
	if !same(name, m.embedding) {
		return nil, unknown("embedding", name, m.embedding)
	}
	return m.embedder, nil
}

// DefaultEmbedding names the embedding model of new datasets; "" is none.
func (m *Models) DefaultEmbedding(string) string { return m.embedding }

// Reranker opens a reranking model. Errors: [embed.ErrUnknown].
func (m *Models) Reranker(_ context.Context, _, name string) (rerank.Reranker, error) {
	if !same(name, m.rerankName) {
		return nil, unknown("reranking", name, m.rerankName)
	}
	return m.reranker, nil
}

func unknown(what, name, known string) error {
	if known == "" {
		return fmt.Errorf("%s model %q: %w: this host has none", what, name, embed.ErrUnknown)
	}
	return fmt.Errorf("%s model %q: %w (one of %s)", what, name, embed.ErrUnknown, known)
}
