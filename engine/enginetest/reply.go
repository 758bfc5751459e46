package enginetest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// Reply is one scripted answer of a model. Exactly one of Pieces, Error and Raise counts.
type Reply struct {
	Match  string  // the reply fits only a call in whose texts this occurs; "" fits any
	Pieces []Piece // the text, in the order it is streamed
	Error  string  // the model reports this error inside its text
	Raise  string  // the call fails with this error
	// Calls are functions that the model calls after the text; nil means that it was offered none.
	Calls []engine.ToolCall
	whole bool // written as one text
}

// Piece is one piece of a reply: a text, or an error at that place.
type Piece struct {
	Text  string
	Raise string
	Final bool // the error is one that another try cannot change
}

// err returns the error of a piece.
func (p *Piece) err() error {
	if p.Final {
		return finalError(p.Raise)
	}
	return errors.New(p.Raise)
}

// TextReply returns a reply of one piece.
func TextReply(text string) Reply { return Reply{Pieces: []Piece{{Text: text}}, whole: true} }

// ChunksReply returns a reply of several pieces.
func ChunksReply(texts ...string) Reply {
	r := Reply{}
	for _, t := range texts {
		r.Pieces = append(r.Pieces, Piece{Text: t})
	}
	return r
}

// readReply reads {"text"}, {"chunks"}, {"error"} or {"raise"}, with or without "match" and
// "tool_calls"; a bare text is a text, and calls need none.
func readReply(v engine.Value) (Reply, error) {
	if v.Kind() == engine.KindString {
		return TextReply(v.Str()), nil
	}
	r := Reply{Match: v.Get("match").Str()}
	calls, native := v.Lookup("tool_calls")
	if native {
		r.Calls = readToolCalls(calls)
	}
	if t, ok := v.Lookup("text"); ok {
		r.Pieces, r.whole = []Piece{{Text: t.Text()}}, true
		return r, nil
	}
	if chunks, ok := v.Lookup("chunks"); ok {
		for _, c := range chunks.Elements() {
			if c.Kind() == engine.KindString {
				r.Pieces = append(r.Pieces, Piece{Text: c.Str()})
			} else {
				r.Pieces = append(r.Pieces, Piece{Raise: c.Get("raise").Text(), Final: c.Get("final").True()})
			}
		}
		return r, nil
	}
	r.Error, r.Raise = v.Get("error").Str(), v.Get("raise").Str()
	if r.Error == "" && r.Raise == "" && len(r.Calls) == 0 {
		return r, fmt.Errorf("%s: expected one of text, chunks, error, raise and tool_calls", v.JSON())
	}
	return r, nil
}

func readToolCalls(v engine.Value) []engine.ToolCall {
	calls := []engine.ToolCall{}
	for _, c := range v.Elements() {
		calls = append(calls, engine.ToolCall{
			ID: c.Get("id").Str(), Name: c.Get("name").Str(), Arguments: c.Get("arguments").Text(),
		})
	}
	return calls
}

func (r *Reply) value() engine.Value {
	b := engine.NewObject(3)
	if r.Match != "" {
		b.Set("match", engine.String(r.Match))
	}
	if r.Calls != nil {
		calls := make([]engine.Value, len(r.Calls))
		for i, c := range r.Calls {
			calls[i] = engine.Object("id", c.ID, "name", c.Name, "arguments", c.Arguments)
		}
		b.Set("tool_calls", engine.List(calls...))
	}
	switch {
	case r.Error != "":
		return b.Set("error", engine.String(r.Error)).Value()
	case r.Raise != "":
		return b.Set("raise", engine.String(r.Raise)).Value()
	case r.whole:
		return b.Set("text", engine.String(r.text())).Value()
	}
	chunks := make([]engine.Value, len(r.Pieces))
	for i, p := range r.Pieces {
		if p.Raise == "" {
			chunks[i] = engine.String(p.Text)
			continue
		}
		if chunks[i] = engine.Object("raise", p.Raise); p.Final {
			chunks[i] = chunks[i].With("final", engine.Bool(true))
		}
	}
	return b.Set("chunks", engine.List(chunks...)).Value()
}

func (r *Reply) text() string {
	var b strings.Builder
	for _, p := range r.Pieces {
		b.WriteString(p.Text)
	}
	return b.String()
}
