package component

import (
	"context"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// mostRecalled bounds the summaries of earlier tool calls in a model request; the newest ones are
// kept.
const mostRecalled = 20

// remember puts a summary of the tool calls into the canvas's memory. A summary that fails is a
// warning, because the answer was sent already.
func (t *task) remember(ctx context.Context, answer string) error {
	c := conversation{system: toolSummary, messages: []engine.ModelMessage{
		{Role: "user", Content: engine.List(t.used...).Text()},
	}}
	req := t.agent.request(t.call, &c, engine.PurposeSummary)
	req.Config = engine.ModelConfig{}
	summary, err := t.call.Generate(ctx, req, nil)
	if endsNode(err) {
		return err
	}
	if err != nil {
		warn(t.call, "remember_tools", err)
		return nil
	}
	if text := strings.TrimSpace(afterReasoning(summary.Text)); text != "" {
		t.call.Remember(t.request, afterReasoning(answer), text)
	}
	return nil
}

// recalled returns the system text of a conversation with the summaries of tool calls of earlier
// turns.
func (a *Agent) recalled(call *engine.Call, system string) string {
	if !a.RememberTools {
		return system
	}
	list := call.Memories()
	list = list[max(0, len(list)-mostRecalled):]
	return paragraphs(system, earlierTools(list))
}
