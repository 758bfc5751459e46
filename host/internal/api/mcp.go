package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/mcp"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Servers reaches MCP servers; *mcp.Client is one.
type Servers interface {
	Tools(ctx context.Context, owner string, s mcp.Server) ([]engine.Value, error)
	Call(ctx context.Context, owner string, s mcp.Server, tool string, arguments engine.Value) (string, error)
}

var mcpRoutes = []route{
	{method: "POST", path: "/v1/mcp_server/list", body: bodyTiny, scope: scopeRead, answer: (*API).listServers},
	{method: "GET", path: "/api/v1/mcp/servers", body: bodyNone, scope: scopeRead, answer: (*API).listServers},
	{method: "GET", path: "/v1/mcp_server/detail", body: bodyNone, scope: scopeRead, answer: (*API).getServer},
	{method: "GET", path: "/api/v1/mcp/servers/{id}", body: bodyNone, scope: scopeRead, answer: (*API).getServer},
	{method: "POST", path: "/v1/mcp_server/create", body: bodySmall, scope: scopeEdit, answer: (*API).createServer},
	{method: "POST", path: "/api/v1/mcp/servers", body: bodySmall, scope: scopeEdit, answer: (*API).createServer},
	{method: "POST", path: "/v1/mcp_server/update", body: bodySmall, scope: scopeEdit, answer: (*API).updateServer},
	{method: "PUT", path: "/api/v1/mcp/servers/{id}", body: bodySmall, scope: scopeEdit, answer: (*API).updateServer},
	{method: "POST", path: "/v1/mcp_server/rm", body: bodySmall, scope: scopeEdit, answer: (*API).removeServers},
	{method: "DELETE", path: "/api/v1/mcp/servers/{id}", body: bodyTiny, scope: scopeEdit, answer: (*API).removeServers},
	{method: "POST", path: "/v1/mcp_server/import", body: bodySmall, scope: scopeEdit, answer: (*API).importServers},
	{method: "POST", path: "/api/v1/mcp/servers/import", body: bodySmall, scope: scopeEdit, answer: (*API).importServers},
	{method: "POST", path: "/v1/mcp_server/export", body: bodySmall, scope: scopeRead, answer: (*API).exportServers},
	{method: "POST", path: "/v1/mcp_server/list_tools", body: bodySmall, scope: scopeRead, answer: (*API).listServerTools},
	{method: "POST", path: "/v1/mcp_server/test_tool", body: bodySmall, scope: scopeRun, answer: (*API).testServerTool},
	{method: "POST", path: "/v1/mcp_server/cache_tools", body: bodySmall, scope: scopeEdit, answer: (*API).cacheServerTools},
	{method: "POST", path: "/v1/mcp_server/test_mcp", body: bodySmall, scope: scopeEdit, answer: (*API).testServer},
	{method: "POST", path: "/api/v1/mcp/servers/{id}/test", body: bodyTiny, scope: scopeEdit, answer: (*API).testServer},
}

func serverRow(item store.Item) engine.Value {
	d, err := mcp.ParseDoc(item)
	if err != nil {
		d = mcp.Doc{Variables: engine.Object()}
	}
	b := engine.NewObject(12)
	b.Set("id", engine.String(item.ID)).Set("name", engine.String(item.Name)).Set("tenant_id", engine.String(item.Tenant))
	b.Set("server_type", engine.String(d.Type)).Set("url", engine.String(d.URL)).Set("description", orNull(d.Description))
	b.Set("variables", hiddenVariables(d.Variables)).Set("headers", hiddenHeaders(d.Headers))
	setTimes(b, item.CreateTime, item.UpdateTime)
	return b.Value()
}

// hidden stands for the value of a header or variable: those are often keys.
// Sent back, it leaves the value as it is.
const hidden = "********"

func hiddenHeaders(h map[string]string) engine.Value {
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
		if k != mcp.ToolsVariable {
			x = engine.String(hidden)
		}
		out.Set(k, x)
	}
	return out.Value()
}

// serverOrder compares servers by what a list may be ordered by.
var serverOrder = map[string]func(a, b store.Item) int{
	"create_time": serversByCreation, "create_date": serversByCreation,
	"update_time": serversByUpdate, "update_date": serversByUpdate,
	"name": func(a, b store.Item) int { return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) },
	"id":   func(a, b store.Item) int { return cmp.Compare(a.ID, b.ID) },
}

func serversByCreation(a, b store.Item) int { return cmp.Compare(a.CreateTime, b.CreateTime) }
func serversByUpdate(a, b store.Item) int   { return cmp.Compare(a.UpdateTime, b.UpdateTime) }

