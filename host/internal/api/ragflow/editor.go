package ragflow

import (
	"context"
	"errors"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/app"
)

// editor serves the canvas editor.
type editor struct{ *face }

func (e editor) routes() []api.Route {
	const read, edit, run = app.ScopeRead, app.ScopeEdit, app.ScopeRun
	const agent = "/api/v1/agents/{id}"
	const component = agent + "/components/{component}"
	open := func(method, path string, body api.BodyClass, scope string, h api.Handler) api.Route {
		return api.Route{Method: method, Path: path, Body: body, Need: api.NeedBeta, Scope: scope, Handler: h}
	}
	return []api.Route{
		{Method: "GET", Path: "/v1/canvas/list", Body: api.BodyNone, Scope: read, Handler: e.list},
		{Method: "POST", Path: "/v1/canvas/set", Body: api.BodyCanvas, Scope: edit, Handler: e.set},
		{Method: "POST", Path: "/v1/canvas/setting", Body: api.BodyCanvas, Scope: edit, Handler: e.setting},
		{Method: "POST", Path: "/v1/canvas/rm", Body: api.BodySmall, Scope: edit, Handler: e.remove},
		{Method: "POST", Path: "/v1/canvas/completion", Body: api.BodyCanvas, Scope: run, Handler: e.run},
		{Method: "POST", Path: "/v1/canvas/reset", Body: api.BodyTiny, Scope: edit, Handler: e.reset},
		{Method: "POST", Path: agent + "/reset", Body: api.BodyTiny, Scope: edit, Handler: e.reset},
		open("PUT", "/v1/canvas/cancel/{task}", api.BodyTiny, run, e.cancel),
		open("POST", "/api/v1/tasks/{task}/cancel", api.BodyTiny, run, e.cancel),
		open("PATCH", "/api/v1/tasks/{task}", api.BodyTiny, run, e.patchTask),
		{Method: "GET", Path: "/v1/canvas/input_form", Body: api.BodyNone, Scope: read, Handler: e.inputForm},
		{Method: "GET", Path: component + "/input-form", Body: api.BodyNone, Scope: read, Handler: e.inputForm},
		{Method: "POST", Path: "/v1/canvas/debug", Body: api.BodyCanvas, Scope: run, Handler: e.debug},
		{Method: "POST", Path: component + "/debug", Body: api.BodyCanvas, Scope: run, Handler: e.debug},
		open("GET", "/v1/canvas/trace", api.BodyNone, read, e.trace),
		{
			Method: "GET", Path: agent + "/logs/{message}", Body: api.BodyNone, Scope: app.ScopeReadTraces,
			Handler: e.log,
		},
	}
}

func (e editor) list(ctx context.Context, r *api.Request) (api.Response, error) {
	p, err := r.Query.Page(0, "create_time", true)
	if err != nil {
		return nil, err
	}
	if r.Query.Get("owner_ids") != "" {
		p.Limit, p.Offset = 0, 0
	}
	return e.listCanvases(ctx, r, app.CanvasFilter{}, p)
}

// set saves a canvas: a new one without an id, over an old one with it.
func (e editor) set(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := r.Body.Require("dsl", "title"); err != nil {
		return nil, err
	}
	dsl, err := r.Document()
	if err != nil {
		return nil, err
	}
	if dsl == nil {
		return nil, api.Refused(api.KindBadArgument, "No DSL data in request.")
	}
	title, id := strings.TrimSpace(r.Body.Text("title")), r.Body.Text("id")
	if title == "" {
		return nil, api.Refused(api.KindBadArgument, "No title in request.")
	}
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	if id == "" {
		return e.setNew(ctx, r, title, dsl)
	}
	old, err := e.owned(ctx, r, id)
	if err != nil {
		return nil, err
	}
	v, err := e.change(ctx, r, old, dsl)
	return ok(saved(r, v), err)
}

