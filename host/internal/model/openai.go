package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"

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

// errFinished means that the answer is complete although the connection stays open.
var errFinished = errors.New("the answer is complete")

// finishGrace bounds how long a stream is read after its finish reason: usage, and calls of some
// servers, follow it. Servers that send neither [DONE] nor an end keep the connection open.
const finishGrace = time.Second

// response is the state of one model call.
type response struct {
	provider *provider
	model    string
	request  *engine.ModelRequest
	exchange *exchange
	received func() // data arrived from the server
	yield    func(engine.ModelPiece) bool
	marks    marks
	open     openCalls
	texts    textCalls
	attached attached
	legacy   openCall      // function_call, the old form of a single call
	grace    *time.Timer   // runs after the finish reason; nil before it
	finish   string        // the finish reason; "" before it
	complete bool          // a whole message or [DONE] was read
	words    string        // what the server sent in place of JSON
	used     *engine.Usage // the last report; some servers repeat it with growing numbers
}

func (a *response) run(ctx context.Context) error {
	res, err := a.provider.send(ctx, a)
	if err != nil {
		return err
	}
	defer res.Body.Close() //nolint:errcheck // the answer was read
	a.marks = marks{send: a.piece, reasons: a.request.Stream && a.provider.lesson(a.model).Reasons}
	if a.request.Purpose != engine.PurposePlan {
		a.texts.offered = a.request.Tools
	}
	err = a.read(ctx, res.Body)
	if a.grace != nil {
		a.grace.Stop()
	}
	if err != nil {
		return errors.Join(a.flush(), err)
	}
	return a.end()
}

// read reads a response, streamed or whole.
func (a *response) read(ctx context.Context, body io.Reader) error {
	e := newEvents(body, a.received)
	for {
		d, err := e.next()
		switch {
		case err == io.EOF:
			return a.endOfStream()
		case err != nil && errors.Is(context.Cause(ctx), errFinished):
			return nil
		case err != nil:
			return broken(ctx, err)
		case d.done:
			a.complete = true
			return a.failedWords()
		}
		if err := a.take(&d); err != nil {
			return err
		}
		if d.bare && a.complete || a.finish != "" && a.used != nil && d.value.Get("choices").Len() == 0 {
			return nil
		}
	}
}

// endOfStream returns [ErrBroken] if the response ended without a finish reason, a whole message or
// [DONE].
func (a *response) endOfStream() error {
	if err := a.failedWords(); err != nil {
		return err
	}
	if a.finish == "" && !a.complete {
		return ErrBroken
	}
	return nil
}

// failedWords returns an error for a response that has only words that are not JSON.
func (a *response) failedWords() error {
	switch {
	case a.words == "" || a.marks.sent || len(a.open.list) > 0 || a.finish != "":
		return nil
	case a.words[0] == '{' || a.words[0] == '[':
		return fmt.Errorf("%w: incomplete JSON", ErrBroken)
	}
	return &refusal{text: "the response is not a chat completion; check base_url: " + firstWords([]byte(a.words))}
}

// maxWords bounds what is kept of a response that is not JSON.
const maxWords = 64 << 10

// take adds a document of the response.
func (a *response) take(d *document) error {
	if d.words != "" {
		if d.event == "error" {
			return &refusal{text: d.words}
		}
		if len(a.words) < maxWords {
			a.words += d.words + "\n"
		}
		return nil
	}
	if d.value.Kind() == engine.KindList {
		for _, v := range d.value.Elements() {
			if err := a.take(&document{value: v, event: d.event, bare: d.bare}); err != nil {
				return err
			}
		}
		return nil
	}
	choices := d.value.Get("choices")
	choice := choices.At(0)
	refused := d.reported()
	if choice.Kind() == engine.KindObject {
		if err := a.choice(choice, d.bare); err != nil {
			return err
		}
	}
	a.usage(d.value.Get("usage"))
	switch {
	case refused != nil:
		return refused
	case a.finish == "error":
		return &refusal{text: "the server reported an error without a reason"}
	case d.bare && choices.Kind() == engine.KindList && choices.Len() == 0:
		a.complete = true
	}
	return nil
}