func (a *API) listServers(c *call) error {
	items, err := a.cfg.Store.Items(c.ctx(), c.who.tenant, mcp.Kind)
	if err != nil {
		return err
	}
	ids, words := c.texts("mcp_ids"), strings.ToLower(c.query.Get("keywords"))
	p, err := c.page(0, "create_time", true)
	if err := errors.Join(err, c.valid()); err != nil {
		return err
	}
	items = slices.DeleteFunc(items, func(item store.Item) bool {
		return len(ids) > 0 && !slices.Contains(ids, item.ID) || !strings.Contains(strings.ToLower(item.Name), words)
	})
	order, known := serverOrder[p.Order]
	if !known {
		return unknownOrder(p.Order, slices.Sorted(maps.Keys(serverOrder)))
	}
	slices.SortStableFunc(items, order)
	if !p.Asc {
		slices.Reverse(items)
	}
	total := len(items)
	items = cut(items, p)
	rows := make([]engine.Value, len(items))
	for i, item := range items {
		rows[i] = serverRow(item)
	}
	return c.ok(engine.Object("mcp_servers", engine.List(rows...), "total", total))
}

// server finds the server that a request names.
func (c *call) server() (store.Item, mcp.Doc, error) {
	id := c.params["id"]
	if id == "" {
		id = c.query.Get("mcp_id")
	}
	if id == "" {
		id = c.text("mcp_id")
	}
	return c.serverOf(id)
}

func (c *call) serverOf(id string) (store.Item, mcp.Doc, error) {
	item, err := c.a.cfg.Store.Item(c.ctx(), c.who.tenant, mcp.Kind, id)
	if errors.Is(err, store.ErrNotFound) {
		return item, mcp.Doc{}, failed(codeData, "Cannot find MCP server %s for user %s", id, c.who.user)
	}
	if err != nil {
		return item, mcp.Doc{}, err
	}
	d, err := mcp.ParseDoc(item)
	return item, d, err
}

func (a *API) getServer(c *call) error {
	item, _, err := c.server()
	var none *failure
	if errors.As(err, &none) && !c.newer() && c.params["id"] == "" {
		return &failure{code: codeNotFound, message: "success", hasData: true}
	}
	if err != nil {
		return err
	}
	if c.query.Get("mode") == "download" {
		return c.ok(exported([]store.Item{item}))
	}
	return c.ok(serverRow(item))
}

// fillServer takes the members of a body that a server has.
func (c *call) fillServer(d *mcp.Doc) {
	set := func(to *string, name string) {
		if !c.body.Get(name).IsNull() {
			*to = c.text(name)
		}
	}
	set(&d.Type, "server_type")
	set(&d.URL, "url")
	set(&d.Description, "description")
	if v := c.object("headers"); !v.IsNull() {
		headers := map[string]string{}
		for k, x := range v.Fields() {
			if headers[k] = x.Text(); x.Text() == hidden {
				headers[k] = d.Headers[k]
			}
		}
		d.Headers = headers
	}
	if v := c.object("variables"); !v.IsNull() {
		old := d.Variables
		d.Variables = engine.Object()
		for k, x := range v.Fields() {
			if x.Kind() == engine.KindString && x.Str() == hidden {
				x = old.Get(k)
			}
			d.Variables = d.Variables.With(k, x)
		}
	}
	if d.Variables.IsNull() {
		d.Variables = engine.Object()
	}
}

func checkServer(d mcp.Doc, name string) error {
	s := d.Server("", name)
	switch err := s.Check(); {
	case errors.Is(err, mcp.ErrType):
		return failed(codeData, "Unsupported MCP server type.")
	case err != nil:
		return failed(codeData, "Invalid url.")
	case name == "" || len(name) > 255:
		return failed(codeData, "Invalid MCP name or length is %d which is large than 255.", len(name))
	}
	return nil
}

// putServer stores a server with what it offers now.
func (c *call) putServer(item store.Item, d mcp.Doc) (store.Item, error) {
	tools, err := c.fetchTools(d, item.ID, item.Name)
	if err != nil {
		c.a.cfg.Logger.Info("MCP server has no tools now", "err", err)
	}
	d.Variables = d.Variables.With("tools", tools)
	if err = d.Into(&item); err != nil {
		return item, err
	}
	item.Tenant, item.Kind = c.who.tenant, mcp.Kind
	kept, err := c.a.cfg.Store.PutItem(c.ctx(), item)
	if errors.Is(err, store.ErrExists) {
		return kept, failed(codeData, "Duplicated MCP server name.")
	}
	return kept, err
}