func (e editor) setNew(ctx context.Context, r *api.Request, title string, dsl []byte) (api.Response, error) {
	category := orCategory(r.Body.Text("canvas_category"))
	if err := e.unique(ctx, r.Who, title, category, ""); err != nil {
		return nil, err
	}
	v, err := e.create(ctx, r, dsl)
	return ok(saved(r, v).With("id", engine.String(v.ID)).With("user_id", engine.String(v.User)), err)
}

// saved returns the request in the form that the editor expects: with the document as an object,
// the title as it was stored, and when.
func saved(r *api.Request, v app.Canvas) engine.Value {
	return r.Body.With("dsl", api.DocumentOf(v.DSL)).With("title", engine.String(v.Title)).
		With("update_time", engine.Int(v.UpdateTime)).With("update_date", api.HTTPDate(v.UpdateTime))
}

func (e editor) setting(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := r.Body.Require("id", "title", "permission"); err != nil {
		return nil, err
	}
	old, err := e.canvas(ctx, r, r.Body.Text("id"), api.Failed(api.KindNotFound, api.NoCanvas))
	if err == nil {
		_, err = e.change(ctx, r, old, nil)
	}
	return ok(engine.Int(1), err)
}

func (e editor) remove(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := r.Body.Require("canvas_ids"); err != nil {
		return nil, err
	}
	ids := r.Body.Texts("canvas_ids")
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	for _, id := range ids {
		if _, err := e.owned(ctx, r, id); err != nil {
			return nil, err
		}
		if err := e.Services.Canvases.Delete(ctx, r.Who, id); err != nil {
			return nil, err
		}
	}
	return done(nil)
}

// run runs the canvas itself; its state is stored in the canvas. Of a pipeline the answer is the id
// of the run immediately; its trace has the progress.
func (e editor) run(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := r.Body.Require("id"); err != nil {
		return nil, err
	}
	id, user := r.Body.Text("id"), r.Body.Text("user_id")
	query, inputs, files := question(&r.Body), r.Body.Object("inputs"), r.Body.List("files")
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	v, err := e.owned(ctx, r, id)
	if err != nil {
		return nil, err
	}
	pipeline := v.Category == app.DataflowCategory
	if pipeline && files.Len() == 0 {
		return nil, api.Refused(api.KindBadArgument, "a pipeline runs on a file: upload one and name it in files")
	}
	if user == "" {
		user = r.Who.User
	}
	j, err := r.Start(ctx, app.Job{
		Tenant: r.Who.Tenant, Canvas: id, Actor: r.Who.Actor(), User: user, Source: app.SourceEditor,
		Keep: app.KeepCanvas, Caller: r.Who.Caller, Scheduling: engine.Batch, // whose order of events clients rely on
		Query: query, Inputs: inputs, Files: app.OwnFiles(r.Who.Tenant, files),
	})
	if err != nil {
		return nil, err
	}
	if pipeline {
		return envelope.OK(engine.Object("message_id", j.ID)), nil
	}
	return api.StreamRun(j, api.Frames{Broke: func(end app.End, _ engine.Value) engine.Value {
		return envelope.Value(api.Refused(api.KindFailed, "%s", end.Error))
	}}), nil
}

func (e editor) reset(ctx context.Context, r *api.Request) (api.Response, error) {
	id := r.Params["id"]
	if id == "" {
		if err := r.Body.Require("id"); err != nil {
			return nil, err
		}
		id = r.Body.Text("id")
	}
	if _, err := e.owned(ctx, r, id); err != nil {
		return nil, err
	}
	return ok(e.Services.Canvases.Reset(ctx, r.Who, id))
}

// cancel stops the runs with a name. The response is the same for every name.
func (e editor) cancel(ctx context.Context, r *api.Request) (api.Response, error) {
	return done(e.Services.Runs.CancelNamed(ctx, r.Who, r.Params["task"]))
}

