package component

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// reply is one scripted answer of a model.
type reply struct {
	text  string
	calls []engine.ToolCall
	keep  engine.Value // ModelPiece.Opaque
	err   error
	match string // only a call that holds this text gets the reply
}

// script is a model that returns its replies in order and records the requests.
type script struct {
	mu      sync.Mutex
	replies []reply
	asked   []engine.ModelRequest
	info    engine.Info
}

func say(texts ...string) *script {
	s := &script{}
	for _, t := range texts {
		s.replies = append(s.replies, reply{text: t})
	}
	return s
}

func (s *script) ModelInfo(context.Context, string) engine.Info { return s.info }

func (s *script) Generate(_ context.Context, req *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, *req)
	all := req.System
	for _, m := range req.Messages {
		all += "\n" + m.Content
	}
	for i, r := range s.replies {
		if strings.Contains(all, r.match) {
			s.replies = append(s.replies[:i:i], s.replies[i+1:]...)
			return func(yield func(engine.ModelPiece, error) bool) {
				if yield(engine.ModelPiece{Text: r.text, ToolCalls: r.calls, Opaque: r.keep}, nil) && r.err != nil {
					yield(engine.ModelPiece{}, r.err)
				}
			}
		}
	}
	return func(yield func(engine.ModelPiece, error) bool) {
		yield(engine.ModelPiece{}, errors.New("nothing left to say"))
	}
}

// seen is the observation of a run of one node.
type seen struct {
	outs     engine.Value
	message  string // text of the Message after the node
	trace    []engine.Value
	warnings []string
	state    *engine.State
	err      error
}

// node returns a canvas of Begin, one node X of a kind, and after it a Text, or a Message if tail
// names it.
func node(t *testing.T, kind, params, tail string) *engine.Canvas {
	t.Helper()
	c, err := loadNode(kind, params, tail)
	require.NoError(t, err)
	return c
}

func loadNode(kind, params, tail string) (*engine.Canvas, error) {
	reg, err := engine.NewRegistry(append(Builtin(), enginetest.EchoToolSpec())...)
	if err != nil {
		return nil, err
	}
	behind := `M StringTransform {"method": "merge", "script": "done"}`
	if tail != "" {
		behind = `M Message {"content": ["` + tail + `"]}`
	}
	return engine.Load(reg, sketch.Bytes("begin Begin -> X", "X "+kind+" "+params+" -> M", behind,
		`@graph {"nodes": [{"id": "X", "data": {"name": "Ex"}}]}`))
}

// run runs a canvas of node once.
func run(t *testing.T, c *engine.Canvas, st *engine.State, query string, inputs engine.Value, ports engine.Ports) seen {
	t.Helper()
	if st == nil {
		st = c.State()
	}
	ports.Clock, ports.IDs = &enginetest.Clock{}, &enginetest.IDs{}
	s := seen{state: st}
	in := engine.Input{Query: engine.String(query), Inputs: inputs}
	for e, err := range c.Run(t.Context(), st, in, engine.Options{Ports: ports, Seed: 1, Internal: true}) {
		if err != nil {
			s.err = err
			break
		}
		switch e.Type {
		case engine.EventMessage:
			s.message += e.Data().Get("content").Text()
		case engine.EventToolFinished:
			s.trace = append(s.trace, e.Data())
		case engine.EventWarning:
			s.warnings = append(s.warnings, e.Data().Get("text").Text())
		}
	}
	s.outs = st.Outputs("X")
	return s
}

// parse reads JSON of a test.
func parse(t testing.TB, text string) engine.Value {
	t.Helper()
	v, err := engine.ParseJSONText(text)
	require.NoError(t, err)
	return v
}

func roles(list []engine.ModelMessage) string {
	var b strings.Builder
	for _, m := range list {
		b.WriteString(m.Role[:1])
	}
	return b.String()
}
