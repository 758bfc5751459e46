package ragflow

import (
	"context"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// absentRoutes are what the original does and this host does not: it keeps no log of the documents
// that went through a pipeline into a dataset. They answer as the original does when it finds
// nothing to work with, so that its clients show why.
var absentRoutes = []api.Route{
	absent("/v1/canvas/rerun", api.BodyCanvas, app.ScopeRun, rerunPipeline),
	absent("/api/v1/agents/rerun", api.BodyCanvas, app.ScopeRun, rerunPipeline),
}

func absent(path string, body api.BodyClass, scope string, h api.Handler) api.Route {
	return api.Route{Method: "POST", Path: path, Body: body, Scope: scope, Handler: h}
}

// rerunPipeline refuses to run a pipeline again: no document has been through one.
func rerunPipeline(_ context.Context, r *api.Request) (api.Response, error) {
	if err := r.Body.Require("id", "dsl", "component_id"); err != nil {
		return nil, err
	}
	return nil, api.Failed(api.KindNotFound, "Document not found.")
}
