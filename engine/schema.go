package engine

import (
	"reflect"
	"slices"
)

// Schema returns the JSON Schema (draft 2020-12) of a component's params, derived from its struct:
// types, defaults, limits, labels and docs. References are marked with "format": "reference", texts
// that may hold references with "format": "text", programs with "format": "code". "$comment" is the
// form of JSON that the type does not describe. "x-easel" describes how a form shows the param.
func (s *Spec) Schema() Value {
	if !s.Params.IsNull() {
		return s.Params
	}
	props := NewObject(24)
	common := s.commonFields()
	own := slices.DeleteFunc(slices.Clone(s.paramFields(s.New())), func(f paramField) bool {
		return slices.ContainsFunc(common, func(c paramField) bool { return c.name == f.name })
	})
	required := properties(props, own)
	properties(props, common)
	if s.Declares != "" {
		props.Set("outputs", s.Declares.schema())
	}
	b := NewObject(8)
	b.Set("$schema", String("https://json-schema.org/draft/2020-12/schema"))
	b.Set("title", String(s.Name)).Set("description", String(s.Doc)).Set("type", String("object"))
	b.Set("properties", props.Value())
	if len(required) > 0 {
		b.Set("required", Strings(required...))
	}
	return b.Set("additionalProperties", Bool(true)).Value()
}

// Define returns the function definition in OpenAI form, under the given name; an empty description
// falls back to the component's own.
func (t *ToolSpec) Define(name, description string) Value {
	if description == "" {
		description = t.Description
	}
	def := ToolDef{Name: name, Description: description, Parameters: t.Parameters()}
	return def.Value()
}

// Parameters returns the JSON Schema of the arguments.
func (t *ToolSpec) Parameters() Value {
	if !t.Schema.IsNull() {
		return t.Schema
	}
	props := NewObject(len(t.Args))
	var required []string
	for _, a := range t.Args {
		p := NewObject(3).Set("type", String(a.Type)).Set("description", String(a.Doc))
		if a.Type == "list" {
			p.Set("type", String("array")).Set("items", Object("type", "string"))
		}
		if len(a.Enum) > 0 {
			p.Set("enum", Strings(a.Enum...))
		}
		props.Set(a.Name, p.Value())
		if a.Required {
			required = append(required, a.Name)
		}
	}
	return Object("type", "object", "properties", props.Value(), "required", required)
}

func describeFields(fields []Field) Value {
	vals := make([]Value, len(fields))
	for i, f := range fields {
		b := NewObject(4).Set("name", String(f.Name)).Set("type", String(f.Type)).Set("description", String(f.Doc))
		if f.Required {
			b.Set("required", Bool(true))
		}
		vals[i] = b.Value()
	}
	return listOf(vals)
}

// properties adds the schema of each param and returns the names of the required ones.
func properties(b *ObjectBuilder, fields []paramField) (required []string) {
	for _, f := range fields {
		p := typeSchema(f.typ)
		p.Set("title", String(f.title()))
		if f.doc != "" {
			p.Set("description", String(f.doc))
		}
		if f.shape != "" {
			p.Set("$comment", String(f.shape))
		}
		if f.format != "" {
			p.Set("format", String(f.format))
		}
		if len(f.enum) > 0 {
			p.Set("enum", Strings(f.enum...))
		}
		if f.min != nil {
			p.Set("minimum", Float(*f.min))
		}
		if f.max != nil {
			p.Set("maximum", Float(*f.max))
		}
		if !f.def.IsNull() {
			p.Set("default", f.def)
		} else if f.nonempty {
			required = append(required, f.name)
		}
		if f.form.members != "" {
			p.Set("properties", f.memberSchemas())
		}
		p.Set("x-easel", f.describe())
		b.Set(f.name, p.Value())
	}
	return required
}

func typeSchema(t reflect.Type) *ObjectBuilder {
	b := NewObject(6)
	switch t {
	case typeValue:
		return b
	case typeRef:
		return b.Set("type", String("string")).Set("format", String("reference"))
	case typeText:
		return b.Set("type", String("string")).Set("format", String("text"))
	case typeExpr:
		return b.Set("format", String("text"))
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeSchema(t.Elem())
	case reflect.String:
		b.Set("type", String("string"))
	case reflect.Bool:
		b.Set("type", String("boolean"))
	case reflect.Int:
		b.Set("type", String("integer"))
	case reflect.Float64:
		b.Set("type", String("number"))
	case reflect.Slice:
		if t.Elem() == typeNamedExpr {
			return b.Set("type", String("object")).Set("additionalProperties", Object("format", "text"))
		}
		b.Set("type", String("array")).Set("items", typeSchema(t.Elem()).Value())
	case reflect.Struct:
		props := NewObject(8)
		properties(props, paramFields(t))
		b.Set("type", String("object")).Set("properties", props.Value())
	}
	return b
}
