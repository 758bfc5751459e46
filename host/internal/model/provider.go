package model

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/egress/reach"
	"github.com/easel-canvas/easel/host/internal/limit"
)

// provider calls one endpoint.
type provider struct {
	config  Provider
	client  *http.Client
	timeout time.Duration
	retries int
	sleep   func(context.Context, time.Duration) error
	// lessons are shared by all providers that call the same models.
	lessons *lessons
	owner   string // tenant that configured it; "" is the host

	// Of one call; nil without a limiter.
	turn   *limit.Turn
	queued func(time.Duration) // takes how long the call waited
}

// newProvider returns a provider. A nil transport means the default one.
func newProvider(c Provider, transport http.RoundTripper) (*provider, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	c = c.Completed()
	c.BaseURL = c.address()
	p := &provider{
		config: c, client: &http.Client{Transport: transport, CheckRedirect: reach.StayAtOrigin},
		timeout: 5 * time.Minute, retries: 3, sleep: engine.SystemClock{}.Sleep, lessons: &lessons{},
	}
	if c.Timeout > 0 {
		p.timeout = time.Duration(c.Timeout * float64(time.Second))
	}
	if c.Retries != nil {
		p.retries = max(0, *c.Retries)
	}
	return p, nil
}

// exchange runs fn for one exchange with the endpoint. It fails with [ErrSilent] if the server
// sends nothing for the timeout, before or during the response; fn calls received when data
// arrives.
func (p *provider) exchange(ctx context.Context, model string,
	fn func(ctx context.Context, x *exchange, received func()) error,
) error {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	x := p.newExchange()
	x.cancel = cancel
	idle := time.AfterFunc(p.timeout, func() {
		if !x.held.Load() {
			cancel(ErrSilent)
		}
	})
	defer idle.Stop()
	return p.classify(ctx, inner, model, fn(inner, x, func() { idle.Reset(p.timeout) }))
}

func (p *provider) newExchange() *exchange {
	return &exchange{client: p.client, retries: p.retries, sleep: p.sleep, turn: p.turn, queued: p.queued}
}

// classify returns the error of an exchange: that of the caller's context outer, a timeout that
// canceled inner, or the server's.
func (p *provider) classify(outer, inner context.Context, model string, err error) error {
	switch {
	case err == nil || errors.Is(err, errStopped):
		return nil
	case outer.Err() != nil:
		return outer.Err()
	case errors.Is(context.Cause(inner), ErrSilent):
		err = fmt.Errorf("%w for %s", ErrSilent, p.timeout)
	}
	return p.wrap(model, err)
}

// generate calls a chat model.
func (p *provider) generate(ctx context.Context, model string, req *engine.ModelRequest) iter.Seq2[engine.ModelPiece,
	error] {
	return func(yield func(engine.ModelPiece, error) bool) {
		err := p.exchange(ctx, model, func(ctx context.Context, x *exchange, received func()) error {
			a := &response{
				provider: p, model: model, request: req, exchange: x, received: received,
				yield: func(piece engine.ModelPiece) bool {
					x.held.Store(true)
					more := yield(piece, nil)
					x.held.Store(false)
					received()
					return more
				},
			}
			return a.run(ctx)
		})
		if offers(req) {
			err = p.refused(model, err)
		}
		if err != nil {
			yield(engine.ModelPiece{}, err)
		}
	}
}

// errStopped means that the caller stopped reading.
var errStopped = errors.New("stopped")
