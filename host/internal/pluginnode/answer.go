package pluginnode

import (
	"context"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
)

// streamed names the output that can be said piece by piece: the only output of a plugin that streams, if it is a
// text. A plugin with more outputs runs to its end first, because they are known only then.
func streamed(m *plugin.Manifest) string {
	if !m.Streams {
		return ""
	}
	if m.Outputs == nil || len(m.Outputs.Properties) == 0 {
		return "text"
	}
	only := ""
	for name, p := range m.Outputs.Properties {
		if only != "" || p == nil || len(p.Type) != 1 || p.Type[0] != "string" {
			return ""
		}
		only = name
	}
	return only
}

// write sets the outputs of a node, or the result of a tool.
func write(call *engine.Call, a plugin.Answer) error {
	outs, err := outputsOf(a)
	if err != nil {
		return err
	}
	count(call, a.Usage)
	for name, v := range outs.Fields() {
		call.Out(name, v)
	}
	if len(a.Artifacts) > 0 {
		list := engine.List()
		for _, x := range a.Artifacts {
			list = list.Append(engine.Object("name", x.Name, "mime", x.MIME, "ref", x.Ref))
		}
		call.Out("artifacts", list)
	}
	if call.IsTool() {
		result := outs
		if text := outs.Get("text"); text.Kind() == engine.KindString {
			result = text
		}
		call.Out(toolResult, result)
	}
	return nil
}

// outputsOf reads the outputs out of the plugin's own message, whose order and numbers stay as they are.
func outputsOf(a plugin.Answer) (engine.Value, error) {
	msg, err := engine.ParseJSON(a.Output)
	if err != nil {
		return engine.Null, fmt.Errorf("outputs: %w", err)
	}
	if msg.Kind() == engine.KindString {
		return engine.Object("text", msg), nil
	}
	return msg.Get("outputs"), nil
}

// count adds the tokens a plugin used on its own account.
func count(call *engine.Call, usage map[string]any) {
	tokens := func(name string) int { f, _ := usage[name].(float64); return int(f) }
	u := engine.Usage{Prompt: tokens("prompt_tokens"), Completion: tokens("completion_tokens")}
	if u.Prompt+u.Completion == 0 {
		u.Prompt = tokens("total_tokens")
	}
	if u.Prompt+u.Completion > 0 {
		call.Count(u)
	}
}

// note passes on what a plugin emits while nobody listens to its answer: progress goes to the run's log.
func note(call *engine.Call, e plugin.Emission) error {
	switch e.Kind {
	case plugin.Progress:
		call.Log(engine.EventProgress, engine.Object("component_id", call.NodeID(), "pct", e.Pct, "note", e.Note))
	case plugin.Partial:
		call.Log(engine.EventProgress, engine.Object("component_id", call.NodeID(), "output", e.Key, "delta", e.Text))
	}
	return nil
}

// Stream runs the plugin and says what it emits; what its final text has beyond that follows at the end.
func (n *node) Stream(ctx context.Context, call *engine.Call, request engine.Value, emit func(string) error) error {
	m, err := n.adapter.cfg.Find(n.ref)
	if err != nil {
		return fmt.Errorf("%w: %w", engine.ErrNoPort, err)
	}
	s := speech{call: call, out: streamed(m.Manifest()), emit: emit}
	answer, err := n.retry(ctx, call, request, s.take, s.silent)
	if err != nil {
		return err
	}
	outs, err := outputsOf(answer)
	if err != nil {
		return err
	}
	count(call, answer.Usage)
	return s.finish(outs.Get(s.out).Text())
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

// The marks around reasoning, each a piece of its own.
const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
)

func (s *speech) silent() bool { return !s.started }

func (s *speech) take(e plugin.Emission) error {
	switch {
	case e.Text == "" && e.Kind != plugin.Progress:
		return nil
	case e.Kind == plugin.Delta, e.Kind == plugin.Partial && e.Key == s.out:
		if err := s.think(false); err != nil {
			return err
		}
		s.said.WriteString(e.Text)
		return s.piece(e.Text)
	case e.Kind == plugin.Reasoning:
		if err := s.think(true); err != nil {
			return err
		}
		return s.piece(e.Text)
	}
	return note(s.call, e)
}

// think begins or ends reasoning.
func (s *speech) think(on bool) error {
	if on == s.thinking {
		return nil
	}
	s.thinking = on
	if on {
		return s.piece(thinkOpen)
	}
	return s.piece(thinkClose)
}

func (s *speech) piece(text string) error {
	s.started = true
	return s.emit(text)
}

// finish says what is missing of the final text. One that differs from what was said is not said again.
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
