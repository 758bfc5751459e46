package component

import (
	"context"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// task is one run of an agent's work: the conversation grows with every round.
type task struct {
	agent        *Agent
	call         *engine.Call
	tools        toolset
	conversation                // messages: what was said, then rounds of calls and results
	request      string         // what the user wants
	files        string         // texts of uploaded files that follow the request in its message
	used         []engine.Value // tool calls so far, as use_tools shows them
	made         []engine.Value // files that tools made, as in engine.ToolAnswer
	counted      int64          // bytes of images, see engine.CountImages
	standalone   string         // what fullRequest found; "" before
	emit         func(string) error
}

// add appends a message. Two consecutive messages of the user are joined, as most models require.
func (t *task) add(role, text string) {
	if n := len(t.messages); n > 0 && role == "user" && t.messages[n-1].Role == role {
		t.messages[n-1].Content += "\n" + text
		return
	}
	t.messages = append(t.messages, engine.ModelMessage{Role: role, Content: text})
}

// fullRequest returns the user's request, rewritten to be understandable without the conversation.
// If the conversation is short, or the model fails, it is the last message unchanged.
func (t *task) fullRequest(ctx context.Context) (string, error) {
	if len(t.messages) < 3 {
		return t.request, nil
	}
	if t.standalone != "" {
		return t.standalone, nil
	}
	var lines []string
	for i, m := range t.messages {
		text := m.Content
		if i == len(t.messages)-1 {
			text = t.request
		}
		if m.Role == "user" || m.Role == "assistant" {
			lines = append(lines, strings.ToUpper(m.Role)+": "+text)
		}
	}
	answer, err := t.call.Generate(ctx, &engine.ModelRequest{
		LLM: t.agent.LLMID, Purpose: engine.PurposeQuestion, Query: t.request,
		System:   fullQuestion(strings.Join(lines, "\n"), t.call.Now()),
		Messages: []engine.ModelMessage{{Role: "user", Content: "The request that stands alone:"}},
	}, nil)
	if endsNode(err) || ctx.Err() != nil {
		return "", err
	}
	if err != nil {
		warn(t.call, "request", fmt.Errorf("it is used without the conversation before it: %w", err))
	}
	t.standalone = t.request
	text := strings.TrimSpace(afterReasoning(answer.Text))
	if err != nil || text == "" {
		return t.request, nil // the request as it stands will do
	}
	t.standalone = text
	t.call.TraceStep("Multi-turn conversation optimization", engine.Object(), engine.String(text))
	return text, nil
}

// cites reports whether the answer should cite its sources: only an agent at the top level of the
// canvas answers a reader.
func (t *task) cites() bool {
	return t.agent.Cite && !t.call.IsTool() && t.agent.schema.IsNull() && t.call.Chunks().Len() > 0
}

// finish writes the answer. The prompt of a short conversation includes the rules for citations; a
// long one is answered first and cited in a second call.
func (t *task) finish(ctx context.Context) (string, error) {
	purpose := engine.PurposeAnswer
	if !t.agent.schema.IsNull() {
		purpose = engine.PurposeStructured
		t.system = paragraphs(t.system, jsonAnswer(t.agent.schema))
	}
	cites, short := t.cites(), len(t.messages) < 6
	if cites && short {
		t.system = paragraphs(t.system, citationsFor(&t.conversation))
	}
	t.shorten()
	emit := t.emit
	if cites && !short {
		emit = nil // what is cited is emitted
	}
	text, err := t.agent.generate(ctx, t.call, t.agent.request(t.call, &t.conversation, purpose), emit)
	for n, again := 0, true; err == nil; n++ {
		if again, err = t.agent.again(t.call, text, n); !again {
			break
		}
		text, err = t.agent.generate(ctx, t.call, t.agent.request(t.call, &t.conversation, purpose), emit)
	}
	if err != nil || !cites || short {
		return text, err
	}
	return t.insertCitations(ctx, afterReasoning(text))
}

// insertCitations adds citation marks to a finished answer.
func (t *task) insertCitations(ctx context.Context, answer string) (string, error) {
	c := conversation{
		system:   citationRepair(citationsFor(&t.conversation), citedPassages(t.call.Chunks())),
		messages: []engine.ModelMessage{{Role: "user", Content: answer}},
	}
	text, err := t.agent.generate(ctx, t.call, t.agent.request(t.call, &c, engine.PurposeCite), t.emit)
	if err == nil {
		t.call.TraceStep("gen_citations", engine.Object(), engine.String(text))
	}
	return text, err
}

// longest is the number of messages from which an answer is written; of more, the first and the
// last ten are kept.
const longest = 11

func (t *task) shorten() {
	if n := len(t.messages); n > longest {
		t.messages = append(t.messages[:1:1], t.messages[n-10:]...)
	}
}
