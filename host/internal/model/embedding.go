package model

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/model/embedding"
	"github.com/easel-canvas/easel/host/internal/model/loose"
)

// ModelsOf returns the ids of the models of a kind of a tenant, NAME@PROVIDER each: those that its
// providers and the host's list, its own first.
func (t *Tenant) ModelsOf(ctx context.Context, kind Kind) ([]string, error) {
	m, err := t.Models(ctx)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, p := range m.providers {
		for _, e := range p.config.Models {
			if e.kind() == kind {
				ids = append(ids, e.Name+"@"+p.config.Label())
			}
		}
	}
	return ids, nil
}

// listed returns the provider and the name of a model by its id of [Tenant.ModelsOf], if the caller
// may call it. Errors: [ErrUnknownModel], those of the caller's [Account].
func (t *Tenant) listed(ctx context.Context, id string, kind Kind) (m *Models, p *provider, name string, err error) {
	if m, err = t.Models(ctx); err != nil {
		return nil, nil, "", err
	}
	for _, p := range m.providers {
		for _, e := range p.config.Models {
			if e.kind() == kind && id == e.Name+"@"+p.config.Label() {
				return m, p, e.Name, t.account.Allow(ctx)
			}
		}
	}
	return nil, nil, "", fmt.Errorf("%w: %s model %q", ErrUnknownModel, kind, id)
}

// EmbedBy returns one embedding per text, of the embedding model with an id. Errors:
// [ErrUnknownModel], those of the caller's [Account].
func (t *Tenant) EmbedBy(ctx context.Context, id string, texts []string) ([][]float32, error) {
	m, p, name, err := t.listed(ctx, id, KindEmbedding)
	if err != nil {
		return nil, err
	}
	vectors, tokens, err := m.embedBy(ctx, p, name, texts)
	t.account.Spend(tokens)
	return vectors, err
}

// maxTexts bounds the texts per embedding request until a server requires fewer.
const maxTexts = 64

// embedBy is embed with a chosen model. It sends as many texts in a request as the server takes. A
// text that is longer than the model takes is cut; see [embedding.WithCuts].
func (m *Models) embedBy(
	ctx context.Context, p *provider, name string, texts []string,
) (out [][]float32, tokens int64, err error) {
	out = make([][]float32, 0, len(texts))
	for len(texts) > 0 {
		n := min(len(texts), maxTexts)
		if most := p.lesson(name).Batch; most > 0 {
			n = min(n, most)
		}
		vectors, used, err := m.embedFitting(ctx, p, name, texts[:n], len(out))
		tokens = sum(tokens, used)
		if err != nil {
			return nil, tokens, err
		}
		out, texts = append(out, vectors...), texts[len(vectors):]
	}
	return out, tokens, nil
}

// embedFitting returns the vectors of texts, or of the first of them if the server takes fewer.
// first is the number of the first text.
func (m *Models) embedFitting(
	ctx context.Context, p *provider, name string, texts []string, first int,
) (vectors [][]float32, tokens int64, err error) {
	fit := embedding.Fit{
		Send: func(texts []string) ([][]float32, error) {
			var err error
			vectors, tokens, err = m.embedSome(ctx, p, name, texts)
			return vectors, err
		},
		Refusal: func(err error) (int, string) {
			var e *Error
			if errors.As(err, &e) {
				return e.Status, e.Err.Error()
			}
			return 0, ""
		},
		Learn: func(batch int) { p.learn(name, func(l *Lesson) { l.Batch = batch }) },
	}
	vectors, err = fit.Embed(ctx, texts, first)
	return vectors, tokens, err
}

// embedSome makes one embedding request once it may be made.
func (m *Models) embedSome(
	ctx context.Context, p *provider, model string, texts []string,
) (vectors [][]float32, tokens int64, err error) {
	p, turn, err := m.enter(ctx, p, model, tokensOf(texts), nil)
	if err != nil {
		return nil, 0, err
	}
	defer func() { turn.Leave(tokens) }()
	return p.embed(ctx, model, texts)
}

// tokensOf estimates the tokens of texts.
func tokensOf(texts []string) (n int64) {
	for _, text := range texts {
		n = sum(n, int64(engine.Tokens(text)))
	}
	return n
}

// embed sends one embedding request and returns the tokens used.
func (p *provider) embed(ctx context.Context, model string, texts []string) (vectors [][]float32, tokens int64,
	err error,
) {
	err = p.exchange(ctx, model, func(ctx context.Context, x *exchange, received func()) error {
		body := func(l *Lesson) (body, params engine.Value) {
			body = engine.Object("model", model, "input", engine.Strings(texts...), "encoding_format", "float")
			if own, _ := p.config.entry(model); own.Dimensions > 0 {
				body = body.With("dimensions", engine.Int(int64(own.Dimensions)))
			}
			body = l.apply(body)
			return body, body
		}
		res, err := p.negotiated(ctx, x, target{model: model, path: "/embeddings"}, body, nil)
		if err != nil {
			return err
		}
		defer res.Body.Close() //nolint:errcheck // the answer was read
		data, err := io.ReadAll(res.Body)
		if err != nil {
			return broken(ctx, err)
		}
		received()
		v, err := engine.ParseJSON(data)
		if err != nil {
			v, err = engine.ParseJSON(repaired(data)) // NaN
		}
		if err != nil {
			if len(data) > 0 && data[0] == '{' {
				return fmt.Errorf("%w: %w", ErrBroken, err)
			}
			return &refusal{text: "the response has no embeddings; check base_url: " + firstWords(data)}
		}
		if refused := (&document{value: v}).reported(); refused != nil {
			return refused
		}
		prompt, _ := loose.Number(v.Get("usage").Get("prompt_tokens"))
		completion, _ := loose.Number(v.Get("usage").Get("completion_tokens"))
		tokens = reported(int(prompt), int(completion))
		vectors, err = embedding.Vectors(v, len(texts))
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	if tokens == 0 {
		tokens = tokensOf(texts)
	}
	return vectors, tokens, nil
}
