package ragflow

import (
	"context"
	"encoding/json"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/app"
)

// plugins are the installed plugins.
type plugins struct{ *face }

func (p plugins) routes() []api.Route {
	const read = app.ScopeRead
	return []api.Route{
		{Method: "GET", Path: "/api/v1/plugins", Body: api.BodyNone, Scope: read, Handler: p.list},
		{Method: "GET", Path: "/v1/plugin/llm_tools", Body: api.BodyNone, Scope: read, Handler: p.tools},
		{Method: "GET", Path: "/api/v1/plugin/tools", Body: api.BodyNone, Scope: read, Handler: p.tools},
	}
}

func (p plugins) list(ctx context.Context, r *api.Request) (api.Response, error) {
	list, err := p.Services.Palette(ctx, r.Who.Tenant)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(list)
	return ok(api.DocumentOf(text), err)
}

// tools lists the functions of plugins as the original describes its own: {name, displayName,
// description, displayDescription, parameters: {name: {type, description, displayDescription,
// required}}}.
func (p plugins) tools(ctx context.Context, r *api.Request) (api.Response, error) {
	list, err := p.Services.Palette(ctx, r.Who.Tenant)
	if err != nil {
		return nil, err
	}
	tools := []engine.Value{}
	for i := range list {
		if p := &list[i]; p.State == "on" && !p.Tool.IsNull() {
			tools = append(tools, toolMetadata(p))
		}
	}
	return envelope.OK(engine.List(tools...)), nil
}

func toolMetadata(p *app.Plugin) engine.Value {
	f := p.Tool.Get("function")
	display := p.Display["en"]
	if display == "" {
		display = p.Name
	}
	required := map[string]bool{}
	for _, name := range f.Get("parameters").Get("required").Elements() {
		required[name.Str()] = true
	}
	params := engine.NewObject(4)
	for name, s := range f.Get("parameters").Get("properties").Fields() {
		params.Set(name, engine.Object("type", s.Get("type"), "description", s.Get("description"),
			"displayDescription", s.Get("description"), "required", required[name]))
	}
	return engine.Object("name", p.Name, "displayName", display, "description", p.Description,
		"displayDescription", p.Description, "parameters", params.Value())
}
