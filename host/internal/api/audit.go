package api

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/host/internal/app"
)

// unaudited are routes that take a permission to change something and only read, or whose acts are
// recorded elsewhere, with the reason.
var unaudited = map[string]string{
	"/api/v2/canvases/{id}/debug":                             "runs one node and stores nothing",
	"/api/v2/databases/tables":                                "lists the tables of a database",
	"/api/v2/providers/{provider}/test":                       "sends one question to a model",
	"/api/v2/local-providers":                                 "looks for model servers",
	"/api/v2/mcp-servers/{id}/tools":                          "lists the tools of a server",
	"/api/v2/datasets/{dataset}/documents/{document}/preview": "cuts a document without storing it",
}

// Audits reports whether what a method of the route does is in the audit log: what changes settings
// and objects, by the scope that it needs. Runs, sessions and searches have separate records.
func (r *Route) Audits(method string) bool {
	if r.Audit {
		return true
	}
	if (method == http.MethodGet || method == http.MethodHead) && !r.Alters || unaudited[r.Path] != "" {
		return false
	}
	own := r.Scope == "" && r.Need == NeedUser
	return own || slices.Contains([]string{app.ScopeEdit, app.ScopeAdmin, app.ScopeHost}, r.Scope)
}

// audited adds the entry of a request to its context, to be written with the first commit.
func audited(ctx context.Context, r *Request) context.Context {
	if !r.Route.Audits(r.HTTP.Method) {
		return ctx
	}
	action := r.Route.Action
	if action == "" {
		action = r.HTTP.Method + " " + r.Route.Path
	}
	var object []string
	for _, part := range r.Route.parts {
		if isParameter(part) {
			object = append(object, r.Params[strings.Trim(part, "{}")])
		}
	}
	return app.WithAct(ctx, r.Who, action, strings.Join(object, "/"), r.Client().String())
}
