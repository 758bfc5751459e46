package component

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/easel-canvas/easel/engine"
)

// Models that are asked for JSON often return almost JSON: in a code fence, after a sentence, in
// Python's syntax, or truncated. This reader extracts the first object or list of such a text. Text
// without one is an error; it is never read as a string.

var errNoJSON = errors.New("no JSON object or list in the text")

// looseDepth bounds the nesting of loose text; deeper values read as null.
const looseDepth = 200

// looseTries bounds the brackets at which reading is tried, so that a long text full of them stays
// cheap.
const looseTries = 20

// readLooseJSON returns the object or list in a model's answer.
func readLooseJSON(text string) (engine.Value, error) {
	if err := engine.CheckParse(text); err != nil {
		return engine.Null, err
	}
	text = strings.ToValidUTF8(strings.TrimSpace(unfence(afterReasoning(text))), "\uFFFD")
	if v, err := engine.ParseJSONText(text); err == nil {
		if isContainer(v) {
			return v, nil
		}
		return engine.Null, errNoJSON
	}
	at := 0
	for range looseTries {
		i := strings.IndexAny(text[at:], "{[")
		if i < 0 {
			break
		}
		at += i
		r := looseReader{s: text, i: at}
		if v := r.value(0); isContainer(v) && (at == 0 || r.sound > 0) {
			return v, nil
		}
		at++
	}
	return engine.Null, errNoJSON
}

func isContainer(v engine.Value) bool {
	return v.Kind() == engine.KindObject || v.Kind() == engine.KindList
}

// unfence removes ``` lines around a block, and the stop mark of the planning protocol.
func unfence(text string) string {
	text, _, _ = strings.Cut(text, stopMark)
	open := strings.Index(text, "```")
	if open < 0 {
		return text
	}
	body := text[open+3:]
	if end := strings.IndexByte(body, '\n'); end >= 0 && !strings.ContainsAny(body[:end], "{[") {
		body = body[end+1:]
	} else {
		body = strings.TrimPrefix(body, "json")
	}
	if end := strings.LastIndex(body, "```"); end >= 0 {
		body = body[:end]
	}
	if strings.ContainsAny(body, "{[") {
		return body
	}
	return strings.ReplaceAll(text, "```", "")
}

// looseReader is a recursive descent parser that always advances, so that it terminates on every
// input.
type looseReader struct {
	s     string
	i     int
	sound int // members and elements that look like JSON; prose in brackets has none
}

func (r *looseReader) value(depth int) engine.Value {
	r.space()
	if r.i >= len(r.s) || depth > looseDepth {
		r.i = len(r.s)
		return engine.Null
	}
	switch c := r.s[r.i]; {
	case c == '{':
		return r.object(depth)
	case c == '[', c == '(':
		return r.list(depth)
	default:
		if n := quoteAt(r.s[r.i:]); n > 0 {
			r.sound++
			return engine.String(r.quoted(n))
		}
	}
	return r.bare()
}

// space skips white space and comments.
func (r *looseReader) space() {
	for r.i < len(r.s) {
		rest := r.s[r.i:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			r.i++
		case strings.HasPrefix(rest, "//"), rest[0] == '#':
			r.skipTo(rest, "\n")
		case strings.HasPrefix(rest, "/*"):
			r.skipTo(rest, "*/")
		default:
			return
		}
	}
}

func (r *looseReader) skipTo(rest, end string) {
	if n := strings.Index(rest, end); n >= 0 {
		r.i += n + len(end)
	} else {
		r.i = len(r.s)
	}
}

func (r *looseReader) object(depth int) engine.Value {
	r.i++
	b := engine.NewObject(8)
	for {
		r.separators()
		if r.i >= len(r.s) || r.closes() {
			return b.Value()
		}
		key, ok := r.key()
		if !ok {
			r.i++
			continue
		}
		r.space()
		if r.i >= len(r.s) || r.s[r.i] != ':' {
			continue // a name without a value
		}
		r.i++
		r.sound++
		b.Set(key, r.value(depth+1))
	}
}

func (r *looseReader) list(depth int) engine.Value {
	r.i++
	vals := []engine.Value{}
	for {
		r.separators()
		if r.i >= len(r.s) || r.closes() {
			return engine.List(vals...)
		}
		at := r.i
		v := r.value(depth + 1)
		if r.i == at {
			r.i++
			continue
		}
		vals = append(vals, v)
	}
}

// separators skips white space and commas.
func (r *looseReader) separators() {
	for r.space(); r.i < len(r.s) && (r.s[r.i] == ',' || r.s[r.i] == ';'); r.space() {
		r.i++
	}
}

