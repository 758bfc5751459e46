package engine

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth is the deepest accepted nesting of JSON.
const MaxDepth = 500

// SyntaxError is the position of a syntax error in JSON.
type SyntaxError struct {
	Line, Column int // 1-based; the column counts bytes
	Reason       string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("invalid JSON at line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

// ParseJSON reads one JSON text. Keys keep their order (the last of equal keys wins, at the first
// one's place) and numbers keep their text. Bytes that are not UTF-8 become U+FFFD.
func ParseJSON(data []byte) (Value, error) { return ParseJSONText(string(data)) }

// ParseJSONText is ParseJSON for a string. Strings of the result may share its memory.
func ParseJSONText(s string) (Value, error) { return ParseJSONReserving(s, nil) }

// ParseJSONReserving is ParseJSONText for untrusted input: a list of zeros takes 16 times the
// memory of its text, nested lists 60 times. reserve is called with the number of bytes before they
// are allocated, mostly once, and its error ends the parsing. A nil reserve allows everything.
func ParseJSONReserving(s string, reserve func(n int64) error) (Value, error) {
	l, err := measure(s, reserve)
	if err != nil {
		return Null, err
	}
	p := parser{s: s, layout: l}
	p.space()
	v, ok := p.value(0)
	if ok {
		p.space()
		if p.i < len(s) {
			ok = p.fail("unexpected text after the value")
		}
	}
	if !ok {
		return Null, p.error()
	}
	return v, nil
}

// JSONSize returns the number of bytes ParseJSONText allocates for a text.
func JSONSize(s string) (n int64) {
	_, _ = measure(s, func(more int64) error { // this one never fails
		n += more
		return nil
	})
	return n
}

// parser reads JSON by recursive descent; MaxDepth bounds the recursion.
type parser struct {
	s      string
	i      int
	reason string
	layout
}

// count returns the number of entries the list or object has that begins here and is not empty. An
// entry takes at least width bytes of the text; a text that is not JSON may claim more than it can
// hold.
func (p *parser) count(width int) int {
	if len(p.counts) == 0 {
		return 0 // measuring stopped where parsing will
	}
	n := p.counts[0]
	p.counts = p.counts[1:]
	return min(int(n), (len(p.s)-p.i)/width+1)
}

func (p *parser) fail(reason string) bool {
	if p.reason == "" {
		p.reason = reason
	}
	return false
}

func (p *parser) error() error {
	i := min(p.i, len(p.s))
	line := 1 + strings.Count(p.s[:i], "\n")
	column := i - strings.LastIndexByte(p.s[:i], '\n')
	return &SyntaxError{Line: line, Column: column, Reason: p.reason}
}

func (p *parser) space() {
	for p.i < len(p.s) {
		switch p.s[p.i] {
		case ' ', '\n', '\t', '\r':
			p.i++
		default:
			return
		}
	}
}

func (p *parser) value(depth int) (Value, bool) {
	if p.i >= len(p.s) {
		return Null, p.fail("the text ends too early")
	}
	if depth > MaxDepth {
		return Null, p.fail("nested deeper than " + strconv.Itoa(MaxDepth))
	}
	switch c := p.s[p.i]; {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.list(depth)
	case c == '"':
		s, ok := p.str()
		return String(s), ok
	case c == '-' || c >= '0' && c <= '9':
		end := numberEnd(p.s, p.i)
		if end < 0 {
			return Null, p.fail("malformed number")
		}
		v := Value{kind: KindNumber, text: p.s[p.i:end]}
		p.i = end
		return v, true
	}
	for _, w := range words {
		if strings.HasPrefix(p.s[p.i:], w.text) {
			p.i += len(w.text)
			return w.value, true
		}
	}
	return Null, p.fail(fmt.Sprintf("unexpected %q", firstRune(p.s[p.i:])))
}

var words = [...]struct {
	text  string
	value Value
}{{"null", Null}, {"true", Bool(true)}, {"false", Bool(false)}}

func firstRune(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return s[:n]
}

func (p *parser) object(depth int) (Value, bool) {
	p.i++
	if p.space(); p.i < len(p.s) && p.s[p.i] == '}' {
		p.i++
		return emptyObject, true
	}
	var b ObjectBuilder
	b.grow(p.count(len(`"":0,`)))
	for ; p.i < len(p.s) && p.s[p.i] != '}'; p.space() {
		if b.Len() > 0 {
			if p.s[p.i] != ',' {
				return Null, p.fail("expected , or } in an object")
			}
			p.i++
			p.space()
		}
		if p.i >= len(p.s) || p.s[p.i] != '"' {
			return Null, p.fail("expected a name in quotes")
		}
		key, ok := p.str()
		if !ok {
			return Null, false
		}
		p.space()
		if p.i >= len(p.s) || p.s[p.i] != ':' {
			return Null, p.fail("expected : after a name")
		}
		p.i++
		p.space()
		v, ok := p.value(depth + 1)
		if !ok {
			return Null, false
		}
		b.Set(key, v)
	}
	if p.i >= len(p.s) {
		return Null, p.fail("the text ends inside an object")
	}
	p.i++
	return b.Value(), true
}

func (p *parser) list(depth int) (Value, bool) {
	p.i++
	if p.space(); p.i < len(p.s) && p.s[p.i] == ']' {
		p.i++
		return emptyList, true
	}
	vals := make([]Value, 0, p.count(len(`0,`)))
	for ; p.i < len(p.s) && p.s[p.i] != ']'; p.space() {
		if len(vals) > 0 {
			if p.s[p.i] != ',' {
				return Null, p.fail("expected , or ] in a list")
			}
			p.i++
			p.space()
		}
		v, ok := p.value(depth + 1)
		if !ok {
			return Null, false
		}
		vals = append(vals, v)
	}
	if p.i >= len(p.s) {
		return Null, p.fail("the text ends inside a list")
	}
	p.i++
	return listOf(vals), true
}

// str reads a quoted string; without escapes it shares the memory of the text.
func (p *parser) str() (string, bool) {
	p.i++
	start := p.i
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case c == '"':
			s := p.s[start:p.i]
			p.i++
			return p.text(s), true
		case c == '\\':
			return p.escaped(start)
		case c < ' ':
			return "", p.fail("control character in a string")
		}
		p.i++
	}
	return "", p.fail("the text ends inside a string")
}

