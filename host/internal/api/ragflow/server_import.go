package ragflow

import (
	"context"
	"fmt"
	"slices"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/app"
)

// importAll adds servers in the form in which other programs store them.
func (s servers) importAll(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := r.Body.Require("mcpServers"); err != nil {
		return nil, err
	}
	list := r.Body.Object("mcpServers")
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	if list.Len() == 0 {
		return nil, api.Failed(api.KindInvalid, "No MCP servers provided.")
	}
	var results []engine.Value
	for name, v := range list.Fields() {
		results = append(results, s.importOne(ctx, r, name, v))
	}
	return envelope.OK(engine.Object("results", engine.List(results...))), nil
}

func (s servers) importOne(ctx context.Context, r *api.Request, name string, v engine.Value) engine.Value {
	bad := func(why string) engine.Value {
		return engine.Object("server", name, "success", false, "message", why)
	}
	if v.Get("command").Str() == "" && (v.Get("type").Str() == "" || v.Get("url").Str() == "") {
		return bad("Missing required fields (type or url)")
	}
	d, err := app.ReadServer(v)
	if err != nil {
		return bad("Unsupported MCP server type.")
	}
	if err := s.check(d, name); err != nil {
		return bad(err.Error())
	}
	base := name
	for n := 0; s.Services.Servers.Has(ctx, r.Who.Tenant, name); n++ {
		name = fmt.Sprintf("%s_%d", base, n)
	}
	item, err := s.put(ctx, r, app.Item{Name: name}, d)
	if err != nil {
		return bad(err.Error())
	}
	return engine.Object("server", base, "success", true, "action", "created", "id", item.ID, "new_name", name)
}

func (s servers) export(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := r.Body.Require("mcp_ids"); err != nil {
		return nil, err
	}
	ids := r.Body.Texts("mcp_ids")
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	all, err := s.Services.Servers.List(ctx, r.Who.Tenant)
	if err != nil {
		return nil, err
	}
	var items []app.Item
	for _, id := range ids {
		if i := slices.IndexFunc(all, func(v app.Item) bool { return v.ID == id }); i >= 0 {
			items = append(items, all[i])
		}
	}
	return envelope.OK(exported(items)), nil
}

// exported is servers in the form of import; tokens stay here.
func exported(items []app.Item) engine.Value {
	b := engine.NewObject(len(items))
	for _, item := range items {
		d, err := app.ParseServer(item)
		if err != nil {
			continue
		}
		if d.Command != "" {
			b.Set(item.Name, engine.Object("type", d.Type, "command", d.Command, "args", d.Args, "name", item.Name,
				"tools", d.Variables.Get("tools")))
			continue
		}
		b.Set(item.Name, engine.Object("type", d.Type, "url", d.URL, "name", item.Name, "authorization_token", "",
			"tools", d.Variables.Get("tools")))
	}
	return engine.Object("mcpServers", b.Value())
}
