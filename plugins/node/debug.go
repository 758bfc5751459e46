package node

import (
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// InputForm returns the fields with which the plugin runs alone: its arguments that the canvas
// leaves to a model, and the references in its params and other arguments, each with the type that
// the manifest declares.
func (n *component) InputForm() engine.Value {
	form := engine.NewObject(8)
	m := n.manifest
	if m != nil {
		pinned := n.pinned(m)
		for _, f := range fields(m.Arguments) {
			if slices.Contains(pinned, f.Name) {
				continue
			}
			p, _ := m.Arguments.Property(f.Name)
			form.Set(f.Name, field(f.Name, p, !f.Required))
		}
	}
	for i := range n.params.Len() {
		name, v := n.params.Key(i), n.params.At(i)
		if m == nil && slices.Contains(standard(), name) || m != nil && !refers(m, name) {
			continue
		}
		for _, r := range references(v) {
			if form.Has(r.Expr) {
				continue
			}
			var p *contract.Schema
			if m != nil && v.Kind() == engine.KindString && strings.Trim(v.Str(), "{} ") == r.Expr {
				if p, _ = m.Arguments.Property(name); p == nil {
					p, _ = m.Params.Property(name)
				}
			}
			form.Set(r.Expr, field(r.Expr, p, false).Without("value"))
		}
	}
	return form.Value()
}

// field describes a field of a form for a value with a schema, which may be nil.
func field(name string, s *contract.Schema, optional bool) engine.Value {
	f := engine.Object("name", name, "type", inputType(s), "optional", optional)
	if s == nil {
		return f
	}
	if enum := s.Enum(); len(enum) > 0 {
		f = f.With("type", engine.String("options")).With("options", engine.List(enum...))
	}
	if d := s.Default(); !d.IsNull() {
		f = f.With("value", d)
	}
	return f
}

// inputType returns the type of a field. Text of the type object is JSON.
func inputType(s *contract.Schema) string {
	switch types := s.Types(); {
	case len(types) != 1 || types[0] == "string":
		return "line"
	case types[0] == "array" || types[0] == "object":
		return "object"
	default: // integer, number and boolean
		return types[0]
	}
}
