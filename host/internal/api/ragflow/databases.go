package ragflow

import (
	"context"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/app"
)

// databases answers the button of the ExeSQL form.
type databases struct{ *face }

func (d databases) routes() []api.Route {
	return []api.Route{
		{
			Method: "POST", Path: "/v1/canvas/test_db_connect", Body: api.BodySmall, Scope: app.ScopeEdit,
			Handler: d.test,
		},
		{
			Method: "POST", Path: "/api/v1/agents/test_db_connection", Body: api.BodySmall, Scope: app.ScopeEdit,
			Handler: d.test,
		},
	}
}

// test connects to a database with settings as an ExeSQL node has them.
func (d databases) test(ctx context.Context, r *api.Request) (api.Response, error) {
	names := []string{"db_type", "database", "username", "host", "port", "password"}
	if err := r.Body.Require(names...); err != nil {
		return nil, err
	}
	settings := engine.NewObject(len(names))
	for _, name := range names {
		settings.Set(name, r.Body.Get(name))
	}
	// Not sent by RAGFlow's page: a node that may write may have an account with more privileges.
	settings.Set("read_only", r.Body.Get("read_only"))
	if err := d.Services.TestDatabase(ctx, settings.Value()); err != nil {
		return nil, api.Failed(api.KindBadRequest, "%s", err)
	}
	return envelope.OK(engine.String("Database Connection Successful!")), nil
}
