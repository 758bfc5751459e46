package node

import (
	"context"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// streamed names the output that can be said piece by piece: the only output of a plugin that
// streams, if it is a text. A plugin with more outputs runs to its end first, because they are
// known only then, and so do one that may store files and one
// that chooses a branch.
func streamed(m *contract.Manifest) string {
	if f := m.Permissions.Files; !m.Streams || len(m.Params.Branches()) > 0 || f != nil && f.WriteBytes > 0 {
		return ""
	}
	names := m.Outputs.Names()
	switch len(names) {
	case 0:
		return "text"
	case 1:
		if p, _ := m.Outputs.Property(names[0]); slices.Equal(p.Types(), []string{"string"}) {
			return names[0]
		}
	}
	return ""
}

// write sets the outputs of a node, or the result of a tool.
func write(call *engine.Call, a contract.Answer) {
	count(call, a.Usage)
	cite(call, a.Citations)
	if n := len(a.Files); n > 0 {
		call.Out("attachments", engine.List(a.Files...))
		call.Out("attachment", a.Files[n-1]) // in the form of nodes that write a document
	}
	for i := range a.Outputs.Len() {
		call.Out(a.Outputs.Key(i), a.Outputs.At(i))
	}
	if len(a.Artifacts) > 0 {
		list := make([]engine.Value, len(a.Artifacts))
		for i, x := range a.Artifacts {
			list[i] = engine.Object("name", x.Name, "mime", x.MIME, "ref", x.Ref)
		}
		call.Out("artifacts", engine.List(list...))
	}
	if call.IsTool() {
		call.Out(toolResult, result(call, a))
	}
}

// count adds the tokens a plugin used on its own account.
func count(call *engine.Call, u engine.Usage) {
	if u.Prompt+u.Completion > 0 {
		call.Count(u)
	}
}

// note passes on what a plugin emits while nobody listens to its answer: progress goes to the run's
// log.
func note(call *engine.Call, e contract.Emission) error {
	switch e.Kind {
	case contract.Progress:
		call.Log(engine.EventProgress, engine.Object("component_id", call.NodeID(), "pct", e.Pct, "note", e.Note))
	case contract.Partial:
		call.Log(engine.EventProgress, engine.Object("component_id", call.NodeID(), "output", e.Key, "delta", e.Text))
	}
	return nil
}

// Stream runs the plugin and says what it emits; what its final text has beyond that follows at the
// end.
func (n *component) Stream(ctx context.Context, call *engine.Call, request engine.Value, emit func(string) error) error {
	p, err := n.find(call)
	if err != nil {
		return err
	}
	s := speech{call: call, out: streamed(p.Manifest()), emit: emit}
	answer, err := n.retry(ctx, call, request, s.take, s.silent)
	if err != nil {
		return err
	}
	count(call, answer.Usage)
	cite(call, answer.Citations)
	return s.finish(answer.Outputs.Get(s.out).Text())
}

// speech turns what a plugin emits into the pieces of an answer. Reasoning stands between marks.
type speech struct {
	call     *engine.Call
	out      string // the output that is said
	emit     func(string) error
	said     strings.Builder
	thinking bool
	started  bool
}

func (s *speech) silent() bool { return !s.started }

func (s *speech) take(e contract.Emission) error {
	switch {
	case e.Text == "" && e.Kind != contract.Progress:
		return nil
	case e.Kind == contract.Delta, e.Kind == contract.Partial && e.Key == s.out:
		if err := s.think(false); err != nil {
			return err
		}
		s.said.WriteString(e.Text)
		return s.piece(e.Text)
	case e.Kind == contract.Reasoning:
		if err := s.think(true); err != nil {
			return err
		}
		return s.piece(e.Text)
	}
	return note(s.call, e)
}

// think begins or ends reasoning; its marks are pieces of their own.
func (s *speech) think(on bool) error {
	if on == s.thinking {
		return nil
	}
	s.thinking = on
	if on {
		return s.piece(engine.ThinkOpen)
	}
	return s.piece(engine.ThinkClose)
}

func (s *speech) piece(text string) error {
	s.started = true
	return s.emit(text)
}

// finish says what is missing of the final text. One that differs from what was said is not said
// again.
func (s *speech) finish(text string) error {
	if err := s.think(false); err != nil {
		return err
	}
	rest, ok := strings.CutPrefix(text, s.said.String())
	if !ok || rest == "" {
		return nil
	}
	return s.piece(rest)
}
