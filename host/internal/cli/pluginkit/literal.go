package pluginkit

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// readLiteral parses the Python literal or JSON value at the start of s: dicts, lists, tuples,
// strings, numbers, True, False and None. It returns values of the types of encoding/json. Text
// after the literal is ignored.
func readLiteral(s string) (any, error) {
	p := &literal{s: s}
	v, err := p.value(0)
	if err != nil {
		return nil, fmt.Errorf("line %d: %w", 1+strings.Count(s[:min(p.i, len(s))], "\n"), err)
	}
	return v, nil
}

// literal is a parser and its position.
type literal struct {
	s string
	i int
}

// maxLiteralDepth bounds the nesting of values.
const maxLiteralDepth = 100

// space skips white space, comments and line continuations.
func (p *literal) space() {
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case c == '#':
			for p.i < len(p.s) && p.s[p.i] != '\n' {
				p.i++
			}
		case c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\\' && strings.HasPrefix(p.s[p.i:], "\\\n"):
			p.i++
		default:
			return
		}
	}
}

func (p *literal) take(c byte) bool {
	p.space()
	if p.i < len(p.s) && p.s[p.i] == c {
		p.i++
		return true
	}
	return false
}

func (p *literal) value(depth int) (any, error) {
	p.space()
	switch {
	case depth > maxLiteralDepth:
		return nil, errors.New("values are nested deeper than 100 levels")
	case p.i >= len(p.s):
		return nil, errors.New("unexpected end of the metadata")
	case p.take('{'):
		return p.dict(depth)
	case p.take('['):
		return p.list(depth, ']')
	case p.take('('):
		return p.tuple(depth)
	}
	if prefix := p.textPrefix(); prefix != "-" {
		return p.texts()
	}
	return p.word()
}

// textPrefix returns the letters before a quote, or - if no string starts here.
func (p *literal) textPrefix() string {
	for n := 0; n <= 2 && p.i+n < len(p.s); n++ {
		switch c := p.s[p.i+n]; {
		case c == '"' || c == '\'':
			return p.s[p.i : p.i+n]
		case !strings.ContainsRune("rRuUbBfF", rune(c)):
			return "-"
		}
	}
	return "-"
}

// texts reads one or more adjacent strings, which Python joins.
func (p *literal) texts() (any, error) {
	var b strings.Builder
	for {
		prefix := p.textPrefix()
		if prefix == "-" {
			return b.String(), nil
		}
		if strings.ContainsAny(prefix, "fFbB") {
			return nil, fmt.Errorf("string prefix %s is not supported: replace the string by its value", prefix)
		}
		p.i += len(prefix)
		if err := p.text(&b, strings.ContainsAny(prefix, "rR")); err != nil {
			return nil, err
		}
		p.space()
	}
}

// text reads one quoted string.
func (p *literal) text(b *strings.Builder, raw bool) error {
	quote := p.s[p.i : p.i+1]
	if strings.HasPrefix(p.s[p.i:], strings.Repeat(quote, 3)) {
		quote = p.s[p.i : p.i+3]
	}
	p.i += len(quote)
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case strings.HasPrefix(p.s[p.i:], quote):
			p.i += len(quote)
			return nil
		case c == '\n' && len(quote) == 1:
			return errors.New("unterminated string")
		case c == '\\' && p.i+1 < len(p.s) && !raw:
			p.escape(b)
		case c == '\\' && p.i+1 < len(p.s): // in a raw string the backslash stays
			b.WriteString(p.s[p.i : p.i+2])
			p.i += 2
		default:
			b.WriteByte(c)
			p.i++
		}
	}
	return errors.New("unterminated string")
}

// escapes maps the letter of an escape to its value.
var escapes = map[byte]string{
	'n': "\n", 't': "\t", 'r': "\r", 'b': "\b", 'f': "\f", 'v': "\v", 'a': "\a", '0': "\x00",
	'\\': "\\", '\'': "'", '"': "\"", '/': "/", '\n': "",
}

// escape reads an escape sequence. A backslash before another character stays, as in Python.
func (p *literal) escape(b *strings.Builder) {
	c := p.s[p.i+1]
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
	if digits > 0 && p.i+2+digits <= len(p.s) {
		if code, err := strconv.ParseUint(p.s[p.i+2:p.i+2+digits], 16, 32); err == nil {
			p.i += 2 + digits
			b.WriteRune(p.pair(rune(code)))
			return
		}
	}
	p.i += 2
	if as, ok := escapes[c]; ok {
		b.WriteString(as)
		return
	}
	b.WriteByte('\\')
	b.WriteByte(c)
}

// pair joins a surrogate pair, as JSON writes it.
func (p *literal) pair(code rune) rune {
	if code < 0xD800 || code >= 0xDC00 || p.i+6 > len(p.s) || p.s[p.i:p.i+2] != "\\u" {
		return code // WriteRune writes a lone surrogate as U+FFFD
	}
	low, err := strconv.ParseUint(p.s[p.i+2:p.i+6], 16, 32)
	if err != nil || low < 0xDC00 || low > 0xDFFF {
		return code
	}
	p.i += 6
	return (code-0xD800)<<10 + rune(low) - 0xDC00 + 0x10000
}

func (p *literal) dict(depth int) (any, error) {
	out := map[string]any{}
	for !p.take('}') {
		key, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		name, ok := key.(string)
		if !ok {
			return nil, errors.New("key is not a string")
		}
		if !p.take(':') {
			return nil, fmt.Errorf("expected ':' after the key %q", name)
		}
		if out[name], err = p.value(depth + 1); err != nil {
			return nil, err
		}
		if err := p.more('}'); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (p *literal) list(depth int, end byte) (any, error) {
	out := []any{}
	for !p.take(end) {
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		if err := p.more(end); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// tuple reads (a, b) as a list, and (a) as a.
func (p *literal) tuple(depth int) (any, error) {
	from := p.i
	v, err := p.list(depth, ')')
	if err != nil {
		return nil, err
	}
	inside := strings.TrimRight(p.s[from:p.i-1], " \t\r\n")
	if list, _ := v.([]any); len(list) == 1 && !strings.HasSuffix(inside, ",") {
		return list[0], nil
	}
	return v, nil
}

// more takes a comma, or leaves the closing bracket to be taken.
func (p *literal) more(end byte) error {
	if p.take(',') {
		return nil
	}
	p.space()
	if p.i >= len(p.s) {
		return errors.New("unexpected end of the metadata")
	}
	if p.s[p.i] != end {
		r, _ := utf8.DecodeRuneInString(p.s[p.i:])
		return fmt.Errorf("expected ',' or %q, found %q", end, r)
	}
	return nil
}

// word reads a number or a constant.
func (p *literal) word() (any, error) {
	from := p.i
	for p.i < len(p.s) && !strings.ContainsRune(" \t\r\n,:[]{}()#\"'", rune(p.s[p.i])) {
		p.i++
	}
	word := p.s[from:p.i]
	switch word {
	case "True", "true":
		return true, nil
	case "False", "false":
		return false, nil
	case "None", "null":
		return nil, nil
	}
	var n float64
	if json.Unmarshal([]byte(strings.ReplaceAll(word, "_", "")), &n) == nil {
		return n, nil
	}
	if word == "" {
		r, _ := utf8.DecodeRuneInString(p.s[p.i:])
		return nil, fmt.Errorf("unexpected %q, expected a value", r)
	}
	return nil, fmt.Errorf("%s is not a literal: replace it by its value", word)
}
