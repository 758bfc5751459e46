package enginetest

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/easel-canvas/easel/engine"
)

// Model is a scripted engine.Model. Every call, of any node and llm_id, takes the first unused
// reply that matches; calls are recorded. A call that repeats the idempotency key of another one is
// that call made again after a crash: it gets the same reply and is not recorded twice. The zero
// Model answers each call with the error "script exhausted". It may be used by many goroutines.
type Model struct {
	Script   []Reply
	Fallback *Reply // answers calls no reply is left for
	Can      engine.Info

	mu    sync.Mutex
	used  []bool
	calls []engine.Value
	given map[string]*Reply // by the call's idempotency key
}

// FixedModel answers every call with the same text.
func FixedModel(text string) *Model {
	r := TextReply(text)
	return &Model{Fallback: &r}
}

// Calls returns the calls so far, in the order they were made: {kind, system, messages, gen_conf}.
func (m *Model) Calls() []engine.Value {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]engine.Value(nil), m.calls...)
}

// Left returns the number of unused replies.
func (m *Model) Left() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := len(m.Script)
	for _, used := range m.used {
		if used {
			n--
		}
	}
	return n
}

// ModelInfo returns the same for every llm_id. A script with function calls implies a model that
// supports them.
func (m *Model) ModelInfo(context.Context, string) engine.Info {
	info := m.Can
	info.Tools = info.Tools || slices.ContainsFunc(m.Script, func(r Reply) bool { return r.Calls != nil })
	return info
}

// Generate plays the matching reply. A streamed call gets its pieces one by one and ends as soon as
// ctx does; a plain call gets one piece.
func (m *Model) Generate(ctx context.Context, req *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	return func(yield func(engine.ModelPiece, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(engine.ModelPiece{}, err)
			return
		}
		reply := m.take(req)
		switch {
		case reply.Raise != "":
			yield(engine.ModelPiece{}, errors.New(reply.Raise))
		case reply.Error != "":
			yield(engine.ModelPiece{Text: "**ERROR**: GENERIC_ERROR - " + reply.Error}, nil)
		case req.Stream:
			reply.stream(ctx, yield)
		default:
			reply.atOnce(yield)
		}
	}
}

// stream hands out piece by piece.
func (r *Reply) stream(ctx context.Context, yield func(engine.ModelPiece, error) bool) {
	for _, p := range r.Pieces {
		if err := ctx.Err(); err != nil {
			yield(engine.ModelPiece{}, err)
			return
		}
		if p.Raise != "" {
			yield(engine.ModelPiece{}, p.err())
			return
		}
		if !yield(engine.ModelPiece{Text: p.Text}, nil) {
			return
		}
	}
	if len(r.Calls) > 0 {
		yield(engine.ModelPiece{ToolCalls: r.Calls}, nil)
	}
}

// atOnce hands out everything at once, or the first error among the pieces.
func (r *Reply) atOnce(yield func(engine.ModelPiece, error) bool) {
	for _, p := range r.Pieces {
		if p.Raise != "" {
			yield(engine.ModelPiece{}, p.err())
			return
		}
	}
	yield(engine.ModelPiece{Text: r.text(), ToolCalls: r.Calls}, nil)
}

// take records the call and finds its reply.
func (m *Model) take(req *engine.ModelRequest) *Reply {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.given[req.Key]; r != nil {
		return r
	}
	m.calls = append(m.calls, callValue(req))
	r := m.next(req)
	if req.Key != "" {
		if m.given == nil {
			m.given = map[string]*Reply{}
		}
		m.given[req.Key] = r
	}
	return r
}

func (m *Model) next(req *engine.ModelRequest) *Reply {
	if m.used == nil {
		m.used = make([]bool, len(m.Script))
	}
	for i := range m.Script {
		if !m.used[i] && fits(m.Script[i].Match, req) {
			m.used[i] = true
			return &m.Script[i]
		}
	}
	if m.Fallback != nil {
		return m.Fallback
	}
	return &Reply{Error: "script exhausted"}
}

func fits(match string, req *engine.ModelRequest) bool {
	if match == "" || strings.Contains(req.System, match) {
		return true
	}
	for _, msg := range req.Messages {
		if strings.Contains(msg.Content, match) {
			return true
		}
	}
	return false
}

// callValue returns a model call as cases write it.
func callValue(req *engine.ModelRequest) engine.Value {
	kind := "chat"
	if req.Stream {
		kind = "stream"
	}
	messages := make([]engine.Value, len(req.Messages))
	for i, m := range req.Messages {
		messages[i] = engine.Object("role", m.Role, "content", m.Content)
	}
	return engine.Object(
		"kind", kind, "model", req.LLM, "system", req.System, "messages", engine.List(messages...),
		"gen_conf", req.Config.Value())
}
