package model

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/limit"
)

// Limit subjects the calls to a limiter, as those of one run of a tenant. Call it before the first
// call.
func (m *Models) Limit(l *limit.Limiter, tenant, run string) {
	m.limiter, m.tenant, m.run = l, tenant, run
}

// scope returns the name of a model among the models of all tenants.
func (p *provider) scope(model string) string {
	return p.owner + "\n" + p.config.Label() + "\n" + model
}

// enter waits until a model may be called, and returns its provider for this one call. The caller
// ends the turn.
func (m *Models) enter(
	ctx context.Context, p *provider, model string, tokens int64, queued engine.QueuedFunc,
) (*provider, *limit.Turn, error) {
	if m.limiter == nil {
		return p, nil, nil
	}
	turn, err := m.limiter.Enter(ctx, limit.Call{
		Tenant: m.tenant, Run: m.run, Model: p.scope(model), Limits: p.config.limits(model), Tokens: tokens,
	})
	if err != nil {
		return nil, nil, p.notAdmitted(model, err)
	}
	one := *p
	one.turn = turn
	one.queued = func(d time.Duration) {
		if d > 0 && queued != nil {
			queued(engine.QueueModel, model+"@"+p.config.Label(), d)
		}
	}
	one.queued(turn.Waited())
	return &one, turn, nil
}

// notAdmitted returns the error of a call that was not sent. A pause of the model is an error of
// its server, so that it is retried like one.
func (p *provider) notAdmitted(model string, err error) error {
	var paused *limit.PausedError
	if errors.As(err, &paused) {
		return &Error{
			Provider: p.config.Label(), Model: model, Status: http.StatusTooManyRequests, Err: err, elsewhere: true,
		}
	}
	return err
}

// limits returns those of a model.
func (p *Provider) limits(model string) limit.Limits {
	e, _ := p.entry(model)
	return e.Limits.Or(p.Limits)
}

// generate calls a chat model once it may be called.
func (m *Models) generate(
	ctx context.Context, p *provider, model string, req *engine.ModelRequest,
) iter.Seq2[engine.ModelPiece, error] {
	if m.limiter == nil {
		return p.generate(ctx, model, req)
	}
	return func(yield func(engine.ModelPiece, error) bool) {
		prompt := promptTokens(req)
		estimate := prompt
		if most := req.Config.MaxTokens; most != nil {
			estimate = sum(estimate, int64(max(*most, 0)))
		}
		p, turn, err := m.enter(ctx, p, model, estimate, req.Queued)
		if err != nil {
			yield(engine.ModelPiece{}, err)
			return
		}
		var b bill
		defer func() { turn.Leave(b.tokens(func() int64 { return prompt }).sum()) }()
		for piece, err := range p.generate(ctx, model, req) {
			b.take(piece)
			if !turn.Hold(func() bool { return yield(piece, err) }) {
				return
			}
		}
	}
}