func (e editor) patchTask(ctx context.Context, r *api.Request) (api.Response, error) {
	if action := r.Body.Text("action"); action != "stop" {
		return nil, api.Refused(api.KindBadArgument, "Invalid action '%s'. Only 'stop' is supported.", action)
	}
	return e.cancel(ctx, r)
}

// node is the canvas and component that a request names in its path, query or body.
func (e editor) node(ctx context.Context, r *api.Request) (app.Canvas, string, error) {
	id, component := r.Params["id"], r.Params["component"]
	if id == "" {
		names, err := r.Given("id", "component_id")
		if err != nil {
			return app.Canvas{}, "", err
		}
		id, component = names[0], names[1]
	}
	v, err := e.owned(ctx, r, id)
	return v, component, err
}

func (e editor) inputForm(ctx context.Context, r *api.Request) (api.Response, error) {
	v, component, err := e.node(ctx, r)
	if err != nil {
		return nil, err
	}
	canvas, err := e.Services.Canvases.Load(v.DSL)
	if err != nil {
		return nil, err
	}
	form, err := app.InputForm(canvas, component)
	if err != nil {
		return nil, api.Failed(api.KindBadRequest, "%s", err)
	}
	return envelope.OK(form), nil
}

// debug runs one component alone; nothing is stored.
func (e editor) debug(ctx context.Context, r *api.Request) (api.Response, error) {
	needed := []string{"params"}
	if r.Params["id"] == "" {
		needed = []string{"id", "component_id", "params"}
	}
	if err := r.Body.Require(needed...); err != nil {
		return nil, err
	}
	params := r.Body.Object("params")
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	v, component, err := e.node(ctx, r)
	if err != nil {
		return nil, err
	}
	out, err := e.Services.Runs.Debug(ctx, r.Who, v, component, params)
	var refused *app.DebugError
	if errors.As(err, &refused) {
		err = api.Failed(api.KindBadRequest, "%s", refused)
	}
	return ok(out, err)
}

// trace returns the steps of a run's tools, by message id.
func (e editor) trace(ctx context.Context, r *api.Request) (api.Response, error) {
	names, err := r.Given("canvas_id", "message_id")
	if err != nil {
		return nil, err
	}
	return e.answerTrace(ctx, r, names[1])
}

func (e editor) log(ctx context.Context, r *api.Request) (api.Response, error) {
	return e.answerTrace(ctx, r, r.Params["message"])
}

// answerTrace finds a run by its message, its own id or its session. Visitors of embedding pages
// get a bare trace, keys and logins the whole one if they may read it.
func (e editor) answerTrace(ctx context.Context, r *api.Request, name string) (api.Response, error) {
	if !r.Who.Embeds && !r.Who.May(app.ScopeReadTraces) {
		return nil, api.LacksScope(app.ScopeReadTraces)
	}
	runs, err := e.Services.Runs.Named(ctx, r.Who, name)
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 || !r.Who.MayRead(runs[0]) {
		return envelope.OK(engine.Object()), nil
	}
	records, err := e.Services.Runs.Records(ctx, runs[0])
	if errors.Is(err, app.ErrGone) {
		return envelope.OK(engine.Object()), nil
	}
	if err != nil {
		return nil, err
	}
	if isPipeline(records) {
		return envelope.OK(e.pipelineTrace(ctx, r, runs[0], records)), nil
	}
	out := toolTrace(records)
	if r.Who.Embeds {
		out = bareTrace(out)
	}
	if out.Len() > 0 {
		return envelope.OK(out), nil
	}
	return envelope.OK(engine.Object()), nil
}

// toolTrace groups finished tool calls by component: [{component_id, trace}].
func toolTrace(records []app.Record) engine.Value {
	t := &trail{}
	for _, r := range records {
		if r.Kind != string(engine.EventToolFinished) {
			continue
		}
		d := api.DocumentOf(r.Data).Get("data")
		t.group(d.Get("component_id"), engine.TraceEntry(d))
	}
	return t.value()
}
