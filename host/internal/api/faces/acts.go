package faces

import (
	"regexp"
	"strings"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// act is the declaration of a route: the action and the kind of its object.
type act struct {
	on   access.Kind
	does access.Action
}

// of declares the objects of routes by the beginnings of their paths, without the version of the
// dialect. Routes on [tenantWide] are decided by scopes and the roles of the tenant alone.
var of = []struct {
	on    access.Kind
	paths []string
}{
	{access.Canvas, []string{
		"/api/v2/canvases", "/api/v2/runs", "/api/v2/inbox", "/api/v2/schedules", "/api/v2/tags", "/v1/canvas",
		"/api/v1/agents", "/api/v1/agentbots", "/api/v1/webhook", "/api/v1/tasks", "/api/webhooks",
	}},
	{access.Dataset, []string{
		"/api/v2/datasets", "/api/v2/search", "/api/v1/datasets", "/api/v1/documents", "/api/v1/retrieval",
		"/api/v1/dify", "/api/v1/thumbnails", "/v1/kb", "/v1/document", "/v1/chunk",
	}},
	{access.Memory, []string{
		"/api/v2/memories", "/api/v1/memories", "/api/v1/messages", "/v1/memories", "/v1/messages",
	}},
	{access.Project, []string{"/api/v2/projects", "/api/v2/grants", "/api/v2/access"}},
	{tenantWide, []string{
		"/api/v2/audit", "/api/v2/chunk-methods", "/api/v2/components", "/api/v2/databases", "/api/v2/groups",
		"/api/v2/health", "/api/v2/hook-presets", "/api/v2/keys", "/api/v2/local-providers", "/api/v2/mcp-servers",
		"/api/v2/me", "/api/v2/models", "/api/v2/oidc", "/api/v2/openapi.json", "/api/v2/plugins",
		"/api/v2/provider-presets", "/api/v2/providers", "/api/v2/script-languages", "/api/v2/secrets",
		"/api/v2/settings", "/api/v2/subjects", "/api/v2/tenants", "/api/v2/tools", "/api/v2/traces",
		"/api/v2/usage", "/api/v2/users", "/api/v2/validate", "/api/llm", "/api/v1/auth", "/api/v1/mcp",
		"/api/v1/plugin", "/api/v1/plugins", "/api/v1/system", "/api/v1/users", "/v1/api", "/v1/mcp_server",
		"/v1/plugin", "/v1/system", "/v1/user", "/healthz", "/readyz", "/metrics", "/login", "/logout",
	}},
}

// tenantWide stands for objects of the whole tenant or the host, and for the caller's own.
const tenantWide access.Kind = "tenant"

// byScope has the actions of routes that are not in [exceptions].
var byScope = map[string]access.Action{
	"": access.See, app.ScopeRead: access.See, app.ScopeRun: access.Run, app.ScopeEdit: access.Edit,
	app.ScopeReadTraces: access.Review, app.ScopeAdmin: access.Grant, app.ScopeHost: access.Grant,
	app.ScopeMetrics: access.Grant,
}

// exceptions are routes whose action is not that of their scope, as patterns of method and path.
var exceptions = []struct {
	does     access.Action
	patterns []string
}{
	// Conversations: runners read their own.
	{access.Run, []string{
		`GET /api/v2/runs.*`, `GET /api/v2/canvases/{id}/sessions/.*`, `GET .*/agents/{id}/sessions.*`,
		`GET .*/agents/{id}/logs/{message}`, `GET /api/v1/agentbots/{id}/(sessions|events|logs).*`,
		`GET /v1/canvas/({id}/sessions|trace)`,
	}},
	{access.Review, []string{
		`GET /(api/)?v[12]/(memories/{memory}/)?messages(/search|/{entry}/content)?`,
	}},
	// Trying a node changes its params for one run.
	{access.Edit, []string{`POST /v1/canvas/debug`, `POST .*/components/{component}/debug`}},
	{access.Delete, []string{
		`DELETE /api/v2/(canvases/{id}|datasets/{dataset}|memories/{memory})`, `DELETE /api/v1/agents/{id}`,
		`DELETE /api/v1/datasets`, `POST /v1/(canvas|kb)/rm`, `DELETE /(api/)?v1/memories/{memory}`,
		`.* /api/v2/canvases/{id}/token.*`,
	}},
	{access.Grant, []string{
		`(PUT|DELETE) /api/v2/(grants|projects/{project})`, `GET /api/v2/projects/{project}`,
	}},
}

var version = regexp.MustCompile(`^/0\.\d+/`)

var patterns = func() (out []struct {
	*regexp.Regexp
	does access.Action
},
) {
	for _, e := range exceptions {
		for _, p := range e.patterns {
			p = strings.NewReplacer("{", `\{`, "}", `\}`).Replace(p)
			out = append(out, struct {
				*regexp.Regexp
				does access.Action
			}{regexp.MustCompile("^" + p + "$"), e.does})
		}
	}
	return out
}()

// actOf returns what a route does; known is false if it is not declared.
func actOf(r *api.Route) (a act, known bool) {
	path := version.ReplaceAllString(r.Path, "/")
	for _, o := range of {
		for _, p := range o.paths {
			if path == p || strings.HasPrefix(path, p+"/") ||
				p == "/api/v1/webhook" && strings.HasPrefix(path, p+"_") ||
				p == "/api/v1/agents" && strings.HasPrefix(path, p+"_openai/") {
				a.on, known = o.on, true
			}
		}
	}
	does, scoped := byScope[r.Scope]
	a.does = does
	for _, p := range patterns {
		for m := range strings.FieldsSeq(r.Method) {
			if p.MatchString(m + " " + path) {
				a.does = p.does
			}
		}
	}
	return a, known && scoped
}

// declare notes in routes what they do. One that is not declared does what needs the strongest
// role.
func declare(list []api.Route) []api.Route {
	for i := range list {
		a, known := actOf(&list[i])
		if !known {
			a.does = access.Grant
		}
		list[i].On, list[i].Act = a.on, a.does
	}
	return list
}
