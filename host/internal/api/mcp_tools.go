package api

import (
	"context"
	"errors"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/mcp"
)

// What is done with the tools of MCP servers: asked for, tried, switched on
// and off.

// fetchTools asks a server for its tools, name -> tool; an unreachable one has
// none.
func (c *call) fetchTools(d mcp.Doc, id, name string) (engine.Value, error) {
	out := engine.NewObject(8)
	if c.a.cfg.MCP == nil {
		return out.Value(), errors.New("MCP servers cannot be reached here")
	}
	seconds := 10.0
	if n, ok := c.body.Get("timeout").Float(); ok && n > 0 && n < 300 {
		seconds = n
	}
	ctx, done := context.WithTimeout(c.ctx(), time.Duration(seconds*float64(time.Second)))
	defer done()
	list, err := c.a.cfg.MCP.Tools(ctx, "edit "+c.who.tenant, d.Server(id, name))
	for _, t := range list {
		out.Set(t.Get("name").Str(), t.With("enabled", engine.Bool(true)))
	}
	return out.Value(), err
}

func (a *API) listServerTools(c *call) error {
	if err := c.require("mcp_ids"); err != nil {
		return err
	}
	ids := c.texts("mcp_ids")
	if err := c.valid(); err != nil {
		return err
	}
	b := engine.NewObject(len(ids))
	for _, id := range ids {
		item, d, err := c.serverOf(id)
		if err != nil {
			return err
		}
		tools, err := c.fetchTools(d, item.ID, item.Name)
		if err != nil {
			return failed(codeData, "MCP list tools error: %s", err)
		}
		b.Set(id, toolList(tools, d.Variables.Get("tools")))
	}
	return c.ok(b.Value())
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

func (a *API) testServerTool(c *call) error {
	if err := c.require("mcp_id", "tool_name", "arguments"); err != nil {
		return err
	}
	tool, arguments := c.text("tool_name"), c.object("arguments")
	if err := c.valid(); err != nil {
		return err
	}
	item, d, err := c.server()
	if err != nil {
		return err
	}
	if a.cfg.MCP == nil {
		return failed(codeData, "MCP servers cannot be reached here.")
	}
	text, err := a.cfg.MCP.Call(c.ctx(), "edit "+c.who.tenant, d.Server(item.ID, item.Name), tool, arguments)
	if err != nil {
		return failed(codeData, "MCP test tool error: %s", err)
	}
	return c.ok(engine.String(text))
}

func (a *API) cacheServerTools(c *call) error {
	if err := c.require("mcp_id", "tools"); err != nil {
		return err
	}
	list := c.list("tools")
	if err := c.valid(); err != nil {
		return err
	}
	item, d, err := c.server()
	if err != nil {
		return err
	}
	tools := engine.NewObject(list.Len())
	for _, t := range list.Elements() {
		if name := t.Get("name").Str(); name != "" {
			tools.Set(name, t)
		}
	}
	d.Variables = d.Variables.With("tools", tools.Value())
	if err = d.Into(&item); err != nil {
		return err
	}
	if _, err := a.cfg.Store.PutItem(c.ctx(), item); err != nil {
		return err
	}
	return c.ok(tools.Value())
}

// testServer asks a server that is not stored yet for its tools.
func (a *API) testServer(c *call) error {
	var d mcp.Doc
	if c.params["id"] == "" {
		if err := c.require("url", "server_type"); err != nil {
			return err
		}
	} else {
		var err error
		if _, d, err = c.server(); err != nil && !c.body.Get("url").IsNull() {
			d = mcp.Doc{}
		} else if err != nil {
			return err
		}
	}
	c.fillServer(&d)
	if err := c.valid(); err != nil {
		return err
	}
	if err := checkServer(d, "test"); err != nil {
		return err
	}
	tools, err := c.fetchTools(d, "", "test")
	if err != nil {
		return failed(codeData, "Test MCP error: %s", err)
	}
	return c.ok(toolList(tools, engine.Null))
}
