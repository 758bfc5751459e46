package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/model"
	"github.com/easel-canvas/easel/host/internal/quota"
)

// Models returns the routes that relay the host's models to pages: a preview in a browser calls
// them, so that keys stay on the host.
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

// forward answers a chat completion by the model that it names, under the host's key. Without a
// provider the offline model answers.
func (f *Face) forward(ctx context.Context, r *api.Request) (api.Response, error) {
	messages := r.Body.List("messages")
	r.Body.Text("model")
	r.Body.Flag("stream", false)
	usage := includeUsage(&r.Body)
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	if messages.Len() == 0 {
		return nil, api.Refused(api.KindBadArgument, "messages is empty; expected a list of at least one message")
	}
	t := f.services.Models.Of(r.Who.Tenant, r.Who.Caller)
	relays, err := relaying(ctx, t, r.Body.Get("model").Text())
	if err != nil {
		return nil, modelFailure(err)
	}
	// One of a canvas in a page is a model call like those of canvases on the host.
	if page := r.HTTP.Header.Get(api.PageHeader) == api.PageRun; !relays || page {
		req, unread, err := model.ReadCompletion(r.Body.Value)
		switch {
		case err != nil && !relays:
			return nil, api.Refused(api.KindBadArgument, "%s", err)
		case err == nil && (!relays || len(unread) == 0):
			return translated(ctx, t, r, req, unread, usage)
		}
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

// modelFailure maps an error of a model to a failure with a status.
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
	case errors.Is(err, model.ErrSilent):
		return &api.Status{HTTP: http.StatusGatewayTimeout, Code: "provider_timeout", Message: err.Error()}
	}
	var failed *model.Error
	if errors.As(err, &failed) && failed.Status >= 400 && failed.Status < 500 {
		return &api.Status{HTTP: failed.Status, Code: "provider_unreachable", Message: err.Error()}
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

// relaying reports whether a chat completion may be passed on as the client wrote it.
func relaying(ctx context.Context, t *model.Tenant, name string) (bool, error) {
	m, err := t.Models(ctx)
	if err != nil || !m.Configured() {
		return false, err
	}
	return m.Relays(name)
}

// translated answers a chat completion by a model call. A member that a model call has no place for
// is refused, because without it the answer would be another one.
func translated(
	ctx context.Context, t *model.Tenant, r *api.Request, req *engine.ModelRequest, unread []string, usage bool,
) (api.Response, error) {
	m, err := t.Models(ctx)
	if err != nil {
		return nil, err
	}
	if len(unread) > 0 && m.Configured() {
		return nil, &api.Status{
			HTTP: http.StatusBadRequest, Code: codeNotRelayed,
			Message: fmt.Sprintf("%s: the API of this model has no place for it, or not for its value; leave it out",
				strings.Join(unread, ", ")),
		}
	}
	name := req.LLM
	if !m.Configured() {
		name = "offline"
	}
	next, stop := iter.Pull2(t.Generate(ctx, req))
	piece, err, _ := next()
	if err != nil {
		stop()
		return nil, modelFailure(err)
	}
	answer := newCompletion("chatcmpl-"+engine.RandomIDs{}.NewID(), name, engine.Tokens(textOf(req)), usage)
	return api.ResponseFunc(func(r *api.Request) error {
		defer stop()
		s := r.NewStream(true)
		for more := true; more; piece, err, more = next() {
			if err != nil {
				break
			}
			if delta := answer.add(piece); req.Stream && delta.Len() > 0 {
				s.Value(answer.choice(delta, engine.Null))
			}
		}
		switch {
		case err != nil && req.Stream: // errors after the first byte are sent inside the stream, as providers do
			s.Value(errorBody("provider_error", err.Error(), ""))
		case err != nil:
			return modelFailure(err)
		case !req.Stream:
			return api.Sorted(http.StatusOK, answer.whole(answer.said.String(), engine.Null)).Write(r)
		default:
			answer.close(s)
		}
		return nil
	}), nil
}

// textOf returns the texts of a model call.
func textOf(req *engine.ModelRequest) string {
	var b strings.Builder
	b.WriteString(req.System)
	for _, m := range req.Messages {
		b.WriteString(m.Content)
	}
	return b.String()
}
