package component

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/easel-canvas/easel/engine"
)

// Models and scripts often return Python literals instead of JSON: {'a': [1, (2, None)], 'b':
// True}. Tuples and sets become lists; keys that are not strings become strings.

// literalDepth bounds the nesting of literals.
const literalDepth = 200

// looksLiteral reports whether a text may be a literal: it starts with a bracket or quote, or is a
// number or one of three words.
func looksLiteral(s string) bool {
	s = strings.TrimSpace(s)
	if s == "" {
		return false
	}
	if strings.IndexByte(`{[('"`, s[0]) >= 0 {
		return true
	}
	switch strings.ToLower(s) {
	case "true", "false", "none":
		return true
	}
	return strings.Trim(s, "0123456789.") == ""
}

// readLiteral parses one literal; ok is false if the text is not one.
func readLiteral(s string) (v engine.Value, ok bool) {
	r := literalReader{s: strings.TrimSpace(s)}
	v, ok = r.value(0)
	r.space()
	return v, ok && r.i == len(r.s)
}

type literalReader struct {
	s string
	i int
}

func (r *literalReader) peek() byte {
	if r.i < len(r.s) {
		return r.s[r.i]
	}
	return 0
}

func (r *literalReader) space() {
	for r.i < len(r.s) && strings.IndexByte(" \t\r\n\f", r.s[r.i]) >= 0 {
		r.i++
	}
}

func (r *literalReader) value(depth int) (engine.Value, bool) {
	r.space()
	if depth > literalDepth {
		return engine.Null, false
	}
	switch c := r.peek(); {
	case c == '{':
		return r.braces(depth)
	case c == '[':
		vals, _, ok := r.items(']', depth)
		return engine.List(vals...), ok
	case c == '(':
		vals, commas, ok := r.items(')', depth)
		if ok && len(vals) == 1 && commas == 0 {
			return vals[0], true
		}
		return engine.List(vals...), ok
	case c == '\'' || c == '"':
		return r.texts()
	case c == '-' || c == '+' || c == '.' || c >= '0' && c <= '9':
		return r.number()
	}
	return r.word()
}

// items reads elements up to the closing bracket.
func (r *literalReader) items(closing byte, depth int) (vals []engine.Value, commas int, ok bool) {
	r.i++
	for {
		r.space()
		if r.peek() == closing && r.i < len(r.s) {
			r.i++
			return vals, commas, commas > 0 == (len(vals) > 0) || len(vals) == 1
		}
		if len(vals) > commas {
			return nil, 0, false
		}
		v, ok := r.value(depth + 1)
		if !ok {
			return nil, 0, false
		}
		vals = append(vals, v)
		if r.space(); r.peek() == ',' {
			r.i++
			commas++
		}
	}
}

// braces reads a dict or a set.
func (r *literalReader) braces(depth int) (engine.Value, bool) {
	start := r.i
	r.i++
	b := engine.NewObject(4)
	for {
		if r.space(); r.peek() == '}' {
			r.i++
			return b.Value(), true
		}
		key, ok := r.value(depth + 1)
		if !ok {
			return engine.Null, false
		}
		if r.space(); r.peek() != ':' {
			if b.Len() > 0 {
				return engine.Null, false
			}
			r.i = start
			vals, _, ok := r.items('}', depth)
			return engine.List(vals...), ok
		}
		r.i++
		v, ok := r.value(depth + 1)
		if !ok {
			return engine.Null, false
		}
		name, ok := memberName(key)
		if !ok {
			return engine.Null, false
		}
		b.Set(name, v)
		switch r.space(); r.peek() {
		case ',':
			r.i++
		case '}':
		default:
			return engine.Null, false
		}
	}
}

// memberName returns a key as a string.
func memberName(key engine.Value) (string, bool) {
	switch key.Kind() {
	case engine.KindList, engine.KindObject:
		return "", false
	case engine.KindNull:
		return "null", true
	}
	return key.Text(), true
}

var literalWords = [...]struct {
	text  string
	value engine.Value
}{{"True", engine.Bool(true)}, {"False", engine.Bool(false)}, {"None", engine.Null}}

