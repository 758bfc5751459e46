package node

import (
	"context"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// CheckInput holds what a plugin is given against its manifest; the error has the code
// invalid_argument.
func (m *Manifest) CheckInput(in Invocation) error {
	err := m.Params.Check("params", in.Params)
	if err == nil && !in.Arguments.IsNull() {
		err = m.Arguments.Check("arguments", in.Arguments)
	}
	if err != nil {
		return &Error{Code: codeInvalidArgument, Message: err.Error(), Plugin: m.Name, Step: "easel_invoke"}
	}
	return nil
}

// ReadAnswer reads the message of a plugin and holds its outputs against the manifest; the error
// has the code bad_output.
func (m *Manifest) ReadAnswer(message string) (engine.Value, error) {
	bad := func(text string) (engine.Value, error) {
		return engine.Null, &Error{Code: codeBadOutput, Message: text, Plugin: m.Name, Step: "easel_invoke"}
	}
	v, err := engine.ParseJSONText(message)
	switch {
	case err != nil:
		return bad("output is not the JSON of the contract: " + err.Error())
	case v.Kind() == engine.KindString:
		err = m.Outputs.Check("outputs", engine.Object("text", v))
	case v.Kind() != engine.KindObject:
		return bad("output is not the JSON of the contract: it is a " + typeName(v))
	case v.Get("outputs").Kind() != engine.KindObject:
		return bad("outputs: missing")
	default:
		err = m.Outputs.Check("outputs", v.Get("outputs"))
	}
	if err != nil {
		return bad(err.Error())
	}
	return v, nil
}

// streamed names the output that can be said piece by piece: the only output of a plugin that
// streams, if it is a text. A plugin with more outputs runs to its end first, because they are
// known only then.
func streamed(m *Manifest) string {
	if !m.Streams {
		return ""
	}
	properties := m.Outputs.Get("properties")
	if properties.Len() == 0 {
		return "text"
	}
	for name, p := range properties.Fields() {
		if properties.Len() == 1 && p.Get("type").Str() == "string" {
			return name
		}
	}
	return ""
}

// outputsOf reads the outputs out of a plugin's message.
func outputsOf(message engine.Value) engine.Value {
	if message.Kind() == engine.KindString {
		return engine.Object("text", message)
	}
	return message.Get("outputs")
}

// write sets the outputs of a node, or the result of a tool.
func write(call *engine.Call, message engine.Value) {
	outs := outputsOf(message)
	count(call, message.Get("usage"))
	for name, v := range outs.Fields() {
		call.Out(name, v)
	}
	if artifacts := message.Get("artifacts"); artifacts.Len() > 0 {
		list := engine.List()
		for _, x := range artifacts.Elements() {
			list = list.Append(engine.Object("name", x.Get("name"), "mime", x.Get("mime"), "ref", x.Get("ref")))
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
}

// count adds the tokens a plugin used on its own account.
func count(call *engine.Call, usage engine.Value) {
	tokens := func(name string) int { f, _ := usage.Get(name).Float(); return int(f) }
	u := engine.Usage{Prompt: tokens("prompt_tokens"), Completion: tokens("completion_tokens")}
	if u.Prompt+u.Completion == 0 {
		u.Prompt = tokens("total_tokens")
	}
	if u.Prompt+u.Completion > 0 {
		call.Count(u)
	}
}

// note passes on what a plugin emits while nobody listens to its answer: progress goes to the run's
// log.
func note(call *engine.Call, e Emission) error {
	switch e.Kind {
	case Progress:
		call.Log(engine.EventProgress, engine.Object("component_id", call.NodeID(), "pct", e.Pct, "note", e.Note))
	case Partial:
		call.Log(engine.EventProgress, engine.Object("component_id", call.NodeID(), "output", e.Key, "delta", e.Text))
	}
	return nil
}

// Stream runs the plugin and says what it emits; what its final text has beyond that follows at the
// end.
func (n *component) Stream(ctx context.Context, call *engine.Call, request engine.Value, emit func(string) error) error {
	p, err := n.shelf.Find(n.ref)
	if err != nil {
		return fmt.Errorf("%w: %w", engine.ErrNoPort, err)
	}
	s := speech{call: call, out: streamed(p.Manifest()), emit: emit}
	message, err := n.retry(ctx, call, request, s.take, s.silent)
	if err != nil {
		return err
	}
	count(call, message.Get("usage"))
	return s.finish(outputsOf(message).Get(s.out).Text())
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

func (s *speech) take(e Emission) error {
	switch {
	case e.Text == "" && e.Kind != Progress:
		return nil
	case e.Kind == Delta, e.Kind == Partial && e.Key == s.out:
		if err := s.think(false); err != nil {
			return err
		}
		s.said.WriteString(e.Text)
		return s.piece(e.Text)
	case e.Kind == Reasoning:
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
