package engine

import (
	"fmt"
	"slices"
)

// CheckSchema returns nil if v matches the parts of JSON Schema that describe arguments of tools
// and answers of models: type, enum, properties, required, additionalProperties and items. Errors
// have the path of the mismatch.
func CheckSchema(path string, v, schema Value) error {
	if types := typesOf(schema.Get("type")); len(types) > 0 && !slices.ContainsFunc(types, v.HasType) {
		return fmt.Errorf("%s: is a %s; expected a %s", path, v.Kind(), types[0])
	}
	if enum := elements(schema.Get("enum")); len(enum) > 0 &&
		!slices.ContainsFunc(enum, func(e Value) bool { return Equal(e, v) }) {
		return fmt.Errorf("%s: is %s; expected one of %s", path, brief(v.JSON()), brief(schema.Get("enum").JSON()))
	}
	for i, e := range v.Elements() {
		if err := CheckSchema(fmt.Sprintf("%s[%d]", path, i), e, schema.Get("items")); err != nil {
			return err
		}
	}
	if v.Kind() != KindObject {
		return nil
	}
	for _, name := range schema.Get("required").Elements() {
		if _, ok := v.Lookup(name.Str()); !ok {
			return fmt.Errorf("%s: %s is missing", path, brief(name.Str()))
		}
	}
	closed := schema.Get("additionalProperties").Kind() == KindBool && !schema.Get("additionalProperties").True()
	for name, member := range v.Fields() {
		inner, ok := schema.Get("properties").Lookup(name)
		if !ok && closed {
			return fmt.Errorf("%s: %s is not an argument", path, brief(name))
		}
		if err := CheckSchema(path+"."+name, member, inner); err != nil {
			return err
		}
	}
	return nil
}

// typesOf returns the types that a schema accepts; none for any.
func typesOf(v Value) []string {
	if v.Kind() == KindString {
		return []string{v.Str()}
	}
	types := make([]string, v.Len())
	for i, t := range v.Elements() {
		types[i] = t.Str()
	}
	return types
}

// HasType reports whether v is of a type of JSON Schema.
func (v Value) HasType(name string) bool {
	if name == "integer" {
		return v.kind == KindNumber && v.isWhole()
	}
	return v.kind.SchemaType() == name
}

// SchemaType returns the type of a kind in JSON Schema: null, boolean, number, string, array or
// object.
func (k Kind) SchemaType() string {
	switch k {
	case KindList:
		return "array"
	case KindStream:
		return "string"
	default:
		return k.String()
	}
}
