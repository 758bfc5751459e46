package ragflow

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/app"
)

// servers are the MCP servers of a tenant.
type servers struct{ *face }

func (s servers) routes() []api.Route {
	const read, edit, run = app.ScopeRead, app.ScopeEdit, app.ScopeRun
	const old, all, one = "/v1/mcp_server", "/api/v1/mcp/servers", "/api/v1/mcp/servers/{id}"
	return []api.Route{
		{Method: "POST", Path: old + "/list", Body: api.BodyTiny, Scope: read, Handler: s.list},
		{Method: "GET", Path: all, Body: api.BodyNone, Scope: read, Handler: s.list},
		{Method: "GET", Path: old + "/detail", Body: api.BodyNone, Scope: read, Handler: s.detail},
		{Method: "GET", Path: one, Body: api.BodyNone, Scope: read, Handler: s.get},
		{Method: "POST", Path: old + "/create", Body: api.BodySmall, Scope: edit, Handler: s.add},
		{Method: "POST", Path: all, Body: api.BodySmall, Scope: edit, Handler: s.add},
		{Method: "POST", Path: old + "/update", Body: api.BodySmall, Scope: edit, Handler: s.update},
		{Method: "PUT", Path: one, Body: api.BodySmall, Scope: edit, Handler: s.update},
		{Method: "POST", Path: old + "/rm", Body: api.BodySmall, Scope: edit, Handler: s.remove},
		{Method: "DELETE", Path: one, Body: api.BodyTiny, Scope: edit, Handler: s.remove},
		{Method: "POST", Path: old + "/import", Body: api.BodySmall, Scope: edit, Handler: s.importAll},
		{Method: "POST", Path: all + "/import", Body: api.BodySmall, Scope: edit, Handler: s.importAll},
		{Method: "POST", Path: old + "/export", Body: api.BodySmall, Scope: read, Handler: s.export},
		{Method: "POST", Path: old + "/list_tools", Body: api.BodySmall, Scope: read, Handler: s.listTools},
		{Method: "POST", Path: old + "/test_tool", Body: api.BodySmall, Scope: run, Handler: s.testTool},
		{Method: "POST", Path: old + "/cache_tools", Body: api.BodySmall, Scope: edit, Handler: s.cacheTools},
		{Method: "POST", Path: old + "/test_mcp", Body: api.BodySmall, Scope: edit, Handler: s.test},
		{Method: "POST", Path: one + "/test", Body: api.BodyTiny, Scope: edit, Handler: s.test},
	}
}

func serverRow(item app.Item) engine.Value {
	d, err := app.ParseServer(item)
	if err != nil {
		d = app.ServerDoc{Variables: engine.Object()}
	}
	b := engine.NewObject(12)
	b.Set("id", engine.String(item.ID)).Set("name", engine.String(item.Name)).Set("tenant_id", engine.String(item.Tenant))
	b.Set("server_type", engine.String(d.Type)).Set("url", engine.String(d.URL))
	b.Set("description", api.OrNull(d.Description))
	b.Set("variables", hiddenVariables(d.Variables)).Set("headers", hiddenTexts(d.Headers))
	if d.Command != "" {
		b.Set("command", engine.String(d.Command)).Set("args", engine.Strings(d.Args...)).Set("env", hiddenTexts(d.Env))
	}
	api.SetTimes(b, item.CreateTime, item.UpdateTime)
	return b.Value()
}

// hidden replaces the value of a header or variable, which is often a key. Sent back, it leaves the
// value as it is.
const hidden = app.KeptValue

func hiddenTexts(h map[string]string) engine.Value {
	out := map[string]any{}
	for k := range h {
		out[k] = hidden
	}
	return engine.FromGo(out)
}

// hiddenVariables hides what headers are filled with; the tools stay.
func hiddenVariables(v engine.Value) engine.Value {
	out := engine.NewObject(v.Len())
	for k, x := range v.Fields() {
		if k != app.ToolsVariable {
			x = engine.String(hidden)
		}
		out.Set(k, x)
	}
	return out.Value()
}

