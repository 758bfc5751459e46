package engine

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/easel-canvas/easel/engine/stable"
)

// AppendJSON appends v as compact JSON. A stream that was not read is written as null.
func (v Value) AppendJSON(dst []byte) []byte { return v.appendJSON(dst, ",", ":") }

// AppendText appends v as JSON inside text is written: ", " and ": " between parts, non-ASCII kept.
func (v Value) AppendText(dst []byte) []byte { return v.appendJSON(dst, ", ", ": ") }

func (v Value) appendJSON(dst []byte, comma, colon string) []byte {
	switch v.kind {
	case KindBool, KindNumber:
		return append(dst, v.text...)
	case KindString:
		return AppendQuoted(dst, v.text)
	case KindList:
		dst = append(dst, '[')
		for i, e := range v.tree.vals {
			if i > 0 {
				dst = append(dst, comma...)
			}
			dst = e.appendJSON(dst, comma, colon)
		}
		return append(dst, ']')
	case KindObject:
		dst = append(dst, '{')
		for i, e := range v.tree.vals {
			if i > 0 {
				dst = append(dst, comma...)
			}
			dst = AppendQuoted(dst, v.tree.keys[i])
			dst = append(dst, colon...)
			dst = e.appendJSON(dst, comma, colon)
		}
		return append(dst, '}')
	}
	return append(dst, "null"...)
}

const hexDigits = "0123456789abcdef"

// AppendQuoted appends s as a JSON string: control characters, quotes and backslashes escaped,
// bytes that are not UTF-8 replaced by U+FFFD, everything else as it is.
func AppendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plain[c] {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(append(dst, s[from:i]...), "\uFFFD"...)
				from = i + 1
			}
			i += n
			continue
		}
		dst = append(dst, s[from:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}

// plain marks the bytes that need no escape in a JSON string.
var plain = func() (t [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// JSON returns v as compact JSON.
func (v Value) JSON() string { return string(v.AppendJSON(nil)) }

// Text returns v as it is written inside a text: null as nothing, a string as it is, anything else
// as JSON with ", " and ": ".
func (v Value) Text() string {
	switch v.kind {
	case KindNull, KindStream:
		return ""
	case KindString, KindNumber, KindBool:
		return v.text
	}
	return string(v.AppendText(nil))
}

// String returns v.Text(), so that values can be printed.
func (v Value) String() string { return v.Text() }

// MarshalJSON implements json.Marshaler.
func (v Value) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil), nil }

// UnmarshalJSON implements json.Unmarshaler.
func (v *Value) UnmarshalJSON(data []byte) error {
	parsed, err := ParseJSON(data)
	if err != nil {
		return err
	}
	*v = parsed
	return nil
}

// FromGo converts a plain Go value: nil, bool, string, int, int64, float64, Value, slices of any,
// string or Value, and map[string]any (members sorted by name). Other types are printed with fmt.
func FromGo(x any) Value {
	switch x := x.(type) {
	case nil:
		return Null
	case Value:
		return x
	case bool:
		return Bool(x)
	case string:
		return String(x)
	case int:
		return Int(int64(x))
	case int64:
		return Int(x)
	case float64:
		return Float(x)
	case []string:
		return Strings(x...)
	case []Value:
		return List(x...)
	case []any:
		vals := make([]Value, len(x))
		for i, e := range x {
			vals[i] = FromGo(e)
		}
		return listOf(vals)
	case map[string]any:
		b := NewObject(len(x))
		for _, k := range sortedKeys(x) {
			b.Set(k, FromGo(x[k]))
		}
		return b.Value()
	}
	return String(fmt.Sprint(x))
}

func sortedKeys(m map[string]any) []string { return stable.Strings(slices.Collect(maps.Keys(m))) }
