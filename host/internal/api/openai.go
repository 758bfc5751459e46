package api

import (
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/durable"
	"github.com/easel-canvas/easel/host/internal/store"
)

// openAI is chat completions as OpenAI's clients ask for them.
func (a *API) openAI(c *call) error {
	if err := c.require("model", "messages"); err != nil {
		return err
	}
	if _, _, err := c.lastQuestion(); err != nil {
		return err // before anybody is told whose the agent is
	}
	id := c.params["id"]
	agent, err := c.canvas(id, failed(codeData, "You don't own the agent %s", id))
	if err != nil {
		return err
	}
	return c.answerOpenAI(agent)
}

// lastQuestion is the content of the last user message.
func (c *call) lastQuestion() (text string, found bool, err error) {
	messages := c.list("messages")
	if err := c.valid(); err != nil {
		return "", false, err
	}
	if messages.Len() == 0 {
		return "", false, failed(codeData, "You must provide at least one message.")
	}
	some := false
	for _, m := range messages.Elements() {
		switch m.Get("role").Str() {
		case "user":
			text, found = contentText(m.Get("content")), true
			some = true
		case "assistant":
			some = true
		}
	}
	return text, found || some, nil
}

// contentText is a message's content: a text, or its text parts joined.
func contentText(v engine.Value) string {
	if v.Kind() != engine.KindList {
		return v.Text()
	}
	var out strings.Builder
	for _, part := range v.Elements() {
		out.WriteString(part.Get("text").Text())
	}
	return out.String()
}

func (c *call) answerOpenAI(agent store.Canvas) error {
	question, some, err := c.lastQuestion()
	if err != nil {
		return err
	}
	if !some {
		const text = "No valid messages found (user or assistant)."
		stream, model := c.flag("stream", false), c.text("model")
		if err := c.valid(); err != nil {
			return err
		}
		if stream {
			s := c.beginStream(true)
			s.value(chunk(agent.ID, model, text, engine.Null))
			s.text("[DONE]")
			return nil
		}
		return c.send(200, wholeCompletion(agent.ID, model, 0, text, engine.Null, engine.Null))
	}
	session := c.text("session_id")
	if session == "" {
		session = c.text("id")
	}
	if meta := c.body.Get("metadata"); session == "" && meta.Kind() == engine.KindObject {
		session = meta.Get("id").Text()
	}
	c.body = c.body.With("session_id", engine.String(session)).With("query", engine.String(question))
	t, err := c.readTurn(agent, sourceAgent, false)
	if err != nil {
		return err
	}
	asked := engine.Tokens(question)
	if err := c.start(t); err != nil {
		return err
	}
	if !t.stream {
		return c.wholeOpenAI(t, asked)
	}
	return c.stream(t.job, face{
		spaced: true, done: true,
		change: func(kind engine.EventType, e engine.Value) engine.Value {
			switch kind {
			case engine.EventMessage:
				return chunk(t.session.ID, t.agent.ID, thinkText(e.Get("data")), engine.Null)
			case engine.EventMessageEnd:
				return chunk(t.session.ID, t.agent.ID, "", e.Get("data").Get("reference"))
			}
			return engine.Null
		},
		broke: func(end durable.End, _ engine.Value) engine.Value {
			v := chunk(t.session.ID, t.agent.ID, "**ERROR**: "+end.Error, engine.Null)
			choice := v.Get("choices").At(0).With("finish_reason", engine.String("stop"))
			return v.With("choices", engine.List(choice))
		},
	})
}

// thinkText is a message's delta with the marks around reasoning.
func thinkText(d engine.Value) string {
	switch {
	case d.Get("start_to_think").True():
		return engine.ThinkOpen
	case d.Get("end_to_think").True():
		return engine.ThinkClose
	}
	return d.Get("content").Text()
}

func chunk(id, model, content string, reference engine.Value) engine.Value {
	delta := engine.Object("content", content)
	if !reference.IsNull() {
		delta = delta.With("reference", reference)
	}
	choice := engine.Object("delta", delta, "finish_reason", engine.Null, "index", 0)
	return engine.Object("id", id, "object", "chat.completion.chunk", "model", model, "choices", engine.List(choice))
}

func (c *call) wholeOpenAI(t *turn, asked int) error {
	said, end, err := c.gather(t.job.ID, nil)
	if err != nil {
		return err
	}
	text := said.Text.String()
	if end.Status == store.RunFailed {
		text += "**ERROR**: " + end.Error
	}
	return c.send(200, wholeCompletion(t.session.ID, t.agent.ID, asked, text, said.Reference(), engine.Null))
}

// wholeCompletion is an answer to a prompt of so many tokens.
func wholeCompletion(id, model string, asked int, text string, reference, created engine.Value) engine.Value {
	message := engine.Object("role", "assistant", "content", text)
	if !reference.IsNull() {
		message = message.With("reference", reference)
	}
	out := engine.Tokens(text)
	usage := engine.Object("prompt_tokens", asked, "completion_tokens", out, "total_tokens", asked+out,
		"completion_tokens_details", engine.Object("reasoning_tokens", 0, "accepted_prediction_tokens", 0, "rejected_prediction_tokens", 0))
	choice := engine.Object("message", message, "logprobs", engine.Null, "finish_reason", "stop", "index", 0)
	return engine.Object("id", id, "object", "chat.completion", "created", created, "model", model, "param", engine.Null,
		"usage", usage, "choices", engine.List(choice))
}
