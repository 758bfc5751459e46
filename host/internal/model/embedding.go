package model

import (
	"context"
	"fmt"
)

// EmbeddingModels returns the ids of the embedding models of a tenant, NAME@PROVIDER each: those
// that its providers and the host's list, its own first.
func (t *Tenant) EmbeddingModels(ctx context.Context) ([]string, error) {
	m, err := t.Models(ctx)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, p := range m.providers {
		for _, e := range p.config.Models {
			if e.kind() == KindEmbedding {
				ids = append(ids, e.Name+"@"+p.config.Label())
			}
		}
	}
	return ids, nil
}

// EmbedBy returns one embedding per text, of the embedding model with an id. Errors:
// [ErrUnknownModel], those of the caller's [Account].
func (t *Tenant) EmbedBy(ctx context.Context, id string, texts []string) ([][]float32, error) {
	m, err := t.Models(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range m.providers {
		for _, e := range p.config.Models {
			if e.kind() != KindEmbedding || id != e.Name+"@"+p.config.Label() {
				continue
			}
			if err := t.account.Allow(ctx); err != nil {
				return nil, err
			}
			vectors, tokens, err := m.embedBy(ctx, p, e.Name, texts)
			t.account.Spend(tokens)
			return vectors, err
		}
	}
	return nil, fmt.Errorf("%w: embedding model %q", ErrUnknownModel, id)
}
