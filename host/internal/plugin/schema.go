package plugin

import (
	"encoding/json"
	"fmt"
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
	// Additional is false, true or a schema; nil allows everything.
	Additional json.RawMessage `json:"additionalProperties,omitempty"`
	Items      *Schema         `json:"items,omitempty"`
	Enum       []any           `json:"enum,omitempty"`
	Const      any             `json:"const,omitempty"`
	AnyOf      []*Schema       `json:"anyOf,omitempty"`
	Default    any             `json:"default,omitempty"`
	Minimum    *float64        `json:"minimum,omitempty"`
	Maximum    *float64        `json:"maximum,omitempty"`
	MinLength  *int            `json:"minLength,omitempty"` // runes
	MaxLength  *int            `json:"maxLength,omitempty"` // runes
	MinItems   *int            `json:"minItems,omitempty"`
	MaxItems   *int            `json:"maxItems,omitempty"`
	// Ref says that a form offers references to outputs of other nodes here.
	Ref bool `json:"x-easel-ref,omitempty"`
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

// Check returns what is wrong with v, a value as encoding/json decodes it, or
// nil. The message names the place: outputs.temp: want number, got string.
func (s *Schema) Check(place string, v any) error {
	if s == nil {
		return nil
	}
	if len(s.Type) > 0 && !slices.ContainsFunc(s.Type, func(t string) bool { return isType(t, v) }) {
		return fmt.Errorf("%s: want %s, got %s", place, strings.Join(s.Type, " or "), typeName(v))
	}
	if s.Const != nil && !reflect.DeepEqual(s.Const, v) {
		return fmt.Errorf("%s: want %v, got %v", place, s.Const, v)
	}
	if len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, func(e any) bool { return reflect.DeepEqual(e, v) }) {
		return fmt.Errorf("%s: want one of %v, got %v", place, s.Enum, v)
	}
	if err := s.checkAny(place, v); err != nil {
		return err
	}
	switch v := v.(type) {
	case map[string]any:
		return s.checkObject(place, v)
	case []any:
		return s.checkArray(place, v)
	case string:
		return checkSize(place, "characters", utf8.RuneCountInString(v), s.MinLength, s.MaxLength)
	case float64:
		if s.Minimum != nil && v < *s.Minimum || s.Maximum != nil && v > *s.Maximum {
			return fmt.Errorf("%s: %v is outside the allowed range", place, v)
		}
	}
	return nil
}

func (s *Schema) checkAny(place string, v any) error {
	if len(s.AnyOf) == 0 {
		return nil
	}
	var first error
	for _, one := range s.AnyOf {
		err := one.Check(place, v)
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

func (s *Schema) checkObject(place string, v map[string]any) error {
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			return fmt.Errorf("%s.%s: missing", place, name)
		}
	}
	var extra *Schema
	closed := string(s.Additional) == "false"
	if len(s.Additional) > 0 && s.Additional[0] == '{' {
		extra = &Schema{}
		if err := json.Unmarshal(s.Additional, extra); err != nil {
			return fmt.Errorf("%s: additionalProperties: %w", place, err)
		}
	}
	for name, value := range v {
		sub, ok := s.Properties[name]
		switch {
		case ok:
		case closed:
			return fmt.Errorf("%s.%s: not declared", place, name)
		default:
			sub = extra
		}
		if err := sub.Check(place+"."+name, value); err != nil {
			return err
		}
	}
	return nil
}

func (s *Schema) checkArray(place string, v []any) error {
	if err := checkSize(place, "items", len(v), s.MinItems, s.MaxItems); err != nil {
		return err
	}
	for i, item := range v {
		if err := s.Items.Check(fmt.Sprintf("%s[%d]", place, i), item); err != nil {
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
