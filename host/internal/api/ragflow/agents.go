package ragflow

import (
	"context"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/app"
)

// agents are canvases, as clients of the agent API call them.
type agents struct{ *face }

func (a agents) routes() []api.Route {
	const read, edit = app.ScopeRead, app.ScopeEdit
	return []api.Route{
		{Method: "GET", Path: "/api/v1/agents", Body: api.BodyNone, Scope: read, Handler: a.list},
		{Method: "POST", Path: "/api/v1/agents", Body: api.BodyCanvas, Scope: edit, Handler: a.add},
		{Method: "GET", Path: "/api/v1/agents/{id}", Body: api.BodyNone, Scope: read, Handler: a.get},
		{Method: "GET", Path: "/v1/canvas/get/{id}", Body: api.BodyNone, Scope: read, Handler: a.get},
		{Method: "PUT", Path: "/api/v1/agents/{id}", Body: api.BodyCanvas, Scope: edit, Handler: a.update},
		{Method: "DELETE", Path: "/api/v1/agents/{id}", Body: api.BodyTiny, Scope: edit, Handler: a.remove},
		{Method: "GET", Path: "/api/v1/agents/tags", Body: api.BodyNone, Scope: read, Handler: a.tags},
		{Method: "PUT", Path: "/api/v1/agents/{id}/tags", Body: api.BodySmall, Scope: edit, Handler: a.setTags},
	}
}

const defaultPageSize = 30

// agentRow is a canvas as the 0.23 dialect lists it.
func agentRow(c app.Canvas) *engine.ObjectBuilder {
	b := engine.NewObject(16)
	b.Set("id", engine.String(c.ID)).Set("title", engine.String(c.Title)).Set("avatar", api.OrNull(c.Avatar))
	b.Set("user_id", engine.String(c.User)).Set("permission", engine.String(c.Permission))
	b.Set("description", api.OrNull(c.Description)).Set("canvas_type", api.OrNull(c.Type))
	b.Set("canvas_category", engine.String(c.Category)).Set("dsl", api.DocumentOf(c.DSL))
	api.SetTimes(b, c.CreateTime, c.UpdateTime)
	return b
}

func (a agents) add(ctx context.Context, r *api.Request) (api.Response, error) {
	dsl, err := r.Document()
	switch {
	case err != nil:
		return nil, err
	case dsl == nil:
		return nil, api.Refused(api.KindBadArgument, "No DSL data in request.")
	}
	title := strings.TrimSpace(r.Body.Text("title"))
	if title == "" {
		return nil, api.Refused(api.KindBadArgument, "No title in request.")
	}
	category := a.titleCategory(orCategory(r.Body.Text("canvas_category")))
	if err := a.unique(ctx, r.Who, title, category, ""); err != nil {
		return nil, err
	}
	if err := a.Services.Canvases.Check(dsl); err != nil {
		return nil, err
	}
	v, err := a.create(ctx, r, dsl)
	if err != nil {
		return nil, err
	}
	return a.created(func() engine.Value { return a.canvasRow(ctx, v) }), nil
}

// orCategory is the category of a new canvas.
func orCategory(category string) string {
	if category == "" {
		return app.AgentCategory
	}
	return category
}

func (a agents) get(ctx context.Context, r *api.Request) (api.Response, error) {
	v, err := a.canvas(ctx, r, r.Params["id"], api.Failed(api.KindNotFound, api.NoCanvas))
	if err != nil {
		return nil, err
	}
	return envelope.OK(a.canvasRow(ctx, v)), nil
}

func (a agents) update(ctx context.Context, r *api.Request) (api.Response, error) {
	v, err := a.canvas(ctx, r, r.Params["id"], a.notEditable())
	if err != nil {
		return nil, err
	}
	dsl, err := r.Document()
	if err == nil && dsl != nil && a.checksUpdates() {
		err = a.Services.Canvases.Check(dsl)
	}
	if err != nil {
		return nil, err
	}
	if v, err = a.change(ctx, r, v, dsl); err != nil {
		return nil, err
	}
	return a.updated(v), nil
}

func (a agents) remove(ctx context.Context, r *api.Request) (api.Response, error) {
	id := r.Params["id"]
	if _, err := a.canvas(ctx, r, id, api.Refused(api.KindNotOwner, "%s", a.notDeletable())); err != nil {
		return nil, err
	}
	return done(a.Services.Canvases.Delete(ctx, r.Who, id))
}
