package api

import (
	"errors"
	"net/http"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
)

// openAI answers chat completions as OpenAI's clients ask for them.
func (a *API) openAI(c *call) error {
	if err := c.require("model", "messages"); err != nil {
		return err
	}
	if _, _, err := c.lastQuestion(); err != nil {
		return err // before the answer reveals whether the agent exists
	}
	id := c.params["id"]
	agent, err := c.canvas(id, failed(codeData, "You don't own the agent %s", id))
	if err != nil {
		return err
	}
	return c.answerOpenAI(agent)
}

func noMessages() error {
	f := failed(codeData, "You must provide at least one message.")
	f.param = "messages"
	return errors.Join(&status{http.StatusBadRequest, "bad_argument", f.message}, f)
}

// lastQuestion is the content of the last user message.
func (c *call) lastQuestion() (text string, found bool, err error) {
	messages := c.list("messages")
	if err := c.valid(); err != nil {
		return "", false, err
	}
	if messages.Len() == 0 {
		return "", false, noMessages()
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

// contentText is a message's content: a text, or its text parts with line breaks between them.
func contentText(v engine.Value) string {
	if v.Kind() != engine.KindList {
		return v.Text()
	}
	var parts []string
	for _, part := range v.Elements() {
		if text := part.Get("text").Text(); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n")
}

// includeUsage is whether the request wants a last chunk with the tokens that were used.
func (c *call) includeUsage() bool {
	options := c.object("stream_options")
	return options.Get("include_usage").True()
}

func (c *call) answerOpenAI(agent store.Canvas) error {
	question, some, err := c.lastQuestion()
	if err != nil {
		return err
	}
	usage := c.includeUsage()
	if !some {
		return c.answerNobody(usage)
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
	answer := newCompletion(t.session.ID, t.agent.ID, engine.Tokens(question), usage)
	if err := c.start(t); err != nil {
		return err
	}
	if !t.stream {
		return c.wholeOpenAI(t, answer)
	}
	return c.stream(t.job, openAIFace(answer))
}

// answerNobody answers messages of which none is a user's or an assistant's.
func (c *call) answerNobody(usage bool) error {
	const text = "No valid messages found (user or assistant)."
	stream, model := c.flag("stream", false), c.text("model")
	if err := c.valid(); err != nil {
		return err
	}
	answer := newCompletion(engine.RandomIDs{}.NewID(), model, 0, usage)
	if !stream {
		return c.send(http.StatusOK, answer.whole(text, engine.Null))
	}
	s := c.beginStream(true)
	s.value(answer.chunk(text, engine.Null))
	for _, v := range answer.closing() {
		s.value(v)
	}
	s.text("[DONE]")
	return nil
}

// openAIFace shows a run as chunks of a completion.
func openAIFace(answer *completion) face {
	return face{
		spaced: true, done: true,
		change: func(r runlog.Record) engine.Value {
			f := runs.Facts(r)
			switch engine.EventType(r.Kind) {
			case engine.EventMessage:
				return answer.chunk(thinkText(f.Message), engine.Null)
			case engine.EventMessageEnd:
				return answer.chunk("", f.Data.Get("reference"))
			case engine.EventUserInputs:
				return answer.chunk(formText(f.Data, answer.said.Len() > 0), engine.Null)
			}
			return engine.Null
		},
		broke: func(end runs.End, _ engine.Value) engine.Value {
			return answer.last("**ERROR**: " + end.Error)
		},
		closing: func(end runs.End) []engine.Value {
			if end.Status == store.RunFailed {
				s := runStatus(end)
				return []engine.Value{openAIError(s.code, s.message, "")}
			}
			return answer.closing()
		},
	}
}

// formText is what a client without forms shows of one that pauses a run: its tips, or the names of
// its fields. after puts it on a line of its own after what was said.
func formText(form engine.Value, after bool) string {
	text := form.Get("tips").Text()
	if text == "" {
		var names []string
		for key, field := range form.Get("inputs").Fields() {
			name := field.Get("name").Text()
			if name == "" {
				name = key
			}
			names = append(names, name)
		}
		text = strings.Join(names, "\n")
	}
	if after && text != "" {
		text = "\n" + text
	}
	return text
}

// thinkText is a message's delta with the marks around reasoning.
func thinkText(p engine.Piece) string {
	switch {
	case p.Opens:
		return engine.ThinkOpen
	case p.Closes:
		return engine.ThinkClose
	}
	return p.Text
}

func (c *call) wholeOpenAI(t *turn, answer *completion) error {
	said, end, err := c.gather(t.job.ID, nil)
	if err != nil {
		return err
	}
	if end.Status == store.RunFailed {
		return runStatus(end)
	}
	text := said.Text.String()
	if asked := said.Asked(); asked.Get("event").Str() == string(engine.EventUserInputs) {
		text += formText(asked.Get("data"), text != "")
	}
	return c.send(http.StatusOK, answer.whole(text, said.Reference()))
}
