package pluginnode

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
)

// standard are params that belong to the engine or the editor, not to the plugin.
var standard = []string{
	"outputs", "inputs", "debug_inputs", modelParam, "max_retries", "delay_after_error", "exception_method",
	"exception_default_value", "exception_goto", "description", "message_history_window_size",
}

// given reports whether a value was filled in; forms write an empty text for a field left blank.
func given(v engine.Value) bool {
	return !v.IsNull() && (v.Kind() != engine.KindString || v.Str() != "")
}

// property is the schema of a member, nil when it is not declared.
func property(s *plugin.Schema, name string) *plugin.Schema {
	if s == nil {
		return nil
	}
	return s.Properties[name]
}

// isParam reports whether a member of the document's params goes into the plugin's params.
func isParam(m *plugin.Manifest, name string) bool {
	if m.Params != nil && len(m.Params.Properties) > 0 {
		return property(m.Params, name) != nil
	}
	return !slices.Contains(standard, name) && property(m.Arguments, name) == nil
}

// refers reports whether a member may hold references: arguments always, params where the schema says so.
func refers(m *plugin.Manifest, name string) bool {
	p := property(m.Params, name)
	return property(m.Arguments, name) != nil || p != nil && p.Ref || p == nil && isParam(m, name)
}

// references lists what a value refers to.
func references(v engine.Value) []engine.Ref {
	var out []engine.Ref
	switch v.Kind() {
	case engine.KindString:
		text := engine.ParseText(v.Str())
		out = append(out, text.Refs()...)
		if bare := engine.ParseRef(v.Str()); len(out) == 0 && bare.Node != "" && !strings.ContainsAny(v.Str(), " \n") {
			out = append(out, bare)
		}
	case engine.KindList:
		for _, e := range v.Elements() {
			out = append(out, references(e)...)
		}
	case engine.KindObject:
		for _, e := range v.Fields() {
			out = append(out, references(e)...)
		}
	}
	return out
}

// resolve is a value with its references replaced. A text that is one reference becomes what it refers to.
func resolve(ctx context.Context, call *engine.Call, v engine.Value) (engine.Value, error) {
	switch v.Kind() {
	case engine.KindString:
		e := engine.ParseExpr(v)
		return call.Eval(ctx, &e)
	case engine.KindList:
		out := engine.List()
		for _, e := range v.Elements() {
			r, err := resolve(ctx, call, e)
			if err != nil {
				return engine.Null, err
			}
			out = out.Append(r)
		}
		return out, nil
	case engine.KindObject:
		b := engine.NewObject(v.Len())
		for name, e := range v.Fields() {
			r, err := resolve(ctx, call, e)
			if err != nil {
				return engine.Null, err
			}
			b.Set(name, r)
		}
		return b.Value(), nil
	}
	return v, nil
}

// input is what one execution hands to the plugin: an object of params and one of arguments, null when it has none.
func (n *node) input(ctx context.Context, call *engine.Call, m *plugin.Manifest) (engine.Value, error) {
	params, args := engine.NewObject(8), engine.NewObject(8)
	for name, v := range call.Args().Fields() {
		if !slices.Contains(n.pinned(m), name) {
			args.Set(name, v)
		}
	}
	for name, v := range n.params.Fields() {
		arg := property(m.Arguments, name)
		if !given(v) || arg == nil && !isParam(m, name) {
			continue
		}
		var err error
		if refers(m, name) {
			if v, err = resolve(ctx, call, v); err != nil {
				return engine.Null, fmt.Errorf("%s: %w", name, err)
			}
		}
		if isParam(m, name) {
			params.Set(name, fit(v, property(m.Params, name)))
		}
		if arg != nil {
			args.Set(name, fit(v, arg))
			if !call.IsTool() {
				call.In(name, v)
			}
		}
	}
	if m.Params != nil {
		defaults(params, m.Params)
	}
	in := engine.Object("params", params.Value())
	if m.Arguments == nil {
		return in, nil
	}
	defaults(args, m.Arguments)
	return in.With("arguments", args.Value()), nil
}

// defaults fills in what is missing and has a default.
func defaults(b *engine.ObjectBuilder, s *plugin.Schema) {
	for name, p := range s.Properties {
		if p == nil || p.Default == nil {
			continue
		}
		if _, there := b.Value().Lookup(name); !there {
			b.Set(name, schemaValue(&plugin.Schema{Default: p.Default}).Get("default"))
		}
	}
}

// fit reads a text as the number or truth value the schema wants, which is what forms and models write.
func fit(v engine.Value, s *plugin.Schema) engine.Value {
	if s == nil || len(s.Type) != 1 || v.Kind() != engine.KindString {
		return v
	}
	switch s.Type[0] {
	case "number", "integer", "boolean":
		if read, err := engine.ParseJSONText(strings.TrimSpace(v.Str())); err == nil {
			return read
		}
	}
	return v
}

// object is a JSON object as plugins take it.
func object(v engine.Value) (map[string]any, error) {
	if v.IsNull() {
		return nil, nil
	}
	var out map[string]any
	err := json.Unmarshal(v.AppendJSON(nil), &out)
	return out, err
}
