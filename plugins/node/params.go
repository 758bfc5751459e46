package node

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// modelParam is the param with the model for a plugin's calls.
const modelParam = "llm_id"

// standard are params that belong to the engine or the editor, not to the plugin.
var standard = sync.OnceValue(func() []string {
	names := []string{"outputs", "inputs", "debug_inputs", "exception_comment"}
	properties := bare.Schema().Get("properties")
	for i := range properties.Len() {
		names = append(names, properties.Key(i))
	}
	return names
})

// given reports whether a value was filled in; forms write an empty string for a blank field.
func given(v engine.Value) bool {
	return !v.IsNull() && (v.Kind() != engine.KindString || v.Str() != "")
}

// isParam reports whether a member of the document's params is a param of the plugin.
func isParam(m *contract.Manifest, name string) bool {
	if len(m.Params.Names()) > 0 {
		return declares(m.Params, name)
	}
	return !slices.Contains(standard(), name) && !declares(m.Arguments, name)
}

func declares(s *contract.Schema, name string) bool {
	_, ok := s.Property(name)
	return ok
}

// refers reports whether a member may contain references: arguments always, params if the schema
// allows it.
func refers(m *contract.Manifest, name string) bool {
	p, declared := m.Params.Property(name)
	return declares(m.Arguments, name) || declared && p.Reference() || !declared && isParam(m, name)
}

// references returns the references in a value.
func references(v engine.Value) []engine.Ref {
	if v.Kind() == engine.KindString {
		text := engine.ParseText(v.Str())
		found := text.Refs()
		if bare := engine.ParseRef(v.Str()); len(found) == 0 && bare.Node != "" && !strings.ContainsAny(v.Str(), " \n") {
			return []engine.Ref{bare}
		}
		return slices.Clone(found)
	}
	var out []engine.Ref
	for i := range v.Len() {
		out = append(out, references(v.At(i))...)
	}
	return out
}

// resolve returns a value with its references replaced. A string that is one reference becomes the
// referenced value. Placeholders of secrets in the params themselves are marked.
func resolve(ctx context.Context, call *engine.Call, v engine.Value) (engine.Value, error) {
	switch v.Kind() {
	case engine.KindString:
		e := engine.ParseExpr(v)
		return call.EvalConfig(ctx, &e)
	case engine.KindList:
		out := engine.List()
		for i := range v.Len() {
			r, err := resolve(ctx, call, v.At(i))
			if err != nil {
				return engine.Null, err
			}
			out = out.Append(r)
		}
		return out, nil
	case engine.KindObject:
		b := engine.NewObject(v.Len())
		for i := range v.Len() {
			r, err := resolve(ctx, call, v.At(i))
			if err != nil {
				return engine.Null, err
			}
			b.Set(v.Key(i), r)
		}
		return b.Value(), nil
	}
	return v, nil
}

// input returns the input of one execution: an object of params and one of arguments, null if it
// has none, and in secrets which of the placeholders in them are marked, see unmarked.
func (n *component) input(ctx context.Context, call *engine.Call, m *contract.Manifest) (engine.Value, error) {
	params, args := engine.NewObject(8), engine.NewObject(8)
	supplied, pinned := n.supplied(call, m), n.pinned(m)
	for i := range supplied.Len() {
		if name := supplied.Key(i); !slices.Contains(pinned, name) {
			args.Set(name, supplied.At(i))
		}
	}
	for i := range n.params.Len() {
		name, v := n.params.Key(i), n.params.At(i)
		arg, isArg := m.Arguments.Property(name)
		if !given(v) || !isArg && !isParam(m, name) {
			continue
		}
		var err error
		if refers(m, name) {
			if v, err = resolve(ctx, call, v); err != nil {
				return engine.Null, fmt.Errorf("%s: %w", name, err)
			}
		} else {
			v = call.MarkSecrets(v)
		}
		if isParam(m, name) {
			p, _ := m.Params.Property(name)
			params.Set(name, fit(v, p))
		}
		if isArg {
			args.Set(name, fit(v, arg))
			if !call.IsTool() {
				plain, _ := unmarked(v, call.SecretMark())
				call.In(name, plain)
			}
		}
	}
	defaults(call, params, m.Params)
	in := engine.Object("params", params.Value())
	if m.Arguments != nil {
		defaults(call, args, m.Arguments)
		in = in.With("arguments", args.Value())
	}
	in, own := unmarked(in, call.SecretMark())
	if !strings.Contains(own, "1") {
		return in, nil
	}
	return in.With("secrets", engine.String(own)), nil
}

// supplied returns the arguments of a model, or those of the form of a plugin that runs alone.
func (n *component) supplied(call *engine.Call, m *contract.Manifest) engine.Value {
	if !call.Debugging() {
		return m.Arguments.Present(call.Args())
	}
	b := engine.NewObject(8)
	for name, v := range call.RunInputs().Fields() {
		if p, declared := m.Arguments.Property(name); declared && given(v) {
			b.Set(name, fit(v, p))
		}
	}
	return b.Value()
}

// defaults fills in missing params that have a default, from the plugin's own schema.
func defaults(call *engine.Call, b *engine.ObjectBuilder, s *contract.Schema) {
	for _, name := range s.Names() {
		p, _ := s.Property(name)
		if d := p.Default(); !d.IsNull() && !b.Has(name) {
			b.Set(name, call.MarkSecrets(d))
		}
	}
}

// fit parses a string as the number, boolean, list or object of the schema, since forms and models
// write strings.
func fit(v engine.Value, s *contract.Schema) engine.Value {
	types := s.Types()
	if len(types) != 1 || v.Kind() != engine.KindString {
		return v
	}
	switch types[0] {
	case "number", "integer", "boolean":
		if read, err := engine.ParseJSONText(strings.TrimSpace(v.Str())); err == nil {
			return read
		}
	case "array", "object":
		read, err := engine.ParseJSONText(v.Str())
		if err == nil && (read.Kind() == engine.KindList || read.Kind() == engine.KindObject) {
			return read
		}
	}
	return v
}