// choice adds a delta, or a whole message.
func (a *response) choice(choice engine.Value, bare bool) error {
	delta := choice.Get("delta")
	if delta.Kind() != engine.KindObject {
		delta = choice.Get("message")
		a.complete = a.complete || delta.Kind() == engine.KindObject && (bare || choice.Get("finish_reason").Truthy())
	}
	reason := choice.Get("finish_reason")
	text, reasoning := contentOf(delta.Get("content"))
	if r := thoughtsOf(delta); r != "" {
		reasoning = r
	}
	text += delta.Get("refusal").Str()
	if delta.IsNull() {
		text = choice.Get("text").Str()
	}
	if err := a.marks.thought(reasoning); err != nil {
		return err
	}
	if err := a.marks.text(a.texts.push(text)); err != nil {
		return err
	}
	if calls := delta.Get("tool_calls"); calls.Truthy() {
		a.open.add(calls, choice.Get("delta").Kind() != engine.KindObject)
		if err := a.open.tooMany(); err != nil {
			return err
		}
	}
	if f := delta.Get("function_call"); f.Kind() == engine.KindObject {
		a.legacy.name += f.Get("name").Str()
		a.legacy.arguments.WriteString(argumentsOf(f.Get("arguments")))
	}
	if len(a.request.Tools) > 0 {
		if err := a.attached.add(delta); err != nil {
			return err
		}
	}
	if r := reason.Text(); r != "" && !reason.IsNull() && a.finish == "" {
		a.finish = r
	}
	if a.finish != "" && (a.grace == nil || text+reasoning != "" || delta.Get("tool_calls").Truthy()) {
		a.extend()
	}
	return nil
}

// extend ends the response after finishGrace. Some servers send a finish reason with each event.
func (a *response) extend() {
	if a.grace == nil {
		a.grace = time.AfterFunc(finishGrace, func() { a.exchange.cancel(errFinished) })
		return
	}
	a.grace.Reset(finishGrace)
}

func (a *response) piece(text string) error {
	if !a.yield(engine.ModelPiece{Text: text}) {
		return errStopped
	}
	return nil
}

func (a *response) usage(u engine.Value) {
	prompt, _ := number(u.Get("prompt_tokens"))
	completion, _ := number(u.Get("completion_tokens"))
	if prompt+completion != 0 {
		a.used = &engine.Usage{Prompt: int(prompt), Completion: int(completion)}
	}
}

// flush sends the text that is held back.
func (a *response) flush() error {
	calls, text := a.texts.end()
	for _, c := range calls {
		a.open.add(c, true)
	}
	if err := a.open.tooMany(); err != nil {
		return err
	}
	return a.marks.text(text)
}

// end sends usage and tool calls, and appends a note if the answer was truncated.
func (a *response) end() error {
	if err := a.flush(); err != nil {
		return err
	}
	if a.used != nil && !a.yield(engine.ModelPiece{Usage: a.used}) {
		return errStopped
	}
	if err := a.marks.end(); err != nil {
		return err
	}
	if a.marks.lone {
		a.provider.learn(a.model, func(l *Lesson) { l.Reasons = true })
	} else if a.marks.wrong {
		a.provider.learn(a.model, func(l *Lesson) { l.Reasons = false })
	}
	switch strings.ToLower(a.finish) {
	case "length", "max_tokens", "model_length":
		if err := a.piece("\n\n[The answer was cut at the limit of its length.]"); err != nil {
			return err
		}
	case "content_filter", "safety":
		return errors.New("the provider's content filter stopped the answer")
	}
	calls := a.calls()
	if len(calls.ToolCalls) > 0 && !a.yield(calls) {
		return errStopped
	}
	if !a.marks.sent && len(calls.ToolCalls) == 0 {
		return ErrEmpty
	}
	return nil
}

// calls returns the function calls with what the server attached to them and to their message.
func (a *response) calls() engine.ModelPiece {
	if a.legacy.name != "" {
		a.open.list = append(a.open.list, &a.legacy)
	}
	calls, extras := a.open.calls(a.request.Tools)
	piece := engine.ModelPiece{ToolCalls: calls}
	message := a.attached.value()
	if len(calls) > 0 && (message.Len() > 0 || !extras.IsNull()) {
		piece.Opaque = engine.Object("provider", a.provider.config.Label(), "message", message, "calls", extras)
	}
	return piece
}
