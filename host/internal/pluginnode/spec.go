package pluginnode

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
)

// toolResult is the output that goes back to a model.
const toolResult = "content"

// spec derives what the engine knows of a component from a manifest. The Spec belongs to one node: its component
// takes pinned arguments out of the Spec's tool.
func (a *Adapter) spec(name, ref string, m *plugin.Manifest) engine.Spec {
	s := engine.Spec{
		Name: name, Doc: m.Description,
		Inputs: fields(m.Arguments), Outputs: outputs(m), Params: paramsSchema(name, m),
		Thoughts: "Running " + display(m) + ".",
	}
	if m.Arguments != nil {
		s.Tool = &engine.ToolSpec{
			Function: m.Name, Description: m.Description, Result: toolResult,
			Args: s.Inputs, Schema: schemaValue(m.Arguments),
		}
	}
	s.New = func() engine.Component { return &node{adapter: a, ref: ref, manifest: m, tool: s.Tool} }
	return s
}

// display is the plugin's name for people.
func display(m *plugin.Manifest) string {
	if name := m.Display["en"]; name != "" {
		return name
	}
	return m.Name
}

// fields lists the properties of a schema: required ones first, then by name.
func fields(s *plugin.Schema) []engine.Field {
	if s == nil {
		return nil
	}
	var first, rest []engine.Field
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		if p == nil {
			p = &plugin.Schema{}
		}
		f := engine.Field{Name: name, Type: fieldType(p), Doc: p.Description, Required: slices.Contains(s.Required, name)}
		for _, e := range p.Enum {
			f.Enum = append(f.Enum, fmt.Sprint(e))
		}
		if f.Required {
			first = append(first, f)
		} else {
			rest = append(rest, f)
		}
	}
	return append(first, rest...)
}

func fieldType(p *plugin.Schema) string {
	if len(p.Type) != 1 {
		return "any"
	}
	switch t := p.Type[0]; t {
	case "array":
		return "list"
	case "integer":
		return "number"
	default:
		return t
	}
}

// outputs are what other nodes may refer to. A manifest without outputs may give anything.
func outputs(m *plugin.Manifest) []engine.Field {
	if m.Outputs == nil || len(m.Outputs.Properties) == 0 {
		return []engine.Field{{Name: "text", Type: "string", Doc: "the answer"}, {Name: "*", Type: "any", Doc: "whatever the plugin gives"}}
	}
	return fields(m.Outputs)
}

// paramsSchema is the form of a node: the plugin's params, its arguments, and what every component has.
func paramsSchema(name string, m *plugin.Manifest) engine.Value {
	common := (&engine.Spec{Name: name, Doc: m.Description, New: func() engine.Component { return &node{} }}).Schema()
	props := engine.NewObject(24)
	var required []string
	for _, s := range []*plugin.Schema{m.Params, m.Arguments} {
		if s == nil {
			continue
		}
		for name, p := range schemaValue(s).Get("properties").Fields() {
			props.Set(name, p)
		}
	}
	if m.Params != nil {
		required = m.Params.Required
	}
	for name, p := range common.Get("properties").Fields() {
		if _, taken := props.Value().Lookup(name); !taken && (name != modelParam || m.Permissions.LLM != nil) {
			props.Set(name, p)
		}
	}
	out := common.With("properties", props.Value()).Without("required")
	if len(required) > 0 {
		out = out.With("required", engine.Strings(required...))
	}
	return out
}

// schemaValue is a schema as the engine holds JSON; null when there is none.
func schemaValue(s *plugin.Schema) engine.Value {
	b, err := json.Marshal(s)
	if err != nil { // a parsed schema holds nothing that is not JSON
		return engine.Null
	}
	v, err := engine.ParseJSON(b)
	if err != nil {
		return engine.Null
	}
	return v
}

// hide is the schema without the pinned arguments.
func hide(schema engine.Value, pinned []string) engine.Value {
	props, required := schema.Get("properties"), engine.List()
	for _, name := range pinned {
		props = props.Without(name)
	}
	for _, r := range schema.Get("required").Elements() {
		if !slices.Contains(pinned, r.Str()) {
			required = required.Append(r)
		}
	}
	schema = schema.With("properties", props)
	if required.Len() == 0 {
		return schema.Without("required")
	}
	return schema.With("required", required)
}