// text returns a string of the text, with U+FFFD for invalid UTF-8.
func (p *parser) text(s string) string {
	if p.valid {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// escaped continues at the first escape. No escape is shorter than its character.
func (p *parser) escaped(start int) (string, bool) {
	end, _ := stringEnd(p.s, p.i)
	var b strings.Builder
	b.Grow(end - start)
	for from := start; ; from = p.i {
		for p.i < len(p.s) && p.s[p.i] != '"' && p.s[p.i] != '\\' && p.s[p.i] >= ' ' {
			p.i++
		}
		b.WriteString(p.s[from:p.i])
		switch {
		case p.i < len(p.s) && p.s[p.i] == '"':
			p.i++
			return p.text(b.String()), true
		case p.i < len(p.s) && p.s[p.i] < ' ':
			return "", p.fail("control character in a string")
		case p.i+1 >= len(p.s):
			return "", p.fail("the text ends inside a string")
		}
		e := p.s[p.i+1]
		p.i += 2
		if e == 'u' {
			r, ok := p.unicode()
			if !ok {
				return "", false
			}
			b.WriteRune(r)
			continue
		}
		k := strings.IndexByte(`"\/bfnrt`, e)
		if k < 0 {
			p.i--
			return "", p.fail(`unknown escape after \`)
		}
		b.WriteByte("\"\\/\b\f\n\r\t"[k])
	}
}

// unicode reads the four digits after \u, and a second half when they are a surrogate; a lone half
// becomes U+FFFD.
func (p *parser) unicode() (rune, bool) {
	r, ok := p.hex4(p.i)
	if !ok {
		return 0, p.fail(`expected four hex digits after \u`)
	}
	p.i += 4
	if !utf16.IsSurrogate(r) {
		return r, true
	}
	if strings.HasPrefix(p.s[p.i:], `\u`) {
		if low, ok := p.hex4(p.i + 2); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				p.i += 6
				return pair, true
			}
		}
	}
	return utf8.RuneError, true
}

func (p *parser) hex4(i int) (rune, bool) {
	if i+4 > len(p.s) {
		return 0, false
	}
	n, err := strconv.ParseUint(p.s[i:i+4], 16, 32)
	return rune(n), err == nil
}

// numberEnd returns the index behind the JSON number that starts at i, or -1.
func numberEnd(s string, i int) int {
	if i < len(s) && s[i] == '-' {
		i++
	}
	first := i
	i = digits(s, i)
	if i == first || s[first] == '0' && i > first+1 {
		return -1
	}
	if i < len(s) && s[i] == '.' {
		frac := i + 1
		if i = digits(s, frac); i == frac {
			return -1
		}
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		exp := i
		if i = digits(s, exp); i == exp {
			return -1
		}
	}
	return i
}

func digits(s string, i int) int {
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return i
}