func (a *API) createServer(c *call) error {
	if err := c.require("name", "url", "server_type"); err != nil {
		return err
	}
	var d mcp.Doc
	c.fillServer(&d)
	name := c.text("name")
	if err := c.valid(); err != nil {
		return err
	}
	if err := checkServer(d, name); err != nil {
		return err
	}
	if _, err := a.cfg.Store.ItemNamed(c.ctx(), c.who.tenant, mcp.Kind, name); err == nil {
		return failed(codeData, "Duplicated MCP server name.")
	}
	item, err := c.putServer(store.Item{Name: name}, d)
	if err != nil {
		return err
	}
	return c.ok(serverRow(item))
}

func (a *API) updateServer(c *call) error {
	if c.params["id"] == "" {
		if err := c.require("mcp_id"); err != nil {
			return err
		}
	}
	item, d, err := c.server()
	if err != nil {
		return err
	}
	c.fillServer(&d)
	if !c.body.Get("name").IsNull() {
		item.Name = c.text("name")
	}
	if err := c.valid(); err != nil {
		return err
	}
	if err := checkServer(d, item.Name); err != nil {
		return err
	}
	if item, err = c.putServer(item, d); err != nil {
		return err
	}
	return c.ok(serverRow(item))
}

func (a *API) removeServers(c *call) error {
	ids := c.texts("mcp_ids")
	if id := c.params["id"]; id != "" {
		ids = []string{id}
	} else if err := c.require("mcp_ids"); err != nil {
		return err
	}
	if err := c.valid(); err != nil {
		return err
	}
	for _, id := range ids {
		err := a.cfg.Store.DeleteItem(c.ctx(), c.who.tenant, mcp.Kind, id)
		if errors.Is(err, store.ErrNotFound) {
			return failed(codeData, "Failed to delete MCP servers %s", strings.Join(ids, ", "))
		}
		if err != nil {
			return err
		}
	}
	return c.ok(engine.Bool(true))
}

// importServers adds servers in the form that other programs keep them.
func (a *API) importServers(c *call) error {
	if err := c.require("mcpServers"); err != nil {
		return err
	}
	servers := c.object("mcpServers")
	if err := c.valid(); err != nil {
		return err
	}
	if servers.Len() == 0 {
		return failed(codeData, "No MCP servers provided.")
	}
	var results []engine.Value
	for name, v := range servers.Fields() {
		results = append(results, c.importServer(name, v))
	}
	return c.ok(engine.Object("results", engine.List(results...)))
}

func (c *call) importServer(name string, v engine.Value) engine.Value {
	bad := func(why string) engine.Value {
		return engine.Object("server", name, "success", false, "message", why)
	}
	if v.Get("type").Str() == "" || v.Get("url").Str() == "" {
		return bad("Missing required fields (type or url)")
	}
	d := mcp.Doc{Type: v.Get("type").Str(), URL: v.Get("url").Str(), Variables: engine.Object()}
	if token := v.Get("authorization_token").Str(); token != "" {
		d.Headers = map[string]string{"Authorization": "Bearer ${authorization_token}"}
		d.Variables = engine.Object("authorization_token", token)
	}
	if err := checkServer(d, name); err != nil {
		return bad(err.Error())
	}
	base, taken := name, true
	for n := 0; taken; n++ {
		_, err := c.a.cfg.Store.ItemNamed(c.ctx(), c.who.tenant, mcp.Kind, name)
		if taken = err == nil; taken {
			name = fmt.Sprintf("%s_%d", base, n)
		}
	}
	item, err := c.putServer(store.Item{Name: name}, d)
	if err != nil {
		return bad(err.Error())
	}
	return engine.Object("server", base, "success", true, "action", "created", "id", item.ID, "new_name", name)
}

func (a *API) exportServers(c *call) error {
	if err := c.require("mcp_ids"); err != nil {
		return err
	}
	ids := c.texts("mcp_ids")
	if err := c.valid(); err != nil {
		return err
	}
	var items []store.Item
	for _, id := range ids {
		item, err := a.cfg.Store.Item(c.ctx(), c.who.tenant, mcp.Kind, id)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		items = append(items, item)
	}
	return c.ok(exported(items))
}

// exported is servers in the form of import; tokens stay here.
func exported(items []store.Item) engine.Value {
	b := engine.NewObject(len(items))
	for _, item := range items {
		d, err := mcp.ParseDoc(item)
		if err != nil {
			continue
		}
		b.Set(item.Name, engine.Object("type", d.Type, "url", d.URL, "name", item.Name, "authorization_token", "",
			"tools", d.Variables.Get("tools")))
	}
	return engine.Object("mcpServers", b.Value())
}
