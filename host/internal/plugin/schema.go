package plugin

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// Schema is the part of JSON Schema that manifests use for params, arguments and
// outputs: type, properties, required, additionalProperties, items, enum, const,
// anyOf, the size limits and default. Unknown keywords are ignored, references
// are not followed, so that no schema of a stranger can loop.
type Schema struct {
	Type        schemaTypes        `json:"type,omitempty"`
	Description string             `json:"description,omitempty"`
	Properties  map[string]*Schema `json:"properties,omitempty"`
	Required    []string           `json:"required,omitempty"`
	// Additional is what holds for members that are not declared; nil allows everything.
	Additional *additional `json:"additionalProperties,omitempty"`
	Items      *Schema     `json:"items,omitempty"`
	Enum       []any       `json:"enum,omitempty"`
	Const      any         `json:"const,omitempty"`
	AnyOf      []*Schema   `json:"anyOf,omitempty"`
	Default    any         `json:"default,omitempty"`
	Minimum    *float64    `json:"minimum,omitempty"`
	Maximum    *float64    `json:"maximum,omitempty"`
	MinLength  *int        `json:"minLength,omitempty"` // runes
	MaxLength  *int        `json:"maxLength,omitempty"` // runes
	MinItems   *int        `json:"minItems,omitempty"`
	MaxItems   *int        `json:"maxItems,omitempty"`
	// Ref says that a form offers references to outputs of other nodes here.
	Ref bool `json:"x-easel-ref,omitempty"`
}

// additional is false, true or a schema.
type additional struct {
	closed bool
	schema *Schema
}

func (a *additional) UnmarshalJSON(b []byte) error {
	var allowed bool
	if json.Unmarshal(b, &allowed) == nil {
		a.closed = !allowed
		return nil
	}
	return json.Unmarshal(b, &a.schema)
}

func (a additional) MarshalJSON() ([]byte, error) {
	if a.schema != nil {
		return json.Marshal(a.schema)
	}
	return json.Marshal(!a.closed)
}

// schemaTypes is one type name or a list of them.
type schemaTypes []string

// UnmarshalJSON takes "string" as well as ["string","null"].
func (t *schemaTypes) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = schemaTypes{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(t))
}

// MarshalJSON writes one type as a string, as the OpenAI tool form wants it.
func (t schemaTypes) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return json.Marshal(t[0])
	}
	return json.Marshal([]string(t))
}

// Bounds of schemas, which strangers write and every output is held against.
const (
	maxSchemas     = 2_000     // in one manifest
	maxSchemaDepth = 50        // of one in another
	maxSteps       = 2_000_000 // of one check
)

// typeNames are the types there are.
var typeNames = []string{"string", "number", "integer", "boolean", "array", "object", "null"}

// sound returns what is wrong with the schema itself. left is how many more there may be.
func (s *Schema) sound(place string, depth int, left *int) error {
	if *left--; *left < 0 {
		return fmt.Errorf("%s: more than %d schemas", place, maxSchemas)
	}
	if depth > maxSchemaDepth {
		return fmt.Errorf("%s: nested more than %d deep", place, maxSchemaDepth)
	}
	if s == nil {
		return nil
	}
	for _, t := range s.Type {
		if !slices.Contains(typeNames, t) {
			return fmt.Errorf("%s: type %q: want %s", place, t, strings.Join(typeNames, ", "))
		}
	}
	inner := map[string]*Schema{".items": s.Items}
	for name, p := range s.Properties {
		inner["."+name] = p
	}
	for i, one := range s.AnyOf {
		inner[fmt.Sprintf(".anyOf[%d]", i)] = one
	}
	if s.Additional != nil {
		inner[".additionalProperties"] = s.Additional.schema
	}
	for _, name := range slices.Sorted(maps.Keys(inner)) {
		if inner[name] == nil {
			continue
		}
		if err := inner[name].sound(place+name, depth+1, left); err != nil {
			return err
		}
	}
	return nil
}

// Check returns what is wrong with v, a value as encoding/json decodes it, or
// nil. The message names the place: outputs.temp: want number, got string.
func (s *Schema) Check(place string, v any) error {
	return (&checker{left: maxSteps}).check(s, place, v)
}

// checker is one check. It gives up where schema and value together are too large,
// because no fuel counts here.
type checker struct{ left int }

func (c *checker) check(s *Schema, place string, v any) error {
	if s == nil {
		return nil
	}
	if c.left -= 1 + len(s.Enum); c.left < 0 {
		return fmt.Errorf("%s: too large to be checked against its schema", place)
	}
	if len(s.Type) > 0 && !slices.ContainsFunc(s.Type, func(t string) bool { return isType(t, v) }) {
		return fmt.Errorf("%s: want %s, got %s", place, strings.Join(s.Type, " or "), typeName(v))
	}
	if s.Const != nil && !reflect.DeepEqual(s.Const, v) {
		return fmt.Errorf("%s: want %s, got %s", place, short(s.Const), short(v))
	}
	if len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, func(e any) bool { return reflect.DeepEqual(e, v) }) {
		return fmt.Errorf("%s: want one of %s, got %s", place, short(s.Enum), short(v))
	}
	if err := c.checkAny(s, place, v); err != nil {
		return err
	}
	switch v := v.(type) {
	case map[string]any:
		return c.checkObject(s, place, v)
	case []any:
		return c.checkArray(s, place, v)
	case string:
		return checkSize(place, "characters", utf8.RuneCountInString(v), s.MinLength, s.MaxLength)
	case float64:
		if s.Minimum != nil && v < *s.Minimum || s.Maximum != nil && v > *s.Maximum {
			return fmt.Errorf("%s: %v is outside the allowed range", place, v)
		}
	}
	return nil
}

// short is a value in at most a line.
func short(v any) string {
	text := fmt.Sprint(v)
	if most := 200; len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

func (c *checker) checkAny(s *Schema, place string, v any) error {
	if len(s.AnyOf) == 0 {
		return nil
	}
	var first error
	for _, one := range s.AnyOf {
		err := c.check(one, place, v)
		if err == nil || c.left < 0 {
			return err
		}
		if first == nil {
			first = err
		}
	}
	return first
}

func (c *checker) checkObject(s *Schema, place string, v map[string]any) error {
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			return fmt.Errorf("%s.%s: missing", place, name)
		}
	}
	for name, value := range v {
		sub, ok := s.Properties[name]
		switch {
		case ok || s.Additional == nil:
		case s.Additional.closed:
			return fmt.Errorf("%s.%s: not declared", place, short(name))
		default:
			sub = s.Additional.schema
		}
		if sub == nil {
			continue
		}
		if err := c.check(sub, place+"."+short(name), value); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) checkArray(s *Schema, place string, v []any) error {
	if err := checkSize(place, "items", len(v), s.MinItems, s.MaxItems); err != nil || s.Items == nil {
		return err
	}
	for i, item := range v {
		if err := c.check(s.Items, fmt.Sprintf("%s[%d]", place, i), item); err != nil {
			return err
		}
	}
	return nil
}

func checkSize(place, what string, n int, least, most *int) error {
	if least != nil && n < *least {
		return fmt.Errorf("%s: %d %s, want at least %d", place, n, what, *least)
	}
	if most != nil && n > *most {
		return fmt.Errorf("%s: %d %s, want at most %d", place, n, what, *most)
	}
	return nil
}

func isType(name string, v any) bool {
	if name == "integer" {
		f, ok := v.(float64)
		return ok && f == math.Trunc(f)
	}
	return typeName(v) == name
}

func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64, int, int64, json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}
