package node

import (
	"context"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// streamed names the output that can be said piece by piece: the only output of a plugin that
// streams, or the one that is called text, if it is a string. alone is false when there are others,
// or files that it stores, which are known only at its end. A plugin that chooses a branch does not
// stream.
func streamed(m *contract.Manifest) (output string, alone bool) {
	if !m.Streams || len(m.Params.Branches()) > 0 {
		return "", false
	}
	f := m.Permissions.Files
	stores, output := f != nil && f.WriteBytes > 0, "text"
	names := m.Outputs.Names()
	if len(names) == 0 {
		return output, !stores
	}
	if len(names) == 1 {
		output = names[0]
	}
	if p, _ := m.Outputs.Property(output); !slices.Equal(p.Types(), []string{"string"}) {
		return "", false
	}
	return output, len(names) == 1 && !stores
}

// streams names the output of a call that is streamed, "" when the plugin runs to its end first
// because other nodes read outputs that are known only then.
func (n *component) streams(call *engine.Call, m *contract.Manifest) string {
	output, alone := streamed(m)
	if output == "" || !call.CanStream() || !alone && !n.saysAlone(call, output) {
		return ""
	}
	return output
}

// saysAlone calls Shelf.Alone once for an output: that reads the whole canvas, which never changes.
func (n *component) saysAlone(call *engine.Call, output string) bool {
	if n.shelf.Alone == nil {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.judged != output {
		n.judged, n.alone = output, n.shelf.Alone(call, output)
	}
	return n.alone
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

// count adds the tokens that a plugin used through its own providers.
func count(call *engine.Call, u engine.Usage) {
	if u.Prompt+u.Completion > 0 {
		call.Count(u)
	}
}

// note handles emissions of a plugin whose answer is not streamed: progress is written to the run's
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

// Stream runs the plugin and sends its emissions; the rest of its final text follows at the
// end.
func (n *component) Stream(ctx context.Context, call *engine.Call, request engine.Value, emit func(string) error) error {
	p, err := n.find(call)
	if err != nil {
		return err
	}
	s := speech{call: call, emit: emit}
	s.out, _ = streamed(p.Manifest())
	answer, err := n.retry(ctx, call, request, s.take, s.silent)
	if err != nil {
		return err
	}
	text := answer.Outputs.Get(s.out).Text()
	answer.Outputs = answer.Outputs.Without(s.out)
	write(call, answer)
	return s.finish(text)
}

// speech converts emissions of a plugin to the pieces of an answer. Reasoning is enclosed in marks.
type speech struct {
	call     *engine.Call
	out      string // the streamed output
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

// think starts or ends reasoning; its marks are separate pieces.
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

// finish sends the rest of the final text. A text that differs from the sent pieces is not sent
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
