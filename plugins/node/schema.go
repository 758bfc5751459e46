package node

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/easel-canvas/easel/engine"
)

// Schema is the part of JSON Schema that manifests use for params, arguments and outputs: type,
// properties, required, additionalProperties, items, enum, const, anyOf, the size limits and
// default. The null Schema allows everything.
//
// A host hands schemas over in their plain form: known keywords only, properties sorted by name. So
// every host makes the same component of a manifest.
type Schema struct{ engine.Value }

// property is the schema of a member and whether it is declared.
func (s Schema) property(name string) (Schema, bool) {
	p, ok := s.Get("properties").Lookup(name)
	return Schema{p}, ok
}

// declares reports whether a member is declared.
func (s Schema) declares(name string) bool {
	_, ok := s.property(name)
	return ok
}

// types lists the types that are allowed; none means any.
func (s Schema) types() []string {
	t := s.Get("type")
	if t.Kind() == engine.KindString {
		return []string{t.Str()}
	}
	var out []string
	for _, e := range t.Elements() {
		out = append(out, e.Str())
	}
	return out
}

// Check returns what is wrong with v, or nil. The message names the place: outputs.temp: want
// number, got string.
func (s Schema) Check(place string, v engine.Value) error {
	if s.IsNull() {
		return nil
	}
	if types := s.types(); len(types) > 0 && !slices.ContainsFunc(types, func(t string) bool { return isType(t, v) }) {
		return fmt.Errorf("%s: want %s, got %s", place, strings.Join(types, " or "), typeName(v))
	}
	if want, ok := s.Lookup("const"); ok && !engine.Equal(want, v) {
		return fmt.Errorf("%s: want %s, got %s", place, want.Text(), v.Text())
	}
	if err := s.checkEnum(place, v); err != nil {
		return err
	}
	if err := s.checkAny(place, v); err != nil {
		return err
	}
	switch v.Kind() {
	case engine.KindObject:
		return s.checkObject(place, v)
	case engine.KindList:
		return s.checkList(place, v)
	case engine.KindString:
		return s.checkSize(place, "characters", utf8.RuneCountInString(v.Str()), "minLength", "maxLength")
	case engine.KindNumber:
		least, bounded := s.Get("minimum").Float()
		most, capped := s.Get("maximum").Float()
		if f, _ := v.Float(); bounded && f < least || capped && f > most {
			return fmt.Errorf("%s: %s is outside the allowed range", place, v.Text())
		}
	}
	return nil
}

func (s Schema) checkEnum(place string, v engine.Value) error {
	list := s.Get("enum")
	if list.Len() == 0 {
		return nil
	}
	texts := make([]string, 0, list.Len())
	for _, e := range list.Elements() {
		if engine.Equal(e, v) {
			return nil
		}
		texts = append(texts, e.Text())
	}
	return fmt.Errorf("%s: want one of [%s], got %s", place, strings.Join(texts, " "), v.Text())
}

func (s Schema) checkAny(place string, v engine.Value) error {
	var first error
	for _, one := range s.Get("anyOf").Elements() {
		err := Schema{one}.Check(place, v)
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

func (s Schema) checkObject(place string, v engine.Value) error {
	for _, name := range s.Get("required").Elements() {
		if _, ok := v.Lookup(name.Str()); !ok {
			return fmt.Errorf("%s.%s: missing", place, name.Str())
		}
	}
	extra, given := s.Lookup("additionalProperties")
	closed := given && extra.Kind() == engine.KindBool && !extra.True()
	if extra.Kind() != engine.KindObject {
		extra = engine.Null
	}
	for name, value := range v.Fields() {
		sub, ok := s.property(name)
		switch {
		case ok:
		case closed:
			return fmt.Errorf("%s.%s: not declared", place, name)
		default:
			sub = Schema{extra}
		}
		if err := sub.Check(place+"."+name, value); err != nil {
			return err
		}
	}
	return nil
}

func (s Schema) checkList(place string, v engine.Value) error {
	if err := s.checkSize(place, "items", v.Len(), "minItems", "maxItems"); err != nil {
		return err
	}
	items := Schema{s.Get("items")}
	for i, e := range v.Elements() {
		if err := items.Check(fmt.Sprintf("%s[%d]", place, i), e); err != nil {
			return err
		}
	}
	return nil
}

func (s Schema) checkSize(place, what string, n int, least, most string) error {
	if min, ok := s.Get(least).Int(); ok && int64(n) < min {
		return fmt.Errorf("%s: %d %s, want at least %d", place, n, what, min)
	}
	if max, ok := s.Get(most).Int(); ok && int64(n) > max {
		return fmt.Errorf("%s: %d %s, want at most %d", place, n, what, max)
	}
	return nil
}

func isType(name string, v engine.Value) bool {
	if name == "integer" {
		f, ok := v.Float()
		return ok && v.Kind() == engine.KindNumber && f == math.Trunc(f)
	}
	return typeName(v) == name
}

func typeName(v engine.Value) string {
	switch v.Kind() {
	case engine.KindNull:
		return "null"
	case engine.KindBool:
		return "boolean"
	case engine.KindNumber:
		return "number"
	case engine.KindString:
		return "string"
	case engine.KindList:
		return "array"
	}
	return "object"
}
