package node

import (
	"cmp"
	"slices"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// toolResult is the output that is returned to a model.
const toolResult = "content"

// spec derives the Spec of a component from a manifest. The Spec belongs to one node:
// its component removes pinned arguments from the Spec's tool.
func (s *Shelf) spec(name, ref string, m *contract.Manifest) engine.Spec {
	spec := engine.Spec{
		Name: name, Doc: m.Description, Inputs: fields(m.Arguments), Outputs: outputs(m), Params: form(name, m),
		Thoughts: "Running " + displayName(m) + ".",
	}
	if m.Arguments != nil {
		spec.Tool = &engine.ToolSpec{
			Function: m.Function(), Description: m.Description, Result: toolResult, Args: spec.Inputs,
			Schema: m.Arguments.Value(),
		}
	}
	spec.Branches = branches(m)
	spec.New = func() engine.Component { return &component{shelf: s, ref: ref, manifest: m, tool: spec.Tool} }
	return spec
}

// displayName returns the name for people, in English.
func displayName(m *contract.Manifest) string { return cmp.Or(m.Display["en"], m.NodeName()) }

// fields lists the properties of a schema: required ones first, then by name.
func fields(s *contract.Schema) []engine.Field {
	var first, rest []engine.Field
	for _, name := range s.Names() {
		p, _ := s.Property(name)
		f := engine.Field{
			Name: name, Type: fieldType(p), Doc: p.Description(),
			Required: slices.Contains(s.Required(), name),
		}
		for _, e := range p.Enum() {
			f.Enum = append(f.Enum, e.Text())
		}
		if f.Required {
			first = append(first, f)
		} else {
			rest = append(rest, f)
		}
	}
	return append(first, rest...)
}

func fieldType(p *contract.Schema) string {
	types := p.Types()
	if len(types) != 1 {
		return "any"
	}
	switch types[0] {
	case "array":
		return "list"
	case "integer":
		return "number"
	}
	return types[0]
}

// outputs returns the outputs for other nodes. A manifest without outputs allows any.
func outputs(m *contract.Manifest) []engine.Field {
	if len(m.Outputs.Names()) == 0 {
		return []engine.Field{{Name: "text", Type: "string", Doc: "the answer"}, {Name: "*", Type: "any", Doc: "whatever the plugin gives"}}
	}
	out := fields(m.Outputs)
	if f := m.Permissions.Files; f != nil && f.WriteBytes > 0 {
		out = append(out, engine.Field{Name: "attachments", Type: "list"},
			engine.Field{Name: "attachment", Type: "object"})
	}
	return out
}

// bare is a plugin without params.
var bare = engine.Spec{New: func() engine.Component { return &component{} }}

// form returns the schema of a node's params: the plugin's params, its arguments, and those of
// every component.
func form(name string, m *contract.Manifest) engine.Value {
	spec := bare
	spec.Name, spec.Doc = name, m.Description
	common := spec.Schema()
	props := engine.NewObject(24)
	for _, s := range [...]*contract.Schema{m.Params, m.Arguments} {
		for _, name := range s.Names() {
			p, _ := s.Property(name)
			props.Set(name, p.Value())
		}
	}
	standard := common.Get("properties")
	for i := range standard.Len() {
		if name := standard.Key(i); !props.Has(name) && (name != modelParam || m.Permissions.LLM != nil) {
			props.Set(name, standard.At(i))
		}
	}
	out := common.With("properties", props.Value()).Without("required")
	if required := m.Params.Value().Get("required"); required.Len() > 0 {
		out = out.With("required", required)
	}
	return out
}

// hide returns the schema of arguments without the pinned ones.
func hide(schema engine.Value, pinned []string) engine.Value {
	props, required := schema.Get("properties"), engine.List()
	for _, name := range pinned {
		props = props.Without(name)
	}
	all := schema.Get("required")
	for i := range all.Len() {
		if r := all.At(i); !slices.Contains(pinned, r.Str()) {
			required = required.Append(r)
		}
	}
	schema = schema.With("properties", props)
	if required.Len() == 0 {
		return schema.Without("required")
	}
	return schema.With("required", required)
}
