package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// errorMark begins an error that model drivers report inside their text.
const errorMark = "**ERROR**"

// ModelError is an error the model reported.
type ModelError struct{ Text string }

func (e *ModelError) Error() string { return e.Text }

// Answer is the answer of a model.
type Answer struct {
	Text      string // with one pair of think marks around reasoning; "" for a request with EmitOnly
	ToolCalls []ToolCall
	Opaque    Value // for the message with the calls, as of ModelPiece
	Usage     Usage // tokens the model reported; zero when it reported none. The run has counted them already.

	model string // the one that answered
}

// Generate calls the run's model and passes each piece to emit, if it is set; reasoning is between
// <think> and </think>, each a separate piece. An answer in which the model reports an error is a
// *ModelError; the text before it has been emitted.
func (c *Call) Generate(ctx context.Context, req *ModelRequest, emit func(piece string) error) (Answer, error) {
	model := c.run.opt.Ports.Model
	if model == nil {
		return Answer{}, fmt.Errorf("language model %q: %w", req.LLM, ErrNoPort)
	}
	req.Node = c.id
	if req.Key == "" {
		req.Key = c.Key()
	}
	if err := c.checkPrompt(req); err != nil {
		return Answer{}, err
	}
	a, key, ok, err := c.replayed(req, emit)
	if ok {
		return a, err
	}
	req.Fallback = c.run.c.settings.fallbacks
	done, err := c.beginModelCall(ctx, req)
	if err != nil {
		return a, err
	}
	defer done()
	req.Noted, req.Queued = c.run.lastNote(), c.LogQueued
	req.Warned = func(text string) { c.Log(EventWarning, Object("text", c.NodeID()+": "+text)) }
	start, x := c.run.clock.Now(), ask(c.run, &c.execution, "model", req.question)
	a.model = req.LLM
	var text strings.Builder
	var norm thinkNormalizer
	say := func(piece string) error {
		x.piece()
		if !req.EmitOnly || x != nil {
			text.WriteString(piece)
		}
		if emit == nil {
			return nil
		}
		return emit(piece)
	}
	m := meter{call: &c.execution}
	err = c.pieces(ctx, req, &a, &m, func(piece string, last bool) error {
		if err := m.add(len(piece)); err != nil {
			return err
		}
		if i := strings.Index(piece, errorMark); i >= 0 {
			return &ModelError{Text: piece[i:]}
		}
		return norm.push(piece, last, say)
	})
	c.countModel(ctx, a.model, a.Usage, start)
	var reported *ModelError
	if err != nil && !errors.As(err, &reported) {
		// The text held back belongs to the answer.
		_ = norm.push("", true, say)
	}
	a.Text = text.String()
	if norm.lone {
		a.Text = WithOpening(a.Text)
	}
	x.end(a.value(), err, slot{"model", String(a.model)}, slot{"usage", a.Usage.Value()})
	if req.EmitOnly {
		a.Text = ""
	}
	c.recordAnswer(key, a, err)
	return a, err
}

// value returns the answer as logs have it.
func (a *Answer) value() Value {
	v := Object("text", a.Text)
	if len(a.ToolCalls) > 0 {
		v = v.With("calls", callsValue(a.ToolCalls))
	}
	if !a.Opaque.IsNull() {
		v = v.With("opaque", a.Opaque)
	}
	return v
}

// callsValue returns calls of tools as logs have them: [[id, name, arguments]].
func callsValue(calls []ToolCall) Value {
	list := make([]Value, len(calls))
	for i, t := range calls {
		list[i] = Strings(t.ID, t.Name, t.Arguments)
	}
	return listOf(list)
}

func (c *Call) pieces(ctx context.Context, req *ModelRequest, a *Answer, m *meter,
	take func(string, bool) error,
) error {
	for piece, err := range c.run.opt.Ports.Model.Generate(ctx, req) {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if c.run.canceled() {
			return ErrCanceled
		}
		if piece.Usage != nil {
			a.Usage = *piece.Usage
		}
		if piece.Model != "" {
			if _, err := c.mostOf(ctx, piece.Model); err != nil {
				return c.overLimit(err)
			}
			a.model = piece.Model
		}
		if err := m.add(toolCallsLen(piece.ToolCalls)); err != nil {
			return err
		}
		a.ToolCalls = append(a.ToolCalls, piece.ToolCalls...)
		if !piece.Opaque.IsNull() {
			if err := m.add(int(piece.Opaque.Size())); err != nil {
				return err
			}
			a.Opaque = piece.Opaque
		}
		if piece.Text == "" {
			continue
		}
		if err := take(piece.Text, false); err != nil {
			return err
		}
	}
	return take("", true)
}

// ModelInfo returns the known properties of a model.
func (c *Call) ModelInfo(ctx context.Context, llmID string) Info {
	info := Info{}
	if m, ok := c.run.opt.Ports.Model.(ModelInfo); ok {
		info = m.ModelInfo(ctx, llmID)
	}
	if info.Context <= 0 {
		info.Context = 8192
	}
	return info
}

// FilesToModel reports whether models get the uploaded files that no prompt contains: the canvas's
// setting files_to_model, on by default.
func (c *Call) FilesToModel() bool { return !c.run.c.settings.noFiles }

// InstructionsOf returns the caller's system message, which follows the system prompts of the nodes
// of the canvas if it has the setting caller_instructions; "" for none. Agents that other agents
// use as tools follow their own prompts only.
func InstructionsOf(c *Call) string {
	if c.IsTool() {
		return ""
	}
	return c.run.instructions
}

// takeInstructions decides whether the caller's instructions count. Those of a run that paused
// stay, unless its resume has others.
func takeInstructions(r *run) {
	given := r.in.Instructions
	switch {
	case given == "" && r.st.progress != nil:
		r.instructions = r.st.progress.instructions
	case given == "":
	case r.c.settings.caller:
		r.instructions = given
	default:
		r.note(EventWarning, nil, Object("text", ignoredInstructions))
	}
}

const ignoredInstructions = "the system message of the caller is ignored: the canvas does not have the setting " +
	"caller_instructions"

// Tokens estimates how many tokens a text has: one per four characters.
func Tokens(text string) int { return (len([]rune(text)) + 3) / 4 }
