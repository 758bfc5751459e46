package template

import (
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// value is anything an expression can give: none, bool, int64, digits, float64, string, safe, hollow, *undefined,
// *list, *tuple, *dict, *view, *span, *generator, or something with attributes or a call (see object and invoker). A
// Go nil is no value; it stands for an argument that was not given.
type value = any

// none is null.
type none struct{}

// safe is a text that needs no HTML escaping.
type safe string

// hollow is the text of a value that counts as false: "0", "false", "[]" or "{}". It reads as that text, but a
// condition on it does not hold, it has no characters to go over, and its length is 0.
type hollow string

func (hollow) size() int { return 0 }

// undefined is what a missing name, attribute or item gives. It prints as nothing and fails on the next step.
type undefined struct{ reason string }

// object is a value with attributes of its own; attr gives nil for an unknown name.
type object interface {
	attr(r *render, name string) value
}

// invoker is a value that can be called.
type invoker interface {
	invoke(r *render, a *args) value
}

// fromEngine wraps a value of the engine. Lists and objects are unpacked when they are first looked into.
func fromEngine(v engine.Value) value {
	switch v.Kind() {
	case engine.KindNull:
		return none{}
	case engine.KindBool:
		return v.True()
	case engine.KindNumber:
		return fromNumber(v.Text())
	case engine.KindString:
		return v.Str()
	case engine.KindList:
		return &list{source: v}
	case engine.KindObject:
		return &dict{source: v}
	}
	return v.Text()
}

// fromText is a value as the text it is shown as. What is false stays false.
func fromText(v engine.Value, text string) value {
	if v.Truthy() || v.Kind() == engine.KindString || text == "" {
		return text
	}
	return hollow(text)
}

// fromNumber reads a JSON number: digits only make an integer of any size, anything else a float.
func fromNumber(s string) value {
	if strings.ContainsAny(s, ".eE") {
		return parseFloat(s)
	}
	if n, _ := parseInteger(s, 10); n != nil {
		return n
	}
	return parseFloat(s)
}

// asText is the text of a string, escaped or not; ok is false for anything else.
//
//go:noinline
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

// like gives s the kind of the text it was made of: what comes from an escaped text stays escaped.
//
//go:noinline
func like(v value, s string) value {
	if _, ok := v.(safe); ok {
		return safe(s)
	}
	return s
}

func isUndefined(v value) bool {
	_, ok := v.(*undefined)
	return ok
}

// truth reports whether v counts as true.
func (r *render) truth(v value) bool {
	switch v := v.(type) {
	case none, *undefined:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case digits:
		return true
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

// typeName names the type of v in error messages.
//
//go:noinline
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
		return "list"
	case *tuple:
		return "tuple"
	case *dict:
		return "object"
	case *view:
		return v.name()
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

// needDefined fails when v is undefined, with the reason why it is.
func (r *render) needDefined(v value) {
	if u, ok := v.(*undefined); ok {
		r.fail("%s", u.reason)
	}
}
