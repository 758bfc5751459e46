package ragflow

import (
	"context"
	"errors"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/app"
)

// versions are the saved documents of canvases, and what the editor offers for new ones.
type versions struct{ *face }

func (v versions) routes() []api.Route {
	read := func(path string, h api.Handler) api.Route {
		return api.Route{Method: "GET", Path: path, Body: api.BodyNone, Scope: app.ScopeRead, Handler: h}
	}
	return []api.Route{
		read("/v1/canvas/getlistversion/{id}", v.list),
		read("/api/v1/agents/{id}/versions", v.list),
		read("/v1/canvas/getversion/{vid}", v.get),
		read("/api/v1/agents/{id}/versions/{vid}", v.get),
		read("/v1/canvas/templates", v.templates),
		read("/api/v1/agents/templates", v.templates),
		read("/v1/canvas/prompts", prompts),
		read("/api/v1/agents/prompts", prompts),
	}
}

// row is a version as the dialects list it.
func (v versions) row(of app.Version) *engine.ObjectBuilder {
	released, changed := v.versionState(of)
	b := engine.NewObject(10)
	b.Set("id", engine.String(of.ID)).Set("title", engine.String(of.Title))
	b.Set("user_canvas_id", engine.String(of.Canvas))
	b.Set("description", api.OrNull(of.Description)).Set("release", engine.Bool(released))
	api.SetTimes(b, of.CreateTime, changed)
	return b
}

func (v versions) list(ctx context.Context, r *api.Request) (api.Response, error) {
	canvas, err := v.owned(ctx, r, r.Params["id"])
	if err != nil {
		return nil, err
	}
	list, err := v.Services.Versions.List(ctx, canvas)
	if err != nil {
		return nil, err
	}
	v.orderVersions(list)
	rows := make([]engine.Value, len(list))
	for i, one := range list {
		rows[i] = v.row(one).Value()
	}
	return envelope.OK(engine.List(rows...)), nil
}

func (v versions) get(ctx context.Context, r *api.Request) (api.Response, error) {
	one, err := v.Services.Versions.Get(ctx, r.Who, r.Params["id"], r.Params["vid"])
	if errors.Is(err, app.ErrNotFound) {
		err = api.Failed(api.KindNotFound, "Version not found.")
	}
	if err != nil {
		return nil, err
	}
	return envelope.OK(v.row(one).Set("dsl", api.DocumentOf(one.DSL)).Value()), nil
}

func (v versions) templates(context.Context, *api.Request) (api.Response, error) {
	all := v.Services.Templates
	rows := make([]engine.Value, len(all.List))
	for i, t := range all.List {
		b := engine.NewObject(12)
		b.Set("id", engine.String(t.ID)).Set("avatar", api.OrNull(t.Avatar))
		b.Set("title", t.Title).Set("description", t.Description)
		b.Set("canvas_type", engine.String(t.Type)).Set("canvas_types", engine.Strings(t.Type))
		b.Set("canvas_category", engine.String(app.AgentCategory)).Set("dsl", api.DocumentOf(t.DSL))
		api.SetTimes(b, all.Read, all.Read)
		rows[i] = b.Value()
	}
	return envelope.OK(engine.List(rows...)), nil
}

// prompts are texts that the editor offers for an Agent's system prompt.
func prompts(context.Context, *api.Request) (api.Response, error) {
	return envelope.OK(engine.Object(
		"task_analysis", "Read the request. Say in a few lines what is required, what is known, what is missing, "+
			"and what a good answer looks like.",
		"plan_generation", "From the analysis, list the steps that lead to the answer. For each step name the tool "+
			"that does it and what it needs.",
		"reflection", "Look at what the steps gave. Say what is certain, what is still open, and whether another "+
			"step is worth its cost.",
		"citation_guidelines", "Put [ID:n] behind each sentence that rests on passage n. Sentences without a source "+
			"get no mark.",
	)), nil
}
