package model

import (
	"context"
	"fmt"
	"io"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/model/loose"
)

// rerankPath is the path of reranking requests below the base URL.
const rerankPath = "/rerank"

// RerankBy sends texts to the reranking model with an id and returns the answer of its server.
// Errors: [ErrUnknownModel], those of the caller's [Account].
func (t *Tenant) RerankBy(ctx context.Context, id, query string, texts []string) ([]byte, error) {
	m, p, name, err := t.listed(ctx, id, KindRerank)
	if err != nil {
		return nil, err
	}
	estimate := sum(tokensOf(texts), int64(engine.Tokens(query)))
	p, turn, err := m.enter(ctx, p, name, estimate, nil)
	if err != nil {
		return nil, err
	}
	answer, tokens, err := p.rerank(ctx, name, query, texts)
	if err == nil && tokens == 0 {
		tokens = estimate
	}
	turn.Leave(tokens)
	t.account.Spend(tokens)
	return answer, err
}

// rerankAddress returns the address of reranking requests below a base URL, or that of the preset.
func (p *provider) rerankAddress(base string) string {
	preset, known := PresetOf(p.config.Name)
	if known && preset.rerank != "" && p.config.BaseURL == preset.BaseURL {
		return preset.rerank
	}
	return base + rerankPath
}

// rerank sends one reranking request and returns its answer with the reported tokens, if any.
func (p *provider) rerank(ctx context.Context, model, query string, texts []string) (answer []byte, tokens int64,
	err error,
) {
	err = p.exchange(ctx, model, func(ctx context.Context, x *exchange, received func()) error {
		body := func(l *Lesson) (body, params engine.Value) {
			body = l.apply(engine.Object("model", model, "query", query, "documents", engine.Strings(texts...),
				"top_n", len(texts)))
			return body, body
		}
		res, err := p.negotiated(ctx, x, target{model: model, path: rerankPath}, body, nil)
		if err != nil {
			return err
		}
		defer res.Body.Close() //nolint:errcheck // the answer was read
		answer, err = io.ReadAll(io.LimitReader(res.Body, maxListBytes+1))
		switch {
		case err != nil:
			return broken(ctx, err)
		case len(answer) > maxListBytes:
			return fmt.Errorf("%w: the scores have more than %d MiB", ErrTooLarge, maxListBytes>>20)
		}
		received()
		v, err := engine.ParseJSON(answer)
		if err != nil {
			return &refusal{text: "the response has no scores; check base_url: " + firstWords(answer)}
		}
		if refused := (&document{value: v}).reported(); refused != nil && v.Get("results").IsNull() &&
			v.Get("data").IsNull() {
			return refused
		}
		tokens, _ = loose.Number(v.Get("usage").Get("total_tokens"))
		tokens = min(max(tokens, 0), maxReported)
		return nil
	})
	return answer, tokens, err
}