// closes skips a closing bracket of any kind: a wrong one counts as the right one.
func (r *looseReader) closes() bool {
	if strings.IndexByte("}])", r.s[r.i]) < 0 {
		return false
	}
	r.i++
	return true
}

// key reads a name in quotes or a bare one.
func (r *looseReader) key() (string, bool) {
	if n := quoteAt(r.s[r.i:]); n > 0 {
		return r.quoted(n), true
	}
	start := r.i
	for r.i < len(r.s) && strings.IndexByte(":,{}[]()\"'\n", r.s[r.i]) < 0 {
		r.i++
	}
	key := strings.TrimSpace(r.s[start:r.i])
	return key, key != ""
}

// quotes are the accepted quotation marks; typographic ones close with their counterpart.
var quotes = [...]struct{ open, close string }{{`"`, `"`}, {"'", "'"}, {"“", "”"}, {"‘", "’"}, {"`", "`"}}

// quoteAt returns the length of the opening mark at the start of s, or 0.
func quoteAt(s string) int {
	for _, q := range quotes {
		if strings.HasPrefix(s, q.open) {
			return len(q.open)
		}
	}
	return 0
}

// quoted reads a string. A closing mark counts only before something that may follow a string, so
// that unescaped marks inside are kept; the end of the input also ends the string.
func (r *looseReader) quoted(n int) string {
	open := r.s[r.i : r.i+n]
	end := open
	for _, q := range quotes {
		if q.open == open {
			end = q.close
		}
	}
	r.i += n
	var b strings.Builder
	for r.i < len(r.s) {
		rest := r.s[r.i:]
		switch {
		case rest[0] == '\\' && len(rest) > 1:
			r.escape(&b, rest)
		case strings.HasPrefix(rest, end) && endsText(rest[len(end):]):
			r.i += len(end)
			return b.String()
		default:
			b.WriteByte(rest[0])
			r.i++
		}
	}
	return strings.TrimRight(b.String(), " \n\t")
}

// endsText reports whether the text after a closing mark can follow a string.
func endsText(rest string) bool {
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case ' ', '\t', '\r':
			continue
		case ',', ':', '}', ']', ')', ';', '\n', '"', '\'', '#', '/':
			return true
		}
		return false
	}
	return true
}

func (r *looseReader) escape(b *strings.Builder, rest string) {
	r.i += 2
	switch c := rest[1]; c {
	case 'n':
		b.WriteByte('\n')
	case 't':
		b.WriteByte('\t')
	case 'r':
		b.WriteByte('\r')
	case 'b':
		b.WriteByte('\b')
	case 'f':
		b.WriteByte('\f')
	case '\n': // a line continuation
	case 'u':
		n := 6
		if len(rest) >= 12 && rest[6] == '\\' && rest[7] == 'u' {
			n = 12 // perhaps the two halves of one character
		}
		for ; n >= 6; n -= 6 {
			if len(rest) < n {
				continue
			}
			if v, err := engine.ParseJSONText(`"` + rest[:n] + `"`); err == nil {
				b.WriteString(v.Str())
				r.i += n - 2
				return
			}
		}
		b.WriteByte('u')
	default:
		b.WriteByte(c)
		if c >= utf8.RuneSelf {
			return // the rest of the character is copied as it is
		}
	}
}

var looseWords = map[string]engine.Value{
	"true": engine.Bool(true), "True": engine.Bool(true), "TRUE": engine.Bool(true),
	"false": engine.Bool(false), "False": engine.Bool(false), "FALSE": engine.Bool(false),
	"null": engine.Null, "None": engine.Null, "undefined": engine.Null, "NaN": engine.Null, "nan": engine.Null,
}

// bare reads an unquoted value: a number, a word of JSON or Python, or else text.
func (r *looseReader) bare() engine.Value {
	start := r.i
	for r.i < len(r.s) && strings.IndexByte(",{}[]()\n", r.s[r.i]) < 0 {
		r.i++
	}
	word := strings.TrimSpace(r.s[start:r.i])
	if v, ok := looseWords[word]; ok {
		r.sound++
		return v
	}
	number := strings.TrimPrefix(strings.ReplaceAll(word, "_", ""), "+")
	if strings.HasPrefix(number, ".") {
		number = "0" + number
	}
	if strings.HasSuffix(number, ".") {
		number += "0"
	}
	if v, ok := engine.ParseNumber(number); ok {
		r.sound++
		return v
	}
	return engine.String(word)
}
