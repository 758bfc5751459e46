package contract

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/easel-canvas/easel/engine"
)

// maxSteps limits the work of one check, which fuel does not measure: schemas that are compared
// with a value, and elements of their enumerations.
const maxSteps = 2_000_000

// Check returns an error if v does not match the schema. path is the position of v for the message:
// outputs.temp: want number, got string.
func (s *Schema) Check(path string, v engine.Value) error {
	c := checker{left: maxSteps}
	if m := c.check(s, v); m != nil {
		slices.Reverse(m.path)
		return errors.New(path + strings.Join(m.path, "") + ": " + m.text)
	}
	return nil
}

// checker is one check.
type checker struct{ left int }

// mismatch is the reason why a value does not match. Its path is built from the inside out, so that
// values that match allocate nothing.
type mismatch struct {
	path []string
	text string
}

func mismatched(format string, args ...any) *mismatch {
	return &mismatch{text: fmt.Sprintf(format, args...)}
}

// at prepends the enclosing position to the path of a mismatch.
func (m *mismatch) at(place string) *mismatch {
	m.path = append(m.path, place)
	return m
}

func (c *checker) check(s *Schema, v engine.Value) *mismatch {
	if s == nil {
		return nil
	}
	if c.left -= 1 + len(s.enum); c.left < 0 {
		return mismatched("too large to be checked against its schema")
	}
	if len(s.types) > 0 && !slices.ContainsFunc(s.types, v.HasType) {
		return mismatched("want %s, got %s", strings.Join(s.types, " or "), typeName(v))
	}
	if s.constrains && !engine.Equal(s.constant, v) {
		return mismatched("want %s, got %s", shown(s.constant), shown(v))
	}
	if len(s.enum) > 0 && !slices.ContainsFunc(s.enum, func(e engine.Value) bool { return engine.Equal(e, v) }) {
		return mismatched("want one of %s, got %s", shownAll(s.enum), shown(v))
	}
	if m := c.checkAny(s, v); m != nil {
		return m
	}
	switch v.Kind() {
	case engine.KindObject:
		return c.checkObject(s, v)
	case engine.KindList:
		return c.checkList(s, v)
	case engine.KindString:
		if s.sizes.minLength.IsNull() && s.sizes.maxLength.IsNull() {
			return nil
		}
		return checkSize("characters", utf8.RuneCountInString(v.Str()), s.sizes.minLength, s.sizes.maxLength)
	case engine.KindNumber:
		least, most := s.sizes.minimum, s.sizes.maximum
		if !least.IsNull() && engine.CompareNumbers(v, least) < 0 || !most.IsNull() &&
			engine.CompareNumbers(v, most) > 0 {
			return mismatched("%s is outside the allowed range", shown(v))
		}
	}
	return nil
}

func (c *checker) checkAny(s *Schema, v engine.Value) *mismatch {
	var first *mismatch
	for _, one := range s.anyOf {
		m := c.check(one, v)
		if m == nil || c.left < 0 {
			return m
		}
		if first == nil {
			first = m
		}
	}
	return first
}

func (c *checker) checkObject(s *Schema, v engine.Value) *mismatch {
	for _, name := range s.required {
		if _, ok := v.Lookup(name); !ok {
			return mismatched("missing").at("." + short(name))
		}
	}
	if len(s.properties) == 0 && s.rest == nil && !s.closed {
		return nil
	}
	for i := range v.Len() {
		name, value := v.Key(i), v.At(i)
		sub, ok := s.properties[name]
		switch {
		case ok:
		case s.closed:
			return mismatched("not declared").at("." + short(name))
		default:
			sub = s.rest
		}
		if m := c.check(sub, value); m != nil {
			return m.at("." + short(name))
		}
	}
	return nil
}

func (c *checker) checkList(s *Schema, v engine.Value) *mismatch {
	if m := checkSize("items", v.Len(), s.sizes.minItems, s.sizes.maxItems); m != nil || s.items == nil {
		return m
	}
	for i := range v.Len() {
		if m := c.check(s.items, v.At(i)); m != nil {
			return m.at("[" + strconv.Itoa(i) + "]")
		}
	}
	return nil
}

func checkSize(what string, n int, least, most engine.Value) *mismatch {
	if min, ok := least.Int(); ok && int64(n) < min {
		return mismatched("%d %s, want at least %d", n, what, min)
	}
	if max, ok := most.Int(); ok && int64(n) > max {
		return mismatched("%d %s, want at most %d", n, what, max)
	}
	return nil
}

// typeName returns the JSON Schema type of a value.
func typeName(v engine.Value) string { return v.Kind().SchemaType() }

// maxShown limits a value in a message, in bytes.
const maxShown = 200

// short truncates a string to maxShown bytes.
func short(text string) string {
	if len(text) > maxShown {
		return strings.ToValidUTF8(text[:maxShown], "") + "…"
	}
	return text
}

// shown formats a value for a message.
func shown(v engine.Value) string {
	if v.IsNull() {
		return "null"
	}
	return short(v.Text())
}

func shownAll(list []engine.Value) string {
	text := "["
	for i, v := range list {
		if i > 0 {
			text += " "
		}
		if text += shown(v); len(text) > maxShown {
			break
		}
	}
	return short(text + "]")
}
