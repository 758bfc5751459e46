package sdk

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
)

// Schema is the part of JSON Schema that manifests use.
type Schema struct {
	Type        string             `json:"type,omitempty"`
	Description string             `json:"description,omitempty"`
	Properties  map[string]*Schema `json:"properties,omitempty"`
	Required    []string           `json:"required,omitempty"`
	Items       *Schema            `json:"items,omitempty"`
	Enum        []any              `json:"enum,omitempty"`
	Default     any                `json:"default,omitempty"`
	Minimum     *float64           `json:"minimum,omitempty"`
	Maximum     *float64           `json:"maximum,omitempty"`
	Ref         bool               `json:"x-easel-ref,omitempty"`    // the form offers outputs of other nodes
	Branch      bool               `json:"x-easel-branch,omitempty"` // a branch of the node, see Call.Next
}

// SchemaOf derives the schema of a struct from its fields; nil for [None] and other types.
//
// Tags: json:"name,omitempty" names a field, and makes it optional; doc:"…" describes it;
// default:"…" is its value by default; enum:"a,b" lists the accepted values; min:"0" and max:"1"
// limit numbers; ref:"true" lets a param contain references to outputs of other nodes;
// branch:"true" makes one, a []string, a branch of the node.
func SchemaOf[T any]() *Schema {
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Struct || t == reflect.TypeFor[None]() {
		return nil
	}
	return schemaOf(t)
}

func schemaOf(t reflect.Type) *Schema {
	if t == reflect.TypeFor[json.RawMessage]() {
		return &Schema{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.String:
		return &Schema{Type: "string"}
	case reflect.Bool:
		return &Schema{Type: "boolean"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &Schema{Type: "integer"}
	case reflect.Float32, reflect.Float64:
		return &Schema{Type: "number"}
	case reflect.Slice, reflect.Array:
		return &Schema{Type: "array", Items: schemaOf(t.Elem())}
	case reflect.Map:
		return &Schema{Type: "object"}
	case reflect.Struct:
		return structSchema(t)
	}
	return &Schema{}
}

func structSchema(t reflect.Type) *Schema {
	s := &Schema{Type: "object", Properties: map[string]*Schema{}}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || f.Anonymous || name == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		p := schemaOf(f.Type)
		describeField(p, f.Tag)
		s.Properties[name] = p
		if p.Default == nil && !strings.Contains(options, "omitempty") && f.Type.Kind() != reflect.Pointer {
			s.Required = append(s.Required, name)
		}
	}
	return s
}

func describeField(p *Schema, tag reflect.StructTag) {
	p.Description = tag.Get("doc")
	p.Ref, p.Branch = tag.Get("ref") == "true", tag.Get("branch") == "true"
	p.Minimum, p.Maximum = bound(tag.Get("min")), bound(tag.Get("max"))
	for _, e := range strings.Split(tag.Get("enum"), ",") {
		if e != "" {
			p.Enum = append(p.Enum, value(p.Type, e))
		}
	}
	if d, ok := tag.Lookup("default"); ok {
		p.Default = value(p.Type, d)
	}
}

// value reads a tag as JSON, or as plain text for a string.
func value(kind, text string) any {
	var v any
	if kind == "string" || json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	return v
}

func bound(text string) *float64 {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil
	}
	return &f
}
