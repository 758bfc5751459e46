package engine_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/easel-canvas/easel/engine"
)

// The components here are the smallest that show one ability of the loop each.

type begin struct{}

func (begin) Run(context.Context, *engine.Call) error { return nil }

type text struct {
	Script engine.Text `json:"script" doc:"text with references"`
}

func (t *text) Run(ctx context.Context, call *engine.Call) error {
	s, err := call.Render(ctx, &t.Script, engine.TextStyle{Record: true})
	if err != nil {
		return err
	}
	call.Out("result", engine.String(s))
	return nil
}

type say struct {
	Content engine.Text `json:"content" doc:"what is said"`
}

func (s *say) Run(ctx context.Context, call *engine.Call) error {
	text, err := call.Render(ctx, &s.Content, engine.TextStyle{Record: true})
	if err != nil {
		return err
	}
	call.Say(engine.Speech{Parts: []engine.Value{engine.String(text)}})
	return nil
}

func (s *say) Finish(context.Context, *engine.Call, *engine.Said) error { return nil }

type each struct {
	Items engine.Ref `json:"items_ref" doc:"list"`
}

func (e *each) Run(ctx context.Context, call *engine.Call) error {
	v, err := call.Resolve(ctx, &e.Items)
	if err == nil && v.Kind() != engine.KindList {
		err = fmt.Errorf("%s must be a list", &e.Items)
	}
	return err
}
func (e *each) Progresses() bool { return true }
func (e *each) Breaks() bool     { return false }

type item struct{}

func (item) Item() {}
func (item) Run(ctx context.Context, call *engine.Call) error {
	e := call.Container().(*each)
	v, err := call.Resolve(ctx, &e.Items)
	if err != nil {
		return err
	}
	i := call.Cursor()
	if i >= v.Len() {
		call.EndBody()
		return nil
	}
	call.Out("item", v.At(i))
	call.Out("index", engine.Int(int64(i)))
	call.Turn()
	return nil
}

type form struct {
	Fields engine.Value `json:"inputs" doc:"fields"`
}

func (f *form) Run(ctx context.Context, call *engine.Call) error {
	for name := range f.Fields.Fields() {
		v := call.RunInputs().Get(name)
		if x, ok := v.Lookup("value"); ok {
			v = x
		}
		call.Out(name, v)
	}
	return nil
}

func (f *form) Ask(context.Context, *engine.Call) (engine.Value, string, error) {
	return f.Fields, "please", nil
}

// ask streams what the model answers when somebody downstream speaks it, else waits for the whole
// text.
type ask struct {
	Prompt engine.Text `json:"prompt" doc:"question"`
}

func (a *ask) Run(ctx context.Context, call *engine.Call) error {
	prompt, err := call.Render(ctx, &a.Prompt, engine.TextStyle{Record: true})
	if err != nil {
		return err
	}
	if call.CanStream() {
		return call.Defer("content", engine.Object("prompt", prompt))
	}
	answer, err := call.Generate(ctx, a.request(prompt), nil)
	call.Out("content", engine.String(answer.Text))
	return err
}

func (a *ask) request(prompt string) *engine.ModelRequest {
	return &engine.ModelRequest{Messages: []engine.ModelMessage{{Role: "user", Content: prompt}}}
}

func (a *ask) Stream(ctx context.Context, call *engine.Call, request engine.Value, emit func(string) error) error {
	req := a.request(request.Get("prompt").Str())
	req.EmitOnly = true
	_, err := call.Generate(ctx, req, emit)
	return err
}

// tell sends a text and streams in it as they are generated.
type tell struct {
	Content engine.Text `json:"content" doc:"what is said"`
}

func (t *tell) Run(_ context.Context, call *engine.Call) error {
	var parts []engine.Value
	refs := t.Content.Refs()
	for lit, ref := range t.Content.Parts {
		part := engine.String(lit)
		if ref >= 0 {
			v, err := call.Peek(&refs[ref])
			if err != nil {
				return err
			}
			call.In(refs[ref].Expr, v)
			part = v
		}
		parts = append(parts, part)
	}
	call.Say(engine.Speech{Parts: parts})
	return nil
}

func (t *tell) Finish(context.Context, *engine.Call, *engine.Said) error { return nil }

// odd fails in the way of its mode: fail, panic, hang, stubborn (hangs and ignores its context).
type odd struct {
	Mode string `json:"mode" doc:"what goes wrong"`
}

var stubborn = make(chan struct{})

