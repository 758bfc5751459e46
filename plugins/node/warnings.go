package node

import (
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/nearest"
	"github.com/easel-canvas/easel/plugins/contract"
)

// Warnings lists required params that are missing, unknown params, errors of
// the plugin about params without references, and settings that are not set.
func (n *component) Warnings() []engine.Diagnostic {
	p, err := n.shelf.Find(n.ref)
	if err != nil {
		return nil
	}
	return append(n.paramWarnings(p), lacks(p)...)
}

func (n *component) paramWarnings(p Plugin) []engine.Diagnostic {
	m := p.Manifest()
	out := slices.Concat(n.missing(m.Params), n.unknown(m), n.literal(m))
	if !n.isTool {
		out = append(out, n.missing(m.Arguments)...)
	}
	if len(out) > 0 || len(n.References()) > 0 {
		return out
	}
	params := engine.NewObject(8)
	for i := range n.params.Len() {
		name, v := n.params.Key(i), n.params.At(i)
		if given(v) && isParam(m, name) {
			schema, _ := m.Params.Property(name)
			params.Set(name, fit(v, schema))
		}
	}
	if err := p.Check(params.Value()); err != nil {
		return []engine.Diagnostic{{Code: engine.CodePluginCheck, Message: err.Error()}}
	}
	return nil
}

// lacks lists missing settings, if the plugin reports them.
func lacks(p Plugin) []engine.Diagnostic {
	if l, ok := p.(interface{ Lacks() []engine.Diagnostic }); ok {
		return l.Lacks()
	}
	return nil
}

// missing lists the members that a schema requires and that neither the canvas nor a default sets,
// as errors: each call fails without them.
func (n *component) missing(s *contract.Schema) (out []engine.Diagnostic) {
	for _, name := range s.Required() {
		p, _ := s.Property(name)
		if given(n.params.Get(name)) || !p.Default().IsNull() {
			continue
		}
		message := "required parameter is missing; the node fails without it"
		out = append(out, engine.Diagnostic{
			Severity: engine.SeverityError, Code: engine.CodeBadParam, Param: name, Message: message,
		})
	}
	return out
}

// literal lists the params with references that the plugin gets as text.
func (n *component) literal(m *contract.Manifest) (out []engine.Diagnostic) {
	for i := range n.params.Len() {
		name, v := n.params.Key(i), n.params.At(i)
		if !isParam(m, name) || refers(m, name) {
			continue
		}
		if ref, ok := inBraces(v); ok {
			message := ref + " is passed to the plugin as text; this parameter takes no references"
			out = append(out, engine.Diagnostic{Code: engine.CodeBadParam, Param: name, Message: message})
		}
	}
	return out
}

// inBraces returns the first reference in braces in a value, as it is written.
func inBraces(v engine.Value) (ref string, ok bool) {
	if v.Kind() == engine.KindString {
		text := engine.ParseText(v.Str())
		for _, r := range text.Refs() {
			return r.String(), true
		}
		return "", false
	}
	for i := range v.Len() {
		if ref, ok = inBraces(v.At(i)); ok {
			return ref, true
		}
	}
	return "", false
}

// unknown lists the params of the document that the plugin and the engine do not read. A plugin
// that declares arguments alone gets undeclared params too; one that declares nothing accepts any.
func (n *component) unknown(m *contract.Manifest) (out []engine.Diagnostic) {
	known := slices.Concat(m.Params.Names(), m.Arguments.Names())
	if len(known) == 0 {
		return nil
	}
	effect := "unknown parameter, which has no effect"
	if len(m.Params.Names()) == 0 {
		effect = "unknown parameter, which the plugin does not declare"
	}
	for i := range n.params.Len() {
		name := n.params.Key(i)
		if slices.Contains(known, name) || slices.Contains(standard(), name) || strings.HasPrefix(name, "_") {
			continue
		}
		message := effect
		if meant, ok := nearest.Match(name, known); ok {
			message += "; did you mean \"" + meant + "\"?"
		}
		out = append(out, engine.Diagnostic{Code: engine.CodeUnknownParam, Param: name, Message: message})
	}
	return out
}
