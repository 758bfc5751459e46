package model

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/limit"
	"github.com/easel-canvas/easel/host/internal/reach"
)

// provider calls one endpoint.
type provider struct {
	config  Provider
	client  *http.Client
	timeout time.Duration
	retries int
	sleep   func(context.Context, time.Duration) error
	// refusals are shared by all providers that call the same models.
	refusals *refusals
	owner    string // tenant that configured it; "" is the host

	// Of one call; nil without a limiter.
	turn   *limit.Turn
	queued func(time.Duration) // takes how long the call waited
}

// newProvider returns a provider. A nil transport means the default one.
func newProvider(c Provider, transport http.RoundTripper) (*provider, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	c.BaseURL = c.address()
	p := &provider{
		config: c, client: &http.Client{Transport: transport, CheckRedirect: reach.StayAtOrigin},
		timeout: 5 * time.Minute, retries: 3, sleep: engine.SystemClock{}.Sleep,
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

// newClient returns the client of one exchange.
func (p *provider) newClient(x *exchange) *openai.Client {
	config := openai.DefaultConfig(p.config.Key)
	config.BaseURL = p.config.BaseURL
	config.HTTPClient = x
	return openai.NewClientWithConfig(config)
}

// generate calls a chat model.
func (p *provider) generate(ctx context.Context, model string, req *engine.ModelRequest) iter.Seq2[engine.ModelPiece,
	error] {
	return func(yield func(engine.ModelPiece, error) bool) {
		err := p.exchange(ctx, model, func(ctx context.Context, x *exchange, received func()) error {
			a := &response{
				provider: p, model: model, exchange: x, received: received,
				yield: func(piece engine.ModelPiece) bool {
					x.held.Store(true)
					more := yield(piece, nil)
					x.held.Store(false)
					received()
					return more
				},
			}
			return a.run(ctx, req)
		})
		if len(req.Tools) > 0 && req.Purpose != engine.PurposePlan {
			err = p.refused(model, err)
		}
		if err != nil {
			yield(engine.ModelPiece{}, err)
		}
	}
}

// errStopped means that the caller stopped reading.
var errStopped = errors.New("stopped")

// response is the state of one model call.
type response struct {
	provider *provider
	model    string
	exchange *exchange
	received func() // data arrived from the server
	yield    func(engine.ModelPiece) bool
	thinking bool // reasoning is open: ThinkOpen was sent, ThinkClose not yet
	sentText bool // text was sent
	calls    []engine.ToolCall
	finish   openai.FinishReason
	used     *engine.Usage // the last report; some servers repeat it with growing numbers
}

func (a *response) run(ctx context.Context, req *engine.ModelRequest) error {
	client := a.provider.newClient(a.exchange)
	body := a.provider.request(a.model, req)
	if req.Stream {
		if err := a.stream(ctx, client, body); err != nil {
			return err
		}
	} else if err := a.whole(ctx, client, body); err != nil {
		return err
	}
	return a.end()
}

// whole reads a response without streaming.
func (a *response) whole(ctx context.Context, client *openai.Client, body openai.ChatCompletionRequest) error {
	res, err := client.CreateChatCompletion(ctx, body)
	if err != nil {
		return notJSON(err)
	}
	if len(res.Choices) == 0 {
		return ErrEmpty
	}
	message := res.Choices[0].Message
	a.finish = res.Choices[0].FinishReason
	if err := a.sendThinking(message.ReasoningContent); err != nil {
		return err
	}
	if err := a.sendText(message.Content); err != nil {
		return err
	}
	for _, c := range message.ToolCalls {
		a.call(c)
	}
	a.usage(&res.Usage)
	return nil
}

// sendThinking sends reasoning, enclosed in think marks.
func (a *response) sendThinking(text string) error {
	if text == "" {
		return nil
	}
	if !a.thinking {
		a.thinking = true
		if err := a.piece(engine.ThinkOpen); err != nil {
			return err
		}
	}
	return a.piece(text)
}

// sendText sends answer text.
func (a *response) sendText(text string) error {
	if text == "" {
		return nil
	}
	if err := a.endThinking(); err != nil {
		return err
	}
	return a.piece(text)
}

func (a *response) endThinking() error {
	if !a.thinking {
		return nil
	}
	a.thinking = false
	return a.piece(engine.ThinkClose)
}

func (a *response) piece(text string) error {
	a.sentText = true
	if !a.yield(engine.ModelPiece{Text: text}) {
		return errStopped
	}
	return nil
}

func (a *response) usage(u *openai.Usage) {
	if u != nil && u.PromptTokens+u.CompletionTokens != 0 {
		a.used = &engine.Usage{Prompt: u.PromptTokens, Completion: u.CompletionTokens}
	}
}

// end sends usage and tool calls, and appends a note if the answer was truncated.
func (a *response) end() error {
	if a.used != nil && !a.yield(engine.ModelPiece{Usage: a.used}) {
		return errStopped
	}
	if err := a.endThinking(); err != nil {
		return err
	}
	switch a.finish {
	case openai.FinishReasonLength:
		if err := a.piece("\n\n[The answer was cut at the limit of its length.]"); err != nil {
			return err
		}
	case openai.FinishReasonContentFilter:
		return errors.New("the provider's content filter stopped the answer")
	}
	if len(a.calls) > 0 && !a.yield(engine.ModelPiece{ToolCalls: a.calls}) {
		return errStopped
	}
	if !a.sentText && len(a.calls) == 0 {
		return ErrEmpty
	}
	return nil
}