func (o *odd) Run(ctx context.Context, call *engine.Call) error {
	switch o.Mode {
	case "fail":
		return errors.New("it broke")
	case "panic":
		panic("it fell over")
	case "hang":
		<-ctx.Done()
		return ctx.Err()
	case "stubborn":
		<-stubborn
	}
	call.Out("result", engine.String("fine"))
	return nil
}

// pick branches to the node its query names.
type pick struct {
	Query engine.Ref `json:"query"`
	To    []string   `json:"to"`
}

func (p *pick) Choices() [][]string {
	if p.To == nil {
		return nil
	}
	return [][]string{p.To}
}

func (p *pick) Run(ctx context.Context, call *engine.Call) error {
	v, err := call.Resolve(ctx, &p.Query)
	if err != nil {
		return err
	}
	call.Next([]string{v.Text()})
	return nil
}

func toys(t testing.TB) *engine.Registry {
	t.Helper()
	reg, err := engine.NewRegistry(
		engine.Spec{Name: "Begin", Inline: true, New: func() engine.Component { return &begin{} }},
		engine.Spec{Name: "Text", Inline: true, Waits: true, New: func() engine.Component { return &text{} }},
		engine.Spec{Name: "Slow", Waits: true, New: func() engine.Component { return &text{} }},
		engine.Spec{Name: "Say", Inline: true, Waits: true, New: func() engine.Component { return &say{} }},
		engine.Spec{Name: "Each", Inline: true, New: func() engine.Component { return &each{} }},
		engine.Spec{Name: "Item", Inline: true, New: func() engine.Component { return &item{} }},
		engine.Spec{Name: "Ask", Waits: true, New: func() engine.Component { return &ask{} }},
		engine.Spec{Name: "Tell", Inline: true, Waits: true, New: func() engine.Component { return &tell{} }},
		engine.Spec{Name: "Odd", Retries: true, New: func() engine.Component { return &odd{} }},
		engine.Spec{Name: "Late", Timeout: 50 * time.Millisecond, New: func() engine.Component { return &odd{} }},
		engine.Spec{Name: "Pick", Inline: true, New: func() engine.Component { return &pick{} }},
		engine.Spec{Name: "Form", Inline: true, Waits: true, New: func() engine.Component { return &form{} }},
	)
	if err != nil {
		t.Fatal(err)
	}
	return reg
}

// story returns the events of a run, one short line each.
func story(t *testing.T, c *engine.Canvas, st *engine.State, in engine.Input, opt engine.Options) (lines []string, err error) {
	t.Helper()
	for e, fail := range c.Run(t.Context(), st, in, opt) {
		if fail != nil {
			return lines, fail
		}
		lines = append(lines, line(e))
	}
	return lines, nil
}

func line(e *engine.Event) string {
	d := e.Data()
	short := map[engine.EventType]string{
		engine.EventWorkflowStarted: "start", engine.EventWorkflowFinished: "end", engine.EventNodeStarted: "+",
		engine.EventNodeFinished: "-", engine.EventMessage: "msg", engine.EventMessageEnd: "msg end",
		engine.EventUserInputs: "ask",
	}[e.Type]
	switch e.Type {
	case engine.EventNodeStarted:
		return short + e.Node
	case engine.EventNodeFinished:
		if err := d.Get("error"); !err.IsNull() {
			return short + e.Node + "!" + err.Str()
		}
		return short + e.Node
	case engine.EventMessage:
		return short + " " + d.Get("content").Str()
	case engine.EventUserInputs:
		return short + " " + d.Get("inputs").JSON()
	case engine.EventWorkflowFinished:
		return short + " " + d.Get("outputs").JSON()
	}
	return short
}

// pieces is a model that answers every call with the same pieces; a piece "!" is an error, a piece
// "..." waits until the call is cancelled.
type pieces []string

func (p pieces) Generate(ctx context.Context, _ *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	return func(yield func(engine.ModelPiece, error) bool) {
		for _, text := range p {
			switch text {
			case "!":
				yield(engine.ModelPiece{}, errors.New("the model is down"))
				return
			case "...":
				<-ctx.Done()
				yield(engine.ModelPiece{}, ctx.Err())
				return
			}
			if !yield(engine.ModelPiece{Text: text}, nil) {
				return
			}
		}
	}
}

// model returns Options with such a model.
func model(p ...string) engine.Options {
	return engine.Options{Ports: engine.Ports{Model: pieces(p)}}
}