// serverOrder compares servers by what a list may be ordered by.
var serverOrder = map[string]func(a, b app.Item) int{
	"create_time": serversByCreation, "create_date": serversByCreation,
	"update_time": serversByUpdate, "update_date": serversByUpdate,
	"name": func(a, b app.Item) int { return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) },
	"id":   func(a, b app.Item) int { return cmp.Compare(a.ID, b.ID) },
}

func serversByCreation(a, b app.Item) int { return cmp.Compare(a.CreateTime, b.CreateTime) }
func serversByUpdate(a, b app.Item) int   { return cmp.Compare(a.UpdateTime, b.UpdateTime) }

func (s servers) list(ctx context.Context, r *api.Request) (api.Response, error) {
	items, err := s.Services.Servers.List(ctx, r.Who.Tenant)
	if err != nil {
		return nil, err
	}
	ids, words := r.Body.Texts("mcp_ids"), strings.ToLower(r.Query.Get("keywords"))
	p, err := r.Query.Page(0, "create_time", true)
	if err := errors.Join(err, r.Body.Valid()); err != nil {
		return nil, err
	}
	items = slices.DeleteFunc(items, func(item app.Item) bool {
		return len(ids) > 0 && !slices.Contains(ids, item.ID) || !strings.Contains(strings.ToLower(item.Name), words)
	})
	order, known := serverOrder[p.Order]
	if !known {
		return nil, api.UnknownOrder(p.Order, slices.Sorted(maps.Keys(serverOrder)))
	}
	slices.SortStableFunc(items, order)
	if !p.Asc {
		slices.Reverse(items)
	}
	total := len(items)
	items = app.CutPage(items, p)
	rows := make([]engine.Value, len(items))
	for i, item := range items {
		rows[i] = serverRow(item)
	}
	return envelope.OK(engine.Object("mcp_servers", engine.List(rows...), "total", total)), nil
}

// named finds the server that a request names.
func (s servers) named(ctx context.Context, r *api.Request) (app.Item, app.ServerDoc, error) {
	id := r.Params["id"]
	if id == "" {
		id = r.Query.Get("mcp_id")
	}
	if id == "" {
		id = r.Body.Text("mcp_id")
	}
	return s.find(ctx, r, id)
}

func (s servers) find(ctx context.Context, r *api.Request, id string) (app.Item, app.ServerDoc, error) {
	item, d, err := s.Services.Servers.Get(ctx, r.Who.Tenant, id)
	if errors.Is(err, app.ErrNotFound) {
		err = api.Failed(api.KindNotFound, "Cannot find MCP server %s for user %s", id, r.Who.User)
	}
	return item, d, err
}

// detail is get for the older path, which answers an unknown server differently.
func (s servers) detail(ctx context.Context, r *api.Request) (api.Response, error) {
	answer, err := s.get(ctx, r)
	var missing *api.Failure
	if errors.As(err, &missing) {
		if none := s.noServer(); none != nil {
			err = none
		}
	}
	return answer, err
}

func (s servers) get(ctx context.Context, r *api.Request) (api.Response, error) {
	item, _, err := s.named(ctx, r)
	if err != nil {
		return nil, err
	}
	if r.Query.Get("mode") == "download" {
		return envelope.OK(exported([]app.Item{item})), nil
	}
	return envelope.OK(serverRow(item)), nil
}

// serverChange returns the members of a body that a server has.
func serverChange(body *api.Body) app.ServerChange {
	text := func(name string) *string {
		if body.Get(name).IsNull() {
			return nil
		}
		v := body.Text(name)
		return &v
	}
	c := app.ServerChange{
		Type: text("server_type"), URL: text("url"), Description: text("description"), Command: text("command"),
		Headers: textsOf(body.Object("headers")), Env: textsOf(body.Object("env")), Variables: body.Object("variables"),
	}
	if v := body.Get("args"); v.Kind() == engine.KindList {
		c.Args = body.Texts("args")
	}
	return c
}

