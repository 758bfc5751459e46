package schema

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/easel-canvas/easel/engine"
)

// pythonText formats a value like Python's str.
func pythonText(v engine.Value) string {
	if v.Kind() == engine.KindString {
		return v.Str()
	}
	return Repr(v)
}

// Repr formats a value like Python's repr.
func Repr(v engine.Value) string {
	switch v.Kind() {
	case engine.KindNull:
		return "None"
	case engine.KindBool:
		if v.True() {
			return "True"
		}
		return "False"
	case engine.KindString:
		return ReprText(v.Str())
	case engine.KindList:
		parts := make([]string, 0, v.Len())
		for _, x := range v.Elements() {
			parts = append(parts, Repr(x))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case engine.KindObject:
		parts := make([]string, 0, v.Len())
		for k, x := range v.Fields() {
			parts = append(parts, ReprText(k)+": "+Repr(x))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return v.Text()
}

// ReprText formats a string like Python's repr: in single quotes unless only those are in it.
func ReprText(s string) string {
	quote := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	var b strings.Builder
	b.WriteRune(quote)
	for _, r := range s {
		switch {
		case r == quote || r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteRune(quote)
	return b.String()
}

// TypeName returns Python's name for the type of a value.
func TypeName(v engine.Value) string {
	switch v.Kind() {
	case engine.KindNull:
		return "NoneType"
	case engine.KindBool:
		return "bool"
	case engine.KindString:
		return "str"
	case engine.KindList:
		return "list"
	case engine.KindObject:
		return "dict"
	}
	if strings.ContainsAny(v.Text(), ".eE") {
		return "float"
	}
	return "int"
}
