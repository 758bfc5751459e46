package ragflow

import (
	"cmp"
	"context"
	"errors"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/app"
)

// What is done with the tools of MCP servers: asked for, tried, switched on and off.

func (s servers) listTools(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := r.Body.Require("mcp_ids"); err != nil {
		return nil, err
	}
	ids := r.Body.Texts("mcp_ids")
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	b := engine.NewObject(len(ids))
	for _, id := range ids {
		item, d, err := s.find(ctx, r, id)
		if err != nil {
			return nil, err
		}
		tools, err := s.Services.Servers.Tools(ctx, r.Who.Tenant, d, item, wait(&r.Body))
		if err != nil {
			return nil, api.Failed(api.KindInvalid, "MCP list tools error: %s", err)
		}
		b.Set(id, toolList(tools, d.Variables.Get(app.ToolsVariable)))
	}
	return envelope.OK(b.Value()), nil
}

// toolList is tools as a list; what was switched off stays so.
func toolList(tools, before engine.Value) engine.Value {
	var out []engine.Value
	for name, t := range tools.Fields() {
		if old := before.Get(name).Get("enabled"); !old.IsNull() {
			t = t.With("enabled", old)
		}
		out = append(out, t)
	}
	return engine.List(out...)
}

func (s servers) testTool(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := r.Body.Require("mcp_id", "tool_name", "arguments"); err != nil {
		return nil, err
	}
	tool, arguments := r.Body.Text("tool_name"), r.Body.Object("arguments")
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	item, d, err := s.named(ctx, r)
	if err != nil {
		return nil, err
	}
	text, err := s.Services.Servers.Call(ctx, r.Who.Tenant, d, item, tool, arguments)
	if errors.Is(err, app.ErrNoMCP) {
		return nil, api.Failed(api.KindInvalid, "%s.", err)
	}
	if err != nil {
		return nil, api.Failed(api.KindInvalid, "MCP test tool error: %s", err)
	}
	return envelope.OK(engine.String(text)), nil
}

func (s servers) cacheTools(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := r.Body.Require("mcp_id", "tools"); err != nil {
		return nil, err
	}
	list := r.Body.List("tools")
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	item, d, err := s.named(ctx, r)
	if err != nil {
		return nil, err
	}
	tools := engine.NewObject(list.Len())
	for _, t := range list.Elements() {
		if name := t.Get("name").Str(); name != "" {
			tools.Set(name, t)
		}
	}
	d.Variables = d.Variables.With(app.ToolsVariable, tools.Value())
	_, err = s.Services.Servers.Put(ctx, r.Who.Tenant, item, d)
	return ok(tools.Value(), err)
}

// test lists the tools of a server that may not be stored yet.
func (s servers) test(ctx context.Context, r *api.Request) (api.Response, error) {
	var d app.ServerDoc
	if r.Params["id"] == "" {
		if err := requireServer(r); err != nil {
			return nil, err
		}
	} else {
		var err error
		if _, d, err = s.named(ctx, r); err != nil && !r.Body.Get("url").IsNull() {
			d = app.ServerDoc{}
		} else if err != nil {
			return nil, err
		}
	}
	d = d.Apply(serverChange(&r.Body))
	if err := cmp.Or(r.Body.Valid(), s.check(d, "test")); err != nil {
		return nil, err
	}
	tools, err := s.Services.Servers.Tools(ctx, r.Who.Tenant, d, app.Item{Name: "test"}, wait(&r.Body))
	if err != nil {
		return nil, api.Failed(api.KindInvalid, "Test MCP error: %s", err)
	}
	return envelope.OK(toolList(tools, engine.Null)), nil
}
