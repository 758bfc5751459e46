package component

import (
	"errors"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// errNoStructure means that the model did not return the requested JSON.
//
//lint:ignore ST1005 clients know exactly this text
var errNoStructure = errors.New("The answer cannot be parsed as JSON")

// outputSchema returns the JSON Schema of a node's output "structured" as the canvas declares it,
// under "schema" or "structured"; null without one.
func outputSchema(outputs engine.Value) engine.Value {
	slot := outputs.Get("structured")
	for _, s := range [...]engine.Value{slot, slot.Get("schema"), slot.Get("structured")} {
		if s.Get("properties").Len() > 0 {
			return s.Without("value")
		}
	}
	return engine.Null
}

// readStructured parses an answer that should be JSON.
func readStructured(text string) (engine.Value, error) {
	v, err := readLooseJSON(text)
	if err != nil {
		return engine.Null, fmt.Errorf("%w: %w", errNoStructure, err)
	}
	return v, nil
}

// readBySchema parses an answer that should be JSON of a schema. It accepts common deviations of
// models: an object inside another one, or in a list of one, and numbers as strings.
func readBySchema(text string, schema engine.Value) (engine.Value, error) {
	v, err := readStructured(text)
	if err != nil {
		return v, err
	}
	v = fitted(unwrapped(v, schema), schema)
	if v.Kind() == engine.KindList && schema.Get("required").Len() == 0 {
		return v, nil // a schema without required members has always accepted lists
	}
	if err := engine.CheckSchema("answer", v, schema); err != nil {
		return engine.Null, fmt.Errorf("the answer does not match its schema: %w", err)
	}
	return v, nil
}

// unwrapped returns the value inside a list of one, or inside an object with one unknown member.
func unwrapped(v, schema engine.Value) engine.Value {
	if !mayBe(schema, "object") || mayBe(schema, "array") {
		return v
	}
	if v.Kind() == engine.KindList && v.Len() == 1 {
		v = v.At(0)
	}
	if v.Kind() == engine.KindObject && v.Len() == 1 {
		name := v.Key(0)
		_, known := schema.Get("properties").Lookup(name)
		inner := v.Get(name)
		if inner.Kind() == engine.KindList && inner.Len() == 1 {
			inner = inner.At(0)
		}
		if !known && inner.Kind() == engine.KindObject {
			return inner
		}
	}
	return v
}

// mayBe reports whether a schema accepts values of a type.
func mayBe(schema engine.Value, name string) bool {
	t := schema.Get("type")
	if t.IsNull() {
		return name == "object" && schema.Get("properties").Len() > 0
	}
	if t.Kind() == engine.KindString {
		t = engine.List(t)
	}
	for _, one := range t.Elements() {
		if one.Str() == name || one.Str() == "number" && name == "integer" {
			return true
		}
	}
	return false
}

// fitted returns a value with the types of its schema where the text is the same: numbers and
// booleans as strings, and the reverse. Null stands for a member that is missing.
func fitted(v, schema engine.Value) engine.Value {
	switch v.Kind() {
	case engine.KindObject:
		b := engine.NewObject(v.Len())
		for name, member := range v.Fields() {
			inner, ok := schema.Get("properties").Lookup(name)
			switch {
			case !ok:
				b.Set(name, member)
			case member.IsNull() && !inner.Get("type").IsNull() && !mayBe(inner, "null"):
			default:
				b.Set(name, fitted(member, inner))
			}
		}
		return b.Value()
	case engine.KindList:
		items := schema.Get("items")
		if items.IsNull() {
			return v
		}
		list := v.Slice()
		for i := range list {
			list[i] = fitted(list[i], items)
		}
		return engine.List(list...)
	case engine.KindString:
		if schema.Get("type").IsNull() || mayBe(schema, "string") {
			return v
		}
		text := strings.TrimSpace(v.Str())
		if n, ok := engine.ParseNumber(text); ok && (mayBe(schema, "number") || mayBe(schema,
			"integer") && n.HasType("integer")) {
			return n
		}
		if mayBe(schema, "boolean") && (strings.EqualFold(text, "true") || strings.EqualFold(text, "false")) {
			return engine.Bool(strings.EqualFold(text, "true"))
		}
	case engine.KindNumber, engine.KindBool:
		if !schema.Get("type").IsNull() && mayBe(schema, "string") && !mayBe(schema, "number") && !mayBe(schema,
			"boolean") {
			return engine.String(v.Text())
		}
	}
	return v
}
