package ragflow

import (
	"context"
	"errors"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// reruns answer requests to parse a document again from a node of its pipeline.
type reruns struct{ *face }

func (f reruns) routes() []api.Route {
	routeOf := func(path string) api.Route {
		return api.Route{Method: "POST", Path: path, Body: api.BodyCanvas, Scope: app.ScopeEdit, Handler: f.rerun}
	}
	return []api.Route{routeOf("/v1/canvas/rerun"), routeOf("/api/v1/agents/rerun")}
}

// rerun queues the document of a parse log. Its pipeline is the one of the request, which has the
// outputs of the nodes before component_id.
func (f reruns) rerun(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := r.Body.Require("id", "dsl", "component_id"); err != nil {
		return nil, err
	}
	id, node := r.Body.Text("id"), r.Body.Text("component_id")
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	parses := app.Parses{Datasets: f.Services.Datasets}
	noDocument := api.Failed(api.KindNotFound, "Document not found.")
	v, err := parses.Get(ctx, r.Who, id)
	if errors.Is(err, app.ErrNotFound) {
		return nil, noDocument
	}
	if err != nil {
		return nil, err
	}
	canvas, err := r.Document()
	if err != nil {
		return nil, err
	}
	document, err := f.Services.Datasets.Document(ctx, r.Who, v.Dataset, v.Document)
	if errors.Is(err, app.ErrNotFound) {
		return nil, noDocument
	}
	if err != nil {
		return nil, err
	}
	if document.State == dataset.Running || document.State == dataset.Queued {
		return nil, api.Failed(api.KindNotFound, "`%s` is processing...", document.Name)
	}
	return done(parses.Rerun(ctx, r.Who, id, node, canvas))
}
