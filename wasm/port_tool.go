package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/easel-canvas/easel/engine"
)

// tools runs components that live outside: the host's own, and plugins.
type tools struct {
	*run
	tool, plugin bool // which of them the host answers
}

// CallTool asks the host for the outputs of a component.
func (t tools) CallTool(ctx context.Context, c *engine.ExternalCall) (engine.Value, error) {
	if !t.tool {
		return engine.Null, fmt.Errorf("%s: %w: it works only where a host offers it as a tool", c.Component, engine.ErrNoPort)
	}
	return t.once(ctx, "tool", engine.Object("component", c.Component, "params", c.Params, "arguments", c.Arguments, "key", c.Key))
}

// callPlugin asks the host to run a plugin.
func (t tools) callPlugin(ctx context.Context, name string, input engine.Value) (engine.Value, error) {
	v, err := t.once(ctx, "plugin", engine.Object("plugin", name, "export", "run", "input", input))
	return v.Get("output"), err
}

// pluginSpec describes any plugin: which ones there are, only the host knows, and only when the node is reached.
func pluginSpec(name string) (engine.Spec, bool) {
	return engine.Spec{
		Name: name, Doc: "A plugin that the host runs.", Retries: true,
		New:     func() engine.Component { return &plugin{name: name} },
		Outputs: []engine.Field{{Name: "*", Type: "any", Doc: "what the plugin gives"}},
		Params:  engine.Object("type", "object", "additionalProperties", true),
	}, true
}

// plugin is a node that the host runs.
type plugin struct {
	name   string
	params engine.Value
}

// own are params that belong to the engine or the editor.
var own = []string{
	"outputs", "inputs", "debug_inputs", "max_retries", "delay_after_error", "exception_method",
	"exception_default_value", "exception_goto", "description", "message_history_window_size",
}

// Init keeps the params.
func (p *plugin) Init(s *engine.Setup) error {
	b := engine.NewObject(s.Params.Len())
	for name, v := range s.Params.Fields() {
		if !slices.Contains(own, name) {
			b.Set(name, v)
		}
	}
	p.params = b.Value()
	return nil
}

// References are those anywhere in the params.
func (p *plugin) References() []engine.Ref { return references(p.params, nil) }

func references(v engine.Value, found []engine.Ref) []engine.Ref {
	if v.Kind() == engine.KindString {
		text := engine.ParseText(v.Str())
		return append(found, text.Refs()...)
	}
	for _, e := range v.Elements() {
		found = references(e, found)
	}
	for _, e := range v.Fields() {
		found = references(e, found)
	}
	return found
}

// Run asks the host for {"outputs": name -> value}, or one text.
func (p *plugin) Run(ctx context.Context, call *engine.Call) error {
	host, ok := call.Ports().Tools.(tools)
	if !ok || !host.plugin {
		return fmt.Errorf("%s: %w: this host runs no plugins", p.name, engine.ErrNoPort)
	}
	params, err := resolve(ctx, call, p.params)
	if err != nil {
		return err
	}
	output, err := host.callPlugin(ctx, p.name, engine.Object("params", params, "arguments", call.Args(), "key", call.Key()))
	if err != nil {
		return err
	}
	if output.Kind() == engine.KindString {
		call.Out("text", output)
		return nil
	}
	for name, v := range output.Get("outputs").Fields() {
		call.Out(name, v)
	}
	return nil
}

// resolve is a value with its references replaced.
func resolve(ctx context.Context, call *engine.Call, v engine.Value) (engine.Value, error) {
	var err error
	switch v.Kind() {
	case engine.KindString:
		e := engine.ParseExpr(v)
		return call.Eval(ctx, &e)
	case engine.KindList:
		list := make([]engine.Value, v.Len())
		for i, e := range v.Elements() {
			if list[i], err = resolve(ctx, call, e); err != nil {
				return engine.Null, err
			}
		}
		return engine.List(list...), nil
	case engine.KindObject:
		b := engine.NewObject(v.Len())
		for name, e := range v.Fields() {
			if e, err = resolve(ctx, call, e); err != nil {
				return engine.Null, fmt.Errorf("%s: %w", name, err)
			}
			b.Set(name, e)
		}
		return b.Value(), nil
	}
	return v, nil
}
