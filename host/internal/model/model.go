// Package model implements the engine's model port: endpoints with an OpenAI-compatible API or a
// vendor's ([API]), scripted replies for tests, and the offline model, which needs neither network
// nor key.
//
// A [Config] lists providers and their models; [Models] resolves the llm_id of a call to one of
// them: "model", "model@Provider" or "model@instance@Provider". Without providers the offline model
// serves every call and reports it in its answers; with providers an unknown id is an error that
// lists the known ones.
//
// With a limiter ([Models.Limit]) calls wait for their turn; see package limit. Each request counts
// for the limits of its [Entry] and its [Provider].
//
// The package does not log. Keys and headers of providers are sent only in headers: errors
// contain provider, model and status, and a secret that a server repeats is replaced by ***.
package model

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/offline"
	"github.com/easel-canvas/easel/host/internal/limit"
)

// Offline is the model that needs no network and no key.
type Offline = offline.Model

// Models serves model calls through the configured providers. It is safe for concurrent use.
type Models struct {
	config    Config
	providers []*provider
	lessons   lessons
	own       map[string]string // aliases of the tenant, which come before those of the configuration
	prices    engine.Prices     // that the tenant has set
	foreign   []*provider       // to which these do not apply

	limiter     *limit.Limiter // nil admits each call
	tenant, run string         // whose calls they are
}

var (
	_ engine.Model     = (*Models)(nil)
	_ engine.ModelInfo = (*Models)(nil)
)

// New builds the models of a configuration. Errors name the provider with the invalid setting.
func New(config Config) (*Models, error) {
	m := &Models{config: config}
	for i, p := range config.Providers {
		made, err := newProvider(p, nil)
		if err != nil {
			return nil, fmt.Errorf("providers[%d]: %w", i, err)
		}
		made.lessons = &m.lessons
		m.providers = append(m.providers, made)
	}
	return m, m.checkFallbacks()
}

// checkFallbacks reports a fallback model that is unknown.
func (m *Models) checkFallbacks() error {
	for i, p := range m.providers {
		for _, e := range p.config.Models {
			for _, id := range e.Fallback {
				if err := m.Check(id); err != nil {
					return fmt.Errorf("providers[%d]: model %q: fallback: %w", i, e.Name, err)
				}
			}
		}
	}
	return nil
}

// Configured reports whether there is any provider; without one the offline model serves all calls.
func (m *Models) Configured() bool { return len(m.providers) > 0 }

// Check reports whether an llm_id resolves to a model. Errors: [ErrUnknownModel].
func (m *Models) Check(llmID string) error {
	_, _, err := m.resolve(llmID, KindChat)
	return err
}

// Generate calls the model that req.LLM resolves to.
func (m *Models) Generate(ctx context.Context, req *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	if !m.Configured() {
		return Offline{}.Generate(ctx, req)
	}
	p, name, err := m.resolve(req.LLM, KindChat)
	if err != nil {
		return func(yield func(engine.ModelPiece, error) bool) { yield(engine.ModelPiece{}, err) }
	}
	return m.generateBy(ctx, m.plan(chosenModel{p, name}, req), req)
}

// ModelInfo describes the model an llm_id resolves to.
func (m *Models) ModelInfo(ctx context.Context, llmID string) engine.Info {
	if !m.Configured() {
		return Offline{}.ModelInfo(ctx, llmID)
	}
	p, name, err := m.resolve(llmID, KindChat)
	if err != nil {
		return engine.Info{}
	}
	info := p.info(name)
	info.Model = name + "@" + p.config.Name
	info.Price, info.OwnPrice = m.price(p, name)
	return info
}

// Select returns the model for a command-line choice: "offline", "scripted:FILE", or the id of a
// configured model, which then serves every llm_id. An empty choice resolves each llm_id as usual.
func (m *Models) Select(choice string) (engine.Model, error) {
	file, scripted := strings.CutPrefix(choice, "scripted:")
	switch {
	case choice == "":
		return m, nil
	case choice == "offline":
		return Offline{}, nil
	case scripted:
		return ReadScript(file)
	case !m.Configured():
		return nil,
			fmt.Errorf(
				"model %q: no provider is configured; write %s, set OPENAI_API_KEY, or choose offline or scripted:FILE",
				choice, DefaultFile)
	}
	if _, _, err := m.resolve(choice, KindChat); err != nil {
		return nil, err
	}
	return &pinned{models: m, id: choice}, nil
}

// pinned serves every call with one model, ignoring the llm_id of the canvas.
type pinned struct {
	models *Models
	id     string
}

func (p *pinned) Generate(ctx context.Context, req *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	own := *req
	own.LLM, own.Fallback = p.id, nil
	return p.models.Generate(ctx, &own)
}

func (p *pinned) ModelInfo(ctx context.Context, _ string) engine.Info {
	return p.models.ModelInfo(ctx, p.id)
}
