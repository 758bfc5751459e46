package v2

import (
	"context"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// databases are those that ExeSQL nodes name.
type databases struct{ *app.Services }

func (d databases) operations() []operation {
	return []operation{
		handle(operation{
			method: "POST", path: "/api/v2/databases/tables", body: api.BodySmall, scope: app.ScopeEdit,
			name: "listTables",
			about: "Connect to the database of an ExeSQL node as a run of the canvas would, with the same limits on " +
				"addresses, accounts and secrets, and list its tables and views.",
		}, d.tables),
		handle(operation{
			method: "GET", path: "/api/v2/databases/files", body: api.BodyNone, scope: app.ScopeEdit,
			name: "listDatabaseFiles",
			about: "List the SQLite files that ExeSQL nodes may name as their database, at most 500. There are none " +
				"without a folder of databases.",
		}, d.files),
	}
}

type tablesOf struct {
	Who  app.Principal
	Body struct {
		Params engine.Value `json:"params" jsonschema:"params of the node; username and password may be {{secret:NAME}}"`
	}
}

type tableList struct {
	OK    bool     `json:"ok"`
	Error string   `json:"error,omitempty" jsonschema:"why there is no connection"`
	Items []string `json:"items" jsonschema:"names of tables and views, at most 500"`
}

func (d databases) files(context.Context, struct{}) (list[string], error) {
	files, err := d.DatabaseFiles()
	return list[string]{files}, err
}

func (d databases) tables(ctx context.Context, in tablesOf) (tableList, error) {
	tables, err := d.Tables(ctx, in.Who.Alone(), in.Body.Params)
	if err != nil {
		return tableList{Error: err.Error(), Items: []string{}}, ctx.Err()
	}
	return tableList{OK: true, Items: tables}, nil
}
