package template

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// value is the value of an expression: none, bool, int64, digits, float64, string, safe, hollow,
// *undefined, *list, *dict, *span, *generator, or an object or invoker. A Go nil means a value
// that does not exist, such as an omitted argument.
type value = any

// none is null.
type none struct{}

// safe is a string that needs no HTML escaping.
type safe string

// hollow is the string form of a false value: "0", "false", "[]" or "{}". It prints as that string
// but is false, and it has no characters and the length 0.
type hollow string

func (hollow) size() int { return 0 }

// undefined is a missing name, attribute or item. It prints as nothing; most other uses fail.
type undefined struct{ reason string }

func undefinedf(format string, args ...any) *undefined {
	return &undefined{fmt.Sprintf(format, args...)}
}

// object is a value with attributes. The attribute is nil if the name is unknown.
type object interface {
	attr(r *render, name string) value
}

// invoker is a value that can be called.
type invoker interface {
	invoke(r *render, a *args) value
}

// sized is a value with a number of elements.
type sized interface{ size() int }

// list is a list, tuple or view of an object. Only a list can change. A list of the engine is
// converted on first use.
type list struct {
	items  []value
	source engine.Value // the list until it is converted, then null
	kind   listKind
	names  []string // of the elements, if they are attributes, as in "groupby"
}

type listKind uint8

const (
	plainList listKind = iota
	tuple
	keysView // the views have no indexes
	valuesView
	itemsView
)

func newList(items []value) *list { return &list{items: items} }

func newTuple(items ...value) *list { return &list{items: items, kind: tuple} }

// asSequence returns a list or tuple; ok is false for other values.
func asSequence(v value) (l *list, ok bool) {
	l, ok = v.(*list)
	return l, ok && l.kind <= tuple
}

func (l *list) size() int { return max(len(l.items), l.source.Len()) }

// all returns the elements without copying them.
func (l *list) all() []value {
	if !l.source.IsNull() {
		l.items = make([]value, 0, l.source.Len())
		for _, e := range l.source.Elements() {
			l.items = append(l.items, fromEngine(e))
		}
		l.source = engine.Null
	}
	return l.items
}

func (l *list) attr(_ *render, name string) value {
	for i, n := range l.names {
		if n == name {
			return l.items[i]
		}
	}
	return nil
}

// span is a range of integers.
type span struct{ start, stop, step int }

func (s *span) size() int {
	switch {
	case s.step > 0 && s.stop > s.start:
		return (s.stop-s.start-1)/s.step + 1
	case s.step < 0 && s.stop < s.start:
		return (s.start-s.stop-1)/-s.step + 1
	}
	return 0
}

func (s *span) at(i int) value { return int64(s.start + i*s.step) }

// generator returns its elements once, one by one. They are computed on the first request.
type generator struct {
	start func() []value // nil after the call
	items []value
}

func (g *generator) next() (v value, ok bool) {
	if g.start != nil {
		g.items, g.start = g.start(), nil
	}
	if len(g.items) == 0 {
		return nil, false
	}
	v, g.items = g.items[0], g.items[1:]
	return v, true
}

// fromEngine converts a value of the engine. Lists and objects are converted on first use.
func fromEngine(v engine.Value) value {
	switch v.Kind() {
	case engine.KindNull:
		return none{}
	case engine.KindBool:
		return v.True()
	case engine.KindNumber:
		if text := v.Text(); !strings.ContainsAny(text, ".eE") {
			if n, _ := parseInteger(text, 10); n != nil {
				return n
			}
		}
		return parseFloat(v.Text())
	case engine.KindString:
		return v.Str()
	case engine.KindList:
		return &list{source: v}
	case engine.KindObject:
		return &dict{source: v}
	}
	return v.Text()
}

// fromText returns text as the string form of v. It is false in conditions if v is false.
func fromText(v engine.Value, text string) value {
	if v.Truthy() || v.Kind() == engine.KindString || text == "" {
		return text
	}
	return hollow(text)
}

// asText returns the content of a string; ok is false for other values.
func asText(v value) (s string, ok bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case safe:
		return string(v), true
	case hollow:
		return string(v), true
	}
	return "", false
}

// like returns s, as a safe string if v is one.
func like(v value, s string) value {
	if isSafe(v) {
		return safe(s)
	}
	return s
}

func isSafe(v value) bool {
	_, ok := v.(safe)
	return ok
}

func isUndefined(v value) bool {
	_, ok := v.(*undefined)
	return ok
}

// isNone reports whether an argument is none or omitted.
func isNone(v value) bool {
	_, ok := v.(none)
	return ok || v == nil
}

// truth reports whether v is true in a condition.
func truth(v value) bool {
	switch v := v.(type) {
	case none, *undefined:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case safe:
		return v != ""
	case sized:
		return v.size() > 0
	}
	return true
}

// typeName returns the type of v for error messages.
func typeName(v value) string {
	switch v := v.(type) {
	case none:
		return "none"
	case bool:
		return "boolean"
	case int64, digits:
		return "integer"
	case float64:
		return "float"
	case string, safe, hollow:
		return "string"
	case *undefined:
		return "undefined"
	case *list:
		return [...]string{"list", "tuple", "dict_keys", "dict_values", "dict_items"}[v.kind]
	case *dict:
		return "object"
	case *span:
		return "range"
	case *generator:
		return "generator"
	case *namespace:
		return "namespace"
	case *loop:
		return "loop"
	}
	return "function"
}

// describe returns v for error messages.
func describe(r *render, v value) string {
	name := typeName(v)
	switch v.(type) {
	case *undefined:
		return "an undefined value"
	case none:
		return name
	case bool, int64, float64:
		return "the " + name + " " + str(r, v)
	}
	if s, ok := asText(v); ok {
		if len(s) > 40 {
			s = s[:offset(s, 40)] + "..."
		}
		return "the string " + strconv.Quote(s)
	}
	return "a value of type " + name
}

// needDefined fails if v is undefined.
func (r *render) needDefined(v value) {
	if u, ok := v.(*undefined); ok {
		r.fail("%s", u.reason)
	}
}

// needText returns the content of a string and fails for other values.
func (r *render) needText(v value) string {
	s, ok := asText(v)
	if !ok {
		r.needDefined(v)
		r.fail("expected a string, got %s", describe(r, v))
	}
	return s
}

// maxIndex bounds indexes and lengths far from overflow. Larger ones have the same effect.
const maxIndex = 1 << 60

// needInt returns v as an index or length and fails for values that are not integers.
func (r *render) needInt(v value) int {
	r.needDefined(v)
	switch n := number(v).(type) {
	case int64:
		return int(min(max(n, -maxIndex), maxIndex))
	case digits:
		tooLarge(r)
	}
	r.fail("expected an integer, got %s", typeName(v))
	return 0
}
