package openai

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/model"
	"github.com/easel-canvas/easel/host/internal/quota"
)

// Models are the routes of the host's models for pages: a preview in a browser asks here, so that
// keys stay on the host.
func (f *Face) Models() []api.Route {
	return []api.Route{
		{
			Method: "POST", Path: "/api/llm/chat/completions", Body: api.BodyCanvas, Scope: app.ScopeRun,
			PageRun: true, Fail: fail, Handler: f.forward,
		},
		{
			Method: "GET", Path: "/api/llm/models", Body: api.BodyNone, Scope: app.ScopeRead,
			PageRun: true, Fail: fail, Handler: f.listModels,
		},
	}
}

func (f *Face) listModels(ctx context.Context, r *api.Request) (api.Response, error) {
	list, err := f.services.Models.List(ctx, r.Who.Tenant)
	if err != nil {
		return nil, err
	}
	rows := []engine.Value{}
	row := func(id, owner string) {
		rows = append(rows, engine.Object("id", id, "object", "model", "created", 0, "owned_by", owner))
	}
	for _, m := range list {
		if id := m.ID(); !strings.HasPrefix(id, "*") {
			row(id, m.Provider)
		}
	}
	if len(list) == 0 {
		row("offline", "easel")
	}
	return api.Sorted(http.StatusOK, engine.Object("object", "list", "data", engine.List(rows...))), nil
}

// forward passes a chat completion on to the provider that its model names, under the host's key.
// Without a provider the offline model answers.
func (f *Face) forward(ctx context.Context, r *api.Request) (api.Response, error) {
	messages := r.Body.List("messages")
	r.Body.Text("model")
	stream, usage := r.Body.Flag("stream", false), includeUsage(&r.Body)
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	if messages.Len() == 0 {
		return nil, api.Refused(api.KindBadArgument, "messages is empty; expected a list of at least one message")
	}
	t := f.services.Models.Of(r.Who.Tenant, r.Who.Caller)
	m, err := t.Models(ctx)
	if err != nil {
		return nil, err
	}
	if !m.Configured() {
		return answerOffline(ctx, m, messages, stream, usage), nil
	}
	res, err := t.Forward(ctx, r.Body.Value)
	r.Free()
	if err != nil {
		return nil, modelFailure(err)
	}
	return api.ResponseFunc(func(r *api.Request) error {
		defer res.Body.Close()
		pass(r, res)
		return nil
	}), nil
}

// modelFailure says with a status why a model did not answer.
func modelFailure(err error) error {
	var used *quota.UsedUp
	switch {
	case errors.Is(err, context.Canceled):
		return err // the client has gone
	case errors.As(err, &used):
		wait := api.TooMany(used.After, used.Error())
		return errors.Join(&api.Status{HTTP: wait.Status, Code: codeUsedUp, Message: wait.Message}, wait)
	case errors.Is(err, model.ErrUnknownModel):
		return &api.Status{HTTP: http.StatusNotFound, Code: "model_not_found", Message: err.Error()}
	case errors.Is(err, model.ErrNoRelay):
		return &api.Status{HTTP: http.StatusBadRequest, Code: "model_not_relayed", Message: err.Error()}
	case errors.Is(err, model.ErrSilent):
		return &api.Status{HTTP: http.StatusGatewayTimeout, Code: "provider_timeout", Message: err.Error()}
	}
	return &api.Status{HTTP: http.StatusBadGateway, Code: "provider_unreachable", Message: err.Error()}
}

// pass copies a provider's answer, each piece at once.
func pass(r *api.Request, res *http.Response) {
	h := r.Writer.Header()
	kind := res.Header.Get("Content-Type")
	if strings.HasPrefix(kind, "text/event-stream") {
		kind = "text/event-stream; charset=utf-8"
		h.Set("Cache-Control", "no-cache")
		h.Set("X-Accel-Buffering", "no")
	} else if !strings.HasPrefix(kind, "application/json") {
		kind = "text/plain; charset=utf-8" // a page of a gateway is not shown as one of ours
	}
	h.Set("Content-Type", kind)
	h.Set("X-Content-Type-Options", "nosniff")
	if after := res.Header.Get("Retry-After"); after != "" {
		h.Set("Retry-After", after)
	}
	r.Begin()
	r.Writer.WriteHeader(res.StatusCode)
	flush := http.NewResponseController(r.Writer)
	buf := make([]byte, 16<<10)
	for {
		n, err := res.Body.Read(buf)
		if n > 0 {
			if _, err := r.Writer.Write(buf[:n]); err != nil {
				return // the client has gone
			}
			if err := flush.Flush(); err != nil {
				return
			}
		}
		if err == nil {
			continue
		}
		if err != io.EOF && r.HTTP.Context().Err() == nil && strings.HasPrefix(kind, "text/event-stream") {
			// Errors after the first byte are sent inside the stream, as providers do.
			api.ContinueStream(r.Writer).Value(errorBody("provider_error", err.Error(), ""))
		}
		return
	}
}

// offlineRequest is what the offline model is asked for messages, with all their text.
func offlineRequest(messages engine.Value, stream bool) (req *engine.ModelRequest, text string) {
	req = &engine.ModelRequest{Stream: stream}
	var system, asked strings.Builder
	for _, v := range messages.Elements() {
		role, text := v.Get("role").Str(), contentText(v.Get("content"))
		switch role {
		case "system", "developer":
			system.WriteString(text)
		case "user", "assistant", "tool":
			req.Messages = append(req.Messages, engine.ModelMessage{Role: role, Content: text})
			if role == "user" {
				req.Query = text
			}
		}
	}
	req.System = system.String()
	asked.WriteString(req.System)
	for _, m := range req.Messages {
		asked.WriteString(m.Content)
	}
	return req, asked.String()
}

// answerOffline answers in OpenAI's form without a provider.
func answerOffline(
	ctx context.Context, m *model.Models, messages engine.Value, stream, usage bool,
) api.Response {
	req, text := offlineRequest(messages, stream)
	answer := newCompletion("chatcmpl-"+engine.RandomIDs{}.NewID(), "offline", engine.Tokens(text), usage)
	return api.ResponseFunc(func(r *api.Request) error {
		s := r.NewStream(true)
		for piece, err := range m.Generate(ctx, req) {
			if err != nil {
				return err
			}
			chunk := answer.chunk(piece.Text, engine.Null)
			if stream && piece.Text != "" {
				s.Value(chunk)
			}
		}
		if !stream {
			return api.Sorted(http.StatusOK, answer.whole(answer.said.String(), engine.Null)).Write(r)
		}
		answer.close(s)
		return nil
	})
}
