// Package openai answers in the form of OpenAI's chat completions: runs of canvases, and the models
// of the host for pages.
package openai

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// Face is the completions of a host in OpenAI's form. It is safe for concurrent use.
type Face struct{ services *app.Services }

// New makes the face.
func New(s *app.Services) *Face { return &Face{s} }

// Agents returns the route of completions of canvases; release enables requests for the published
// version, and fail answers failures.
func (f *Face) Agents(release bool, fail api.ErrorForm) api.Route {
	return api.Route{
		Method: "POST", Path: "/api/v1/agents_openai/{id}/chat/completions", Body: api.BodyCanvas,
		Scope: app.ScopeRun, Fail: fail,
		Handler: func(ctx context.Context, r *api.Request) (api.Response, error) { return f.complete(ctx, r, release) },
	}
}

// complete answers chat completions of a canvas as OpenAI's clients ask for them.
func (f *Face) complete(ctx context.Context, r *api.Request, release bool) (api.Response, error) {
	if err := r.Body.Require("model", "messages"); err != nil {
		return nil, err
	}
	if _, _, err := lastQuestion(&r.Body); err != nil {
		return nil, err // before the answer reveals whether the agent exists
	}
	id := r.Params["id"]
	agent, err := f.services.Canvases.Get(ctx, r.Who, id)
	if errors.Is(err, app.ErrNotFound) {
		return nil, api.Failed(api.KindNotFound, "You don't own the agent %s", id)
	}
	if err != nil {
		return nil, err
	}
	return f.Answer(ctx, r, agent, release)
}

func noMessages() error {
	f := api.Failed(api.KindInvalid, "You must provide at least one message.")
	f.Param = "messages"
	return f
}

// lastQuestion is the content of the last user message.
func lastQuestion(body *api.Body) (text string, found bool, err error) {
	messages := body.List("messages")
	if err := body.Valid(); err != nil {
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

// earlier returns the turns before the last user message. Clients send the whole conversation with
// each question; with a session, the canvas has it already.
func earlier(messages engine.Value) (turns []engine.Turn) {
	last := 0
	for _, m := range messages.Elements() {
		role := m.Get("role").Str()
		if role == "user" {
			last = len(turns)
		}
		said := engine.String(contentText(m.Get("content")))
		switch role {
		case "user":
			turns = append(turns, engine.Turn{Role: role, Content: said})
		case "assistant":
			if said.Truthy() { // else it only called tools, of which the answer follows
				turns = append(turns, engine.Turn{Role: role, Content: engine.Object("content", said)})
			}
		}
	}
	return turns[:last]
}

// instructions are the system messages of a request.
func instructions(messages engine.Value) string {
	var texts []string
	for _, m := range messages.Elements() {
		if role := m.Get("role").Str(); role == "system" || role == "developer" {
			if text := contentText(m.Get("content")); text != "" {
				texts = append(texts, text)
			}
		}
	}
	return strings.Join(texts, "\n\n")
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
func includeUsage(body *api.Body) bool {
	return body.Object("stream_options").Get("include_usage").True()
}

// sessionOf is the session that a request names, in one of the places where clients can put it.
func sessionOf(body *api.Body) string {
	session := body.Text("session_id")
	if session == "" {
		session = body.Text("id")
	}
	if meta := body.Get("metadata"); session == "" && meta.Kind() == engine.KindObject {
		session = meta.Get("id").Text()
	}
	return session
}

// Answer answers a chat completion of a canvas; release enables requests for the published version.
func (f *Face) Answer(ctx context.Context, r *api.Request, agent app.Canvas, release bool) (api.Response, error) {
	question, some, err := lastQuestion(&r.Body)
	if err != nil {
		return nil, err
	}
	usage := includeUsage(&r.Body)
	if !some {
		return answerNoQuestion(r, usage)
	}
	session := sessionOf(&r.Body)
	stream := r.Body.Flag("stream", false)
	r.Body.Flag("return_trace", false) // of no meaning here, but of the right type
	turn := r.Body.Turn()
	turn.Canvas, turn.Session, turn.Source, turn.Query = agent, session, app.SourceAgent, engine.String(question)
	turn.Earlier = earlier(r.Body.Get("messages"))
	turn.Instructions = instructions(r.Body.Get("messages"))
	turn.Published = release && r.Body.Flag("release", r.Query.Asked("release", false))
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	made, job, err := f.services.Sessions.Turn(ctx, r.Who, turn)
	if err != nil {
		return nil, err
	}
	answer := newCompletion(made.ID, agent.ID, engine.Tokens(question), usage)
	job, err = r.Start(ctx, job)
	if errors.Is(err, app.ErrNotFound) {
		err = api.Failed(api.KindNotFound, "Agent not found.")
	}
	if err != nil {
		return nil, err
	}
	if !stream {
		return answerWhole(ctx, r, job.ID, answer)
	}
	return api.StreamRun(job, frames(answer)), nil
}

// answerNoQuestion answers messages of which none is a user's or an assistant's.
func answerNoQuestion(r *api.Request, usage bool) (api.Response, error) {
	const text = "No valid messages found (user or assistant)."
	stream, model := r.Body.Flag("stream", false), r.Body.Text("model")
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	answer := newCompletion(engine.RandomIDs{}.NewID(), model, 0, usage)
	if !stream {
		return api.Sorted(http.StatusOK, answer.whole(text, engine.Null)), nil
	}
	return api.ResponseFunc(func(r *api.Request) error {
		s := r.OpenStream(true)
		s.Value(answer.chunk(text, engine.Null))
		answer.close(s)
		return nil
	}), nil
}

// frames shows a run as chunks of a completion.
func frames(answer *completion) api.Frames {
	return api.Frames{
		Spaced: true, Done: true,
		Change: func(r app.Record) engine.Value {
			f := app.Facts(r)
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
		Broke: func(end app.End, _ engine.Value) engine.Value {
			return answer.last("**ERROR**: " + end.Error)
		},
		Closing: func(end app.End) []engine.Value {
			if end.Status == app.RunFailed {
				s := runStatus(end)
				return []engine.Value{errorBody(s.Code, s.Message, "")}
			}
			return answer.closing()
		},
	}
}

// formText returns the text of a paused run's form for clients without forms: its tips, or the
// names of its fields. after starts a new line behind the text already sent.
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

// answerWhole waits for the end of a run and answers with what it said.
func answerWhole(ctx context.Context, r *api.Request, run string, answer *completion) (api.Response, error) {
	said, end, err := r.Gather(ctx, run, nil)
	if err != nil {
		return nil, err
	}
	if end.Status == app.RunFailed {
		return nil, runStatus(end)
	}
	text := said.Text.String()
	if asked := said.Asked(); asked.Get("event").Str() == string(engine.EventUserInputs) {
		text += formText(asked.Get("data"), text != "")
	}
	return api.Sorted(http.StatusOK, answer.whole(text, said.Reference())), nil
}
