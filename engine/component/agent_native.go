package component

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// native works with a model with native function calls. Text that comes with calls is streamed; an
// answer without calls is the final one. After the last round it is called once more, without
// tools.
func (t *task) native(ctx context.Context) (string, error) {
	request, err := t.fullRequest(ctx)
	if err != nil {
		return "", err
	}
	if request != t.request {
		t.messages[len(t.messages)-1].Content = request + t.files
	}
	var text strings.Builder
	names, defs := t.functions()
	for range t.agent.MaxRounds + 1 {
		if err := t.begin(); err != nil {
			return text.String(), err
		}
		answer, err := t.acceptedTurn(ctx, &text, defs)
		if err != nil || len(answer.ToolCalls) == 0 {
			return text.String(), err
		}
		if err := t.results(ctx, answer, names); err != nil {
			return text.String(), err
		}
	}
	t.add("user", answerAnyway(t.request))
	_, err = t.acceptedTurn(ctx, &text, nil)
	return text.String(), err
}

// acceptedTurn makes a request until its answer has calls or is accepted.
func (t *task) acceptedTurn(ctx context.Context, text *strings.Builder, defs []engine.ToolDef) (engine.Answer, error) {
	before := text.String()
	for n := 0; ; n++ {
		answer, err := t.turn(ctx, text, defs)
		if err != nil || len(answer.ToolCalls) > 0 {
			return answer, err
		}
		again, err := t.agent.again(t.call, strings.TrimPrefix(text.String(), before), n)
		if !again {
			return answer, err
		}
		text.Reset()
		text.WriteString(before)
	}
}

// functions returns the tools under names that providers accept, and a map from those names to the
// tools.
func (t *task) functions() (names map[string]string, defs []engine.ToolDef) {
	defs = t.tools.defs()
	names = make(map[string]string, len(defs))
	for i := range defs {
		safe := functionName(defs[i].Name)
		if _, taken := names[safe]; taken {
			safe = "tool_" + strconv.Itoa(i)
		}
		names[safe] = defs[i].Name
		defs[i].Name = safe
	}
	return names, defs
}

// functionName keeps letters, digits, _ and -, at most 64 of them, as most providers require.
func functionName(name string) string {
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	return safe[max(0, len(safe)-64):]
}

// turn makes one request. Text of a later turn begins a new paragraph. The canvas's default
// replaces an answer that fails.
func (t *task) turn(ctx context.Context, text *strings.Builder, defs []engine.ToolDef) (engine.Answer, error) {
	c := t.conversation
	purpose := engine.PurposeAnswer
	switch {
	case !t.agent.schema.IsNull():
		purpose = engine.PurposeStructured
		c.system = paragraphs(c.system, jsonAnswer(t.agent.schema))
		text.Reset() // only the last turn can be the JSON
	case t.cites():
		c.system = paragraphs(c.system, citationsFor(&c))
	}
	req := t.agent.request(t.call, &c, purpose)
	req.Stream, req.Tools, req.Query = true, defs, t.request
	said := text.Len() > 0
	say := func(piece string) error {
		if said {
			piece, said = "\n\n"+piece, false
		}
		text.WriteString(piece)
		if t.emit == nil {
			return nil
		}
		return t.emit(piece)
	}
	answer, err := t.call.Generate(ctx, req, say)
	if err == nil || isStopped(err) || ctx.Err() != nil {
		return answer, err
	}
	if t.agent.ToolMode == "auto" && errors.Is(err, engine.ErrToolsRefused) {
		return answer, err // another mode is tried first
	}
	stand, ok := standIn(&t.agent.Common)
	if !ok {
		return answer, err
	}
	return engine.Answer{}, say(stand)
}

// results runs the calls of a turn and adds them to the conversation.
func (t *task) results(ctx context.Context, answer engine.Answer, names map[string]string) error {
	asked := engine.ModelMessage{Role: "assistant", Content: afterReasoning(answer.Text), Opaque: answer.Opaque}
	calls := make([]toolCall, len(answer.ToolCalls))
	for i, c := range answer.ToolCalls {
		if c.ID == "" {
			c.ID = "call_" + strconv.Itoa(len(t.messages)) + "_" + strconv.Itoa(i)
		}
		asked.ToolCalls = append(asked.ToolCalls, c)
		name, known := names[c.Name]
		if !known {
			name = c.Name
		}
		args, err := readArguments(engine.String(c.Arguments))
		calls[i] = toolCall{name: name, args: args, bad: err}
	}
	answers, err := t.run(ctx, calls)
	if err != nil {
		return err
	}
	t.messages = append(t.messages, asked)
	for i, a := range answers {
		t.messages = append(t.messages, engine.ModelMessage{
			Role: "tool", ToolID: asked.ToolCalls[i].ID,
			Content: a.Result.Text(),
		})
	}
	if images := t.pictures(ctx, answers); len(images) > 0 { // results are text in many APIs
		t.messages = append(t.messages, engine.ModelMessage{Role: "user", Content: toolImages, Images: images})
	}
	return nil
}
