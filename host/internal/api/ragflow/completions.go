package ragflow

import (
	"bytes"
	"context"
	"errors"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/openai"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/app"
)

// completions ask agents questions.
type completions struct{ *face }

// chatPath is the completion of the newer dialect in version 0.25.1, which streams unless told not
// to; later versions have it with an s.
const chatPath = "/api/v1/agents/chat/completion"

func (c completions) routes() []api.Route {
	at := func(path string, h api.Handler) api.Route {
		return api.Route{Method: "POST", Path: path, Body: api.BodyCanvas, Scope: app.ScopeRun, Handler: h}
	}
	// The newer dialect's own paths are not in the older one, so they speak it at the root as well.
	newer := completions{&face{Config: c.Config, presenter: presenter027{}}}
	return []api.Route{
		at("/api/v1/agents/{id}/completions", c.completer(c)),
		at(chatPath+"s", newer.chat(false)),
		at(chatPath, newer.chat(true)),
	}
}

// turn is one question to a session, as requested.
type turn struct {
	session app.Session // without its documents
	job     app.Job
	stream  bool
	traced  bool
	bare    bool // it answers the visitor of an embedding page, see embed.go
}

// readTurn reads what all completions have in common. The session is found or made before anything
// is run.
func (f *face) readTurn(
	ctx context.Context, r *api.Request, agent app.Canvas, source string, stream bool,
) (*turn, error) {
	t := &turn{stream: r.Body.Flag("stream", stream), traced: r.Body.Flag("return_trace", false)}
	query := question(&r.Body)
	in := r.Body.Turn()
	in.Canvas, in.Source, in.Query, in.Published = agent, source, query, published(r, f.presenter)
	if !r.Who.Embeds { // clients of RAGFlow rely on its order of events, the chat page and the widget do not
		in.Scheduling = engine.Batch
	}
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	session, job, err := f.Services.Sessions.Turn(ctx, r.Who, in)
	t.session, t.job = app.Session{ID: session.ID, Source: session.Source}, job // a stream may last
	return t, err
}

// question returns the question of a body: query, or question if query is missing.
func question(body *api.Body) engine.Value {
	name := "query"
	v := body.Get(name)
	if v.IsNull() {
		name = "question"
		v = body.Get(name)
	}
	switch v.Kind() {
	case engine.KindNull:
		return engine.String("")
	case engine.KindObject, engine.KindList:
		body.Mismatch(name, "text", v)
	}
	return v
}

// start accepts the turn's run.
func (t *turn) start(ctx context.Context, r *api.Request) (err error) {
	t.job, err = r.Start(ctx, t.job)
	if errors.Is(err, app.ErrNotFound) {
		return api.Failed(api.KindNotFound, envelope.NoAgent)
	}
	return err
}

// complete is the completion of one agent in the 0.23 dialect.
func (c completions) complete(ctx context.Context, r *api.Request) (api.Response, error) {
	id := r.Params["id"]
	agent, err := c.canvas(ctx, r, id, api.Failed(api.KindNotFound, "You don't own the agent %s", id))
	if err != nil {
		return nil, err
	}
	t, err := c.readTurn(ctx, r, agent, app.SourceAgent, true)
	if err != nil {
		return nil, err
	}
	return c.answer(ctx, r, t)
}

// chatWithAgent is the completion of one agent in the 0.27 dialect: another name of the chat.
func (c completions) chatWithAgent(ctx context.Context, r *api.Request) (api.Response, error) {
	return c.chatWith(ctx, r, r.Params["id"], false)
}

// chat is the completion of the 0.27 dialect; stream is the default for requests without the
// member.
func (c completions) chat(stream bool) api.Handler {
	return func(ctx context.Context, r *api.Request) (api.Response, error) {
		id := r.Body.Text("agent_id")
		if id == "" {
			return nil, api.Refused(api.KindBadArgument, "`agent_id` is required.")
		}
		return c.chatWith(ctx, r, id, stream)
	}
}

func (c completions) chatWith(ctx context.Context, r *api.Request, id string, stream bool) (api.Response, error) {
	open := r.Body.Flag("openai-compatible", false)
	if open {
		r.Fail = failCompatible
	}
	agent, err := c.canvas(ctx, r, id, api.Refused(api.KindNotOwner, envelope.NotAccess))
	if err != nil {
		return nil, err
	}
	if open {
		return c.OpenAI.Answer(ctx, r, agent, true)
	}
	t, err := c.readTurn(ctx, r, agent, app.SourceWorkflow, stream)
	if err != nil {
		return nil, err
	}
	return c.answer(ctx, r, t)
}