func (r *literalReader) word() (engine.Value, bool) {
	for _, w := range literalWords {
		if strings.HasPrefix(r.s[r.i:], w.text) {
			r.i += len(w.text)
			return w.value, true
		}
	}
	return engine.Null, false
}

// number reads a decimal number; integers have no leading zeros.
func (r *literalReader) number() (engine.Value, bool) {
	start := r.i
	if c := r.peek(); c == '-' || c == '+' {
		r.i++
	}
	digits := r.i
	for r.i < len(r.s) && isNumberByte(r.s[r.i], r.s[r.i-min(r.i, 1)]) {
		r.i++
	}
	text := strings.TrimPrefix(r.s[start:r.i], "+")
	whole := r.s[digits:r.i]
	if !strings.ContainsAny(whole, ".eE") {
		if strings.Trim(whole, "0") == "" && whole != "" {
			return engine.Int(0), true
		}
		return engine.ParseNumber(text)
	}
	if v, ok := engine.ParseNumber(text); ok && !strings.ContainsAny(text, "eE") {
		return v, true
	}
	f, err := strconv.ParseFloat(text, 64)
	return engine.Float(f), err == nil && !engine.Float(f).IsNull()
}

func isNumberByte(c, before byte) bool {
	return c >= '0' && c <= '9' || c == '.' || c == 'e' || c == 'E' || (c == '-' || c == '+') &&
		(before == 'e' || before == 'E')
}

// texts reads one string, or several adjacent ones, which are concatenated.
func (r *literalReader) texts() (engine.Value, bool) {
	var b strings.Builder
	for {
		if !r.quoted(&b) {
			return engine.Null, false
		}
		if r.space(); r.peek() != '\'' && r.peek() != '"' {
			return engine.String(b.String()), true
		}
	}
}

func (r *literalReader) quoted(b *strings.Builder) bool {
	quote := r.s[r.i : r.i+1]
	if long := strings.Repeat(quote, 3); strings.HasPrefix(r.s[r.i:], long) {
		quote = long
	}
	r.i += len(quote)
	for r.i < len(r.s) {
		switch rest := r.s[r.i:]; {
		case strings.HasPrefix(rest, quote):
			r.i += len(quote)
			return true
		case rest[0] == '\\' && len(rest) > 1:
			if !r.escape(b) {
				return false
			}
		case rest[0] == '\n' && len(quote) == 1:
			return false
		default:
			b.WriteByte(rest[0])
			r.i++
		}
	}
	return false
}

// escape reads an escape after its backslash; an unknown one stays as it is.
func (r *literalReader) escape(b *strings.Builder) bool {
	c := r.s[r.i+1]
	r.i += 2
	if k := strings.IndexByte("\\'\"abfnrtv", c); k >= 0 {
		b.WriteByte("\\'\"\a\b\f\n\r\t\v"[k])
		return true
	}
	switch c {
	case '\n':
		return true
	case 'x':
		return r.code(b, 2)
	case 'u':
		return r.code(b, 4)
	case 'U':
		return r.code(b, 8)
	}
	if c >= '0' && c <= '7' {
		end := r.i
		for end < len(r.s) && end < r.i+2 && r.s[end] >= '0' && r.s[end] <= '7' {
			end++
		}
		n, err := strconv.ParseUint(r.s[r.i-1:end], 8, 16)
		b.WriteRune(rune(n))
		r.i = end
		return err == nil
	}
	b.WriteByte('\\')
	b.WriteByte(c)
	return true
}

// code reads a character of that many hex digits.
func (r *literalReader) code(b *strings.Builder, digits int) bool {
	if r.i+digits > len(r.s) {
		return false
	}
	n, err := strconv.ParseUint(r.s[r.i:r.i+digits], 16, 32)
	if err != nil || n > utf8.MaxRune {
		return false
	}
	b.WriteRune(rune(n))
	r.i += digits
	return true
}

// literal parses text that is as a whole JSON or a Python literal. If the value would exceed the
// limit of an output, the text stays a string.
func literal(text string) (engine.Value, bool) {
	if engine.CheckParse(text) != nil {
		return engine.Null, false
	}
	if v, err := engine.ParseJSONText(text); err == nil {
		return v, true
	}
	return readLiteral(text)
}