// textsOf returns the texts of an object, nil for null.
func textsOf(v engine.Value) map[string]string {
	if v.IsNull() {
		return nil
	}
	texts := map[string]string{}
	for k, x := range v.Fields() {
		texts[k] = x.Text()
	}
	return texts
}

// requireServer checks that a body has what a server needs: a command, or an address with its type.
func requireServer(r *api.Request, more ...string) error {
	names := append(slices.Clone(more), "url", "server_type")
	if r.Body.Text("command") != "" {
		names = append(slices.Clone(more), "server_type")
	}
	return r.Body.Require(names...)
}

func (s servers) check(d app.ServerDoc, name string) error {
	switch err := s.Services.Servers.Check(d, name); {
	case errors.Is(err, app.ErrServerCommand), errors.Is(err, app.ErrServerStdio) && d.Command != "":
		return api.Failed(api.KindInvalid, "Unsupported MCP server type: %s", err)
	case errors.Is(err, app.ErrServerType), errors.Is(err, app.ErrServerStdio):
		return api.Failed(api.KindInvalid, "Unsupported MCP server type.")
	case err != nil:
		return api.Failed(api.KindInvalid, "Invalid url.")
	case name == "" || len(name) > 255:
		return api.Failed(api.KindInvalid, "Invalid MCP name or length is %d which is large than 255.", len(name))
	}
	return nil
}

// wait returns the time that a request allows a server to list its tools.
func wait(body *api.Body) time.Duration {
	seconds := 10.0
	if n, ok := body.Get("timeout").Float(); ok && n > 0 && n < 300 {
		seconds = n
	}
	return time.Duration(seconds * float64(time.Second))
}

// put stores a server with what it offers now.
func (s servers) put(ctx context.Context, r *api.Request, item app.Item, d app.ServerDoc) (app.Item, error) {
	stored, err := s.Services.Servers.PutWithTools(ctx, r.Who.Tenant, item, d, wait(&r.Body))
	if errors.Is(err, app.ErrExists) {
		return stored, errServerName(item.Name)
	}
	return stored, err
}

func errServerName(name string) error {
	return api.Failed(api.KindInvalid, "Duplicated MCP server name: %s", name)
}

func (s servers) add(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := requireServer(r, "name"); err != nil {
		return nil, err
	}
	d := app.ServerDoc{}.Apply(serverChange(&r.Body))
	name := r.Body.Text("name")
	if err := cmp.Or(r.Body.Valid(), s.check(d, name)); err != nil {
		return nil, err
	}
	if s.Services.Servers.Has(ctx, r.Who.Tenant, name) {
		return nil, errServerName(name)
	}
	item, err := s.put(ctx, r, app.Item{Name: name}, d)
	return ok(serverRow(item), err)
}

func (s servers) update(ctx context.Context, r *api.Request) (api.Response, error) {
	if r.Params["id"] == "" {
		if err := r.Body.Require("mcp_id"); err != nil {
			return nil, err
		}
	}
	item, d, err := s.named(ctx, r)
	if err != nil {
		return nil, err
	}
	d = d.Apply(serverChange(&r.Body))
	if !r.Body.Get("name").IsNull() {
		item.Name = r.Body.Text("name")
	}
	if err := cmp.Or(r.Body.Valid(), s.check(d, item.Name)); err != nil {
		return nil, err
	}
	item, err = s.put(ctx, r, item, d)
	return ok(serverRow(item), err)
}

func (s servers) remove(ctx context.Context, r *api.Request) (api.Response, error) {
	ids := r.Body.Texts("mcp_ids")
	if id := r.Params["id"]; id != "" {
		ids = []string{id}
	} else if err := r.Body.Require("mcp_ids"); err != nil {
		return nil, err
	}
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	for _, id := range ids {
		err := s.Services.Servers.Delete(ctx, r.Who.Tenant, id)
		if errors.Is(err, app.ErrNotFound) {
			return nil, api.Failed(api.KindNotFound, "Failed to delete MCP servers %s", strings.Join(ids, ", "))
		}
		if err != nil {
			return nil, err
		}
	}
	return done(nil)
}