func (c completions) answer(ctx context.Context, r *api.Request, t *turn) (api.Response, error) {
	if err := t.start(ctx, r); err != nil {
		return nil, err
	}
	if !t.stream {
		return c.answerWhole(ctx, r, t)
	}
	return api.StreamRun(t.job, c.frames(t)), nil
}

// errorMessage reports a failed run in a frame that every client can read.
func errorMessage(end app.End, like engine.Value) engine.Value {
	return like.With("event", engine.String(string(engine.EventMessage))).
		With("data", engine.Object("content", "**ERROR**: "+end.Error))
}

// trail collects the steps of nodes or tools: [{component_id, trace: [entry, ...]}].
type trail struct{ nodes []engine.Value }

// add notes a finished node and returns its event with the whole trail; a node that runs again is
// noted again.
func (t *trail) add(e engine.Value) engine.Value {
	d := e.Get("data")
	t.nodes = append(t.nodes, engine.Object("component_id", d.Get("component_id"), "trace", engine.List(d)))
	return e.With("data", d.With("trace", t.value()))
}

// group adds an entry to those of its component.
func (t *trail) group(id, entry engine.Value) {
	for i, n := range t.nodes {
		if n.Get("component_id").Str() == id.Str() {
			t.nodes[i] = n.With("trace", n.Get("trace").Append(entry))
			return
		}
	}
	t.nodes = append(t.nodes, engine.Object("component_id", id, "trace", engine.List(entry)))
}

func (t *trail) value() engine.Value { return engine.List(append([]engine.Value(nil), t.nodes...)...) }

// structuredKey is in the JSON of each event whose node has an output of this name.
var structuredKey = []byte(`"structured"`)

// answerWhole waits for the end and answers the last event, with everything that was said as its
// content.
func (f *face) answerWhole(ctx context.Context, r *api.Request, t *turn) (api.Response, error) {
	tr := &trail{}
	structured := engine.NewObject(2)
	said, end, err := r.Gather(ctx, t.job.ID, func(kind engine.EventType, data []byte) {
		if kind != engine.EventNodeFinished || t.bare || !t.traced && !bytes.Contains(data, structuredKey) {
			return
		}
		e := api.DocumentOf(data)
		if t.traced {
			tr.add(e)
		}
		if s := e.Get("data").Get("outputs").Get("structured"); s.Truthy() {
			structured.Set(e.Get("data").Get("component_id").Str(), s)
		}
	})
	if err != nil {
		return nil, err
	}
	if t.bare {
		end = bareEnd(end)
	}
	if end.Status == app.RunFailed {
		v := engine.Object("session_id", t.session.ID, "data", engine.Object("content", "**ERROR**: "+end.Error))
		return nil, &api.Failure{Kind: api.KindBadRequest, Message: end.Error, Data: v, HasData: true}
	}
	ended := said.Last()
	last := ended
	if asked := said.Asked(); f.asksPlainly(t) && !asked.IsNull() {
		last = asked
	}
	if last.IsNull() {
		return envelope.Result(engine.Object("session_id", t.session.ID)), nil
	}
	if t.bare {
		last, ended, t.traced = bareEvent(engine.EventType(last.Get("event").Str()), last), engine.Null, false
	}
	ref := said.Reference()
	if ref.IsNull() {
		ref = engine.Object()
	}
	d := last.Get("data").With("content", engine.String(said.Deltas.String())).With("reference", ref)
	if usage := ended.Get("data").Get("usage"); !usage.IsNull() {
		d = d.With("usage", usage)
	}
	if t.traced {
		d = d.With("trace", tr.value())
	}
	if structured.Len() > 0 {
		d = d.With("structured", structured.Value())
	}
	return envelope.Result(last.With("data", d).With("session_id", engine.String(t.session.ID))), nil
}

// failCompatible answers a failure to clients of OpenAI: the members of the envelope plus a member
// error, and its HTTP status.
func failCompatible(r *api.Request, f *api.Failure, err error) {
	status, problem := openai.Problem(f, err)
	api.SetRetryAfter(r.Writer.Header(), f.After)
	v := envelope.Value(f).With("error", problem)
	_ = api.Sorted(status, v).Write(r) // fails only when the client has disconnected
}
