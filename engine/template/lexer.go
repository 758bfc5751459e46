package template

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokEnd        tokenKind = iota // end of the template
	tokText                        // literal text
	tokPrint                       // {{
	tokPrintClose                  // }}
	tokTag                         // {%
	tokTagClose                    // %}
	tokName
	tokString // text is decoded
	tokInt    // text has no underscores
	tokFloat
	tokSign // operator or bracket
)

// token is a unit of the template source.
type token struct {
	kind tokenKind
	text string
	line int
}

// describe returns the token for an error message.
func (t token) describe() string {
	if t.kind >= tokName {
		return strconv.Quote(t.text)
	}
	return [...]string{"the end of the template", "text", `"{{"`, `"}}"`, `"{%"`, `"%}"`}[t.kind]
}

// lexer splits a template into tokens. It handles whitespace control, comments and raw blocks.
type lexer struct {
	src    string
	i      int
	line   int
	tokens []token
}

// lex splits a template into tokens, of which the last is tokEnd. It fails with a panic; see
// caught. As in Jinja, line ends become LF and the last one is dropped.
func lex(src string) []token {
	if strings.IndexByte(src, '\r') >= 0 {
		src = strings.ReplaceAll(strings.ReplaceAll(src, "\r\n", "\n"), "\r", "\n")
	}
	l := &lexer{src: strings.TrimSuffix(src, "\n"), line: 1}
	for l.i < len(l.src) {
		l.text()
	}
	l.add(tokEnd, "")
	return l.tokens
}

func (l *lexer) fail(format string, args ...any) {
	panic(&Error{Line: l.line, Reason: fmt.Sprintf(format, args...), kind: ErrSyntax})
}

func (l *lexer) add(kind tokenKind, text string) {
	l.tokens = append(l.tokens, token{kind, text, l.line})
}

// addText adds literal text, without trailing white space if trim is set.
func (l *lexer) addText(text string, trim bool) {
	if trim {
		text = strings.TrimRightFunc(text, isSpace)
	}
	if text != "" {
		l.add(tokText, text)
	}
}

// skip moves to index end and counts lines.
func (l *lexer) skip(end int) {
	l.line += strings.Count(l.src[l.i:end], "\n")
	l.i = end
}

func (l *lexer) skipSpace() {
	l.skip(len(l.src) - len(strings.TrimLeftFunc(l.src[l.i:], isSpace)))
}

// open returns the index after an opening mark, and whether the mark removes the space before it.
func (l *lexer) open(mark int) (inside int, trim bool) {
	inside = mark + 2
	trim = strings.HasPrefix(l.src[inside:], "-")
	if trim || strings.HasPrefix(l.src[inside:], "+") {
		inside++
	}
	return inside, trim
}

// pass moves to index end, and past the white space there if trim is set.
func (l *lexer) pass(end int, trim bool) {
	if l.skip(end); trim {
		l.skipSpace()
	}
}

// text reads literal text and the following mark up to its end.
func (l *lexer) text() {
	mark := nextMark(l.src, l.i)
	if mark < 0 {
		l.add(tokText, l.src[l.i:])
		l.skip(len(l.src))
		return
	}
	inside, trim := l.open(mark)
	l.addText(l.src[l.i:mark], trim)
	l.skip(inside)
	switch l.src[mark+1] {
	case '#':
		comment, _, closed := strings.Cut(l.src[l.i:], "#}")
		if !closed && comment != "" { // a mark at the very end is ignored
			l.fail(`comment without end, expected "#}"`)
		}
		l.pass(min(l.i+len(comment)+2, len(l.src)), strings.HasSuffix(comment, "-"))
	case '{':
		l.add(tokPrint, "")
		l.expression('}', tokPrintClose)
	default:
		if end, trim := rawTag(l.src, l.i, "raw"); end > 0 {
			l.pass(end, trim)
			l.raw()
			return
		}
		l.add(tokTag, "")
		l.expression('%', tokTagClose)
	}
}

// nextMark returns the index of the next {{, {% or {#, or -1.
func nextMark(src string, from int) int {
	for i := from; ; i++ {
		k := strings.IndexByte(src[i:], '{')
		if k < 0 || i+k+1 >= len(src) {
			return -1
		}
		i += k
		if c := src[i+1]; c == '{' || c == '%' || c == '#' {
			return i
		}
	}
}

// rawTag returns the end of a tag with the given name at index i, inside its opening mark, or 0.
// trim reports whether the tag removes the white space after it.
func rawTag(src string, i int, name string) (end int, trim bool) {
	rest, ok := strings.CutPrefix(strings.TrimLeftFunc(src[i:], isSpace), name)
	rest = strings.TrimLeftFunc(rest, isSpace)
	rest, trim = strings.CutPrefix(rest, "-")
	if !trim && name == "endraw" {
		rest = strings.TrimPrefix(rest, "+")
	}
	if !ok || !strings.HasPrefix(rest, "%}") {
		return 0, false
	}
	return len(src) - len(rest) + 2, trim
}

// raw reads the text of a raw block and its end tag.
func (l *lexer) raw() {
	for at := l.i; ; at += 2 {
		k := strings.Index(l.src[at:], "{%")
		if k < 0 {
			l.fail("raw block without end, expected {%% endraw %%}")
		}
		at += k
		inside, trimLeft := l.open(at)
		if end, trimRight := rawTag(l.src, inside, "endraw"); end > 0 {
			l.addText(l.src[l.i:at], trimLeft)
			l.pass(end, trimRight)
			return
		}
	}
}

// expression reads the tokens of a tag up to its closing mark: closer and a brace.
func (l *lexer) expression(closer byte, kind tokenKind) {
	open := 0 // brackets to be closed
	for {
		l.skipSpace()
		rest := l.src[l.i:]
		if rest == "" {
			l.fail("the template ends inside a tag, expected %q", string(closer)+"}")
		}
		if open == 0 && l.close(rest, closer, kind) {
			return
		}
		switch c := rest[0]; {
		case c == '\'' || c == '"':
			l.quoted(c)
		case c >= '0' && c <= '9':
			l.number(rest)
		default:
			n, kind := nameEnd(rest), tokName
			if n == 0 {
				n, kind = signEnd(rest), tokSign
			}
			if n == 0 {
				r, _ := utf8.DecodeRuneInString(rest)
				l.fail("unexpected character %q in a tag", r)
			}
			if strings.IndexByte("([{", rest[0]) >= 0 {
				open++
			} else if strings.IndexByte(")]}", rest[0]) >= 0 {
				open--
			}
			if open < 0 {
				l.fail("unexpected %q", rest[:1])
			}
			l.add(kind, rest[:n])
			l.i += n
		}
	}
}

// close consumes the closing mark if rest begins with it.
func (l *lexer) close(rest string, closer byte, kind tokenKind) bool {
	n := 0
	if rest[0] == '-' || rest[0] == '+' && kind == tokTagClose {
		n = 1
	}
	if len(rest) < n+2 || rest[n] != closer || rest[n+1] != '}' {
		return false
	}
	l.add(kind, "")
	if l.i += n + 2; rest[0] == '-' {
		l.skipSpace()
	}
	return true
}

// signEnd returns the length of the operator or bracket at the start of s, or 0.
func signEnd(s string) int {
	for _, sign := range [...]string{"//", "**", "==", "!=", ">=", "<="} {
		if strings.HasPrefix(s, sign) {
			return 2
		}
	}
	if strings.IndexByte("+-*/%~[](){}><=.:|,;", s[0]) >= 0 {
		return 1
	}
	return 0
}

// nameEnd returns the length of the name at the start of s, or 0.
func nameEnd(s string) int {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r) && !unicode.Is(unicode.M, r)) {
			return i
		}
	}
	return len(s)
}

// isSpace reports whether r is white space in Python.
func isSpace(r rune) bool { return r >= 0x1c && r <= 0x1f || unicode.IsSpace(r) }

// quoted reads a string literal.
func (l *lexer) quoted(quote byte) {
	s := l.src[l.i+1:]
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case quote:
			l.add(tokString, l.unescape(s[:i]))
			l.skip(l.i + i + 2)
			return
		}
	}
	l.fail("string without end, expected %c", quote)
}

// unescape decodes the escapes of a string literal. Unknown escapes are left unchanged.
func (l *lexer) unescape(s string) string {
	const letters, values = `abfnrtv\'"`, "\a\b\f\n\r\t\v\\'\""
	var out []byte
	for k := strings.IndexByte(s, '\\'); k >= 0; k = strings.IndexByte(s, '\\') {
		out = append(out, s[:k]...)
		c := s[k+1]
		s = s[k+2:]
		switch i := strings.IndexByte(letters, c); {
		case i >= 0:
			out = append(out, values[i])
		case c == '\n':
		case c == 'N':
			l.fail(`characters by name, \N{...}, are not supported`)
		case c == 'x' || c == 'u' || c == 'U':
			digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
			r, err := strconv.ParseUint(s[:min(digits, len(s))], 16, 32)
			if err != nil || digits > len(s) || r > utf8.MaxRune {
				l.fail("a string has an escape without its %d hex digits", digits)
			}
			s, out = s[digits:], utf8.AppendRune(out, rune(r)) // a lone surrogate becomes U+FFFD
		case c >= '0' && c <= '7':
			n, r := 0, rune(c-'0')
			for ; n < 2 && n < len(s) && s[n] >= '0' && s[n] <= '7'; n++ {
				r = r*8 + rune(s[n]-'0')
			}
			s, out = s[n:], utf8.AppendRune(out, r)
		default:
			out = append(out, '\\', c)
		}
	}
	if out == nil {
		return s
	}
	return string(append(out, s...))
}

// number reads an integer or float literal at the start of s.
func (l *lexer) number(s string) {
	end, kind := digitsEnd(s, 0, 10), tokInt
	part := func(marks, signs string, base int) bool { // extends the literal by a mark, a sign and digits
		i := end + 1
		if end == len(s) || strings.IndexByte(marks, s[end]) < 0 {
			return false
		}
		if i < len(s) && strings.IndexByte(signs, s[i]) >= 0 {
			i++
		}
		to := digitsEnd(s, i, base)
		if to > i {
			end = to
		}
		return to > i
	}
	based := end == 1 && s[0] == '0' && (part("xX", "_", 16) || part("oO", "_", 8) || part("bB", "_", 2))
	if !based && (l.i == 0 || l.src[l.i-1] != '.') { // in a.1.2 the 1 is an index
		if fraction, exponent := part(".", "", 10), part("eE", "+-", 10); fraction || exponent {
			kind = tokFloat
		}
	}
	if !based && kind == tokInt && s[0] == '0' { // 0 and 00 are integers, 01 is not
		end = digitsEnd(s, 0, 1)
	}
	l.add(kind, strings.ReplaceAll(s[:end], "_", ""))
	l.i += end
}

// digitValue returns the value of a digit or letter, or 99.
func digitValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'z':
		return int(c|0x20-'a') + 10
	}
	return 99
}

// digitsEnd returns the end of the digits at index i, which single underscores may separate.
func digitsEnd(s string, i, base int) int {
	start, end := i, i
	for ; i < len(s); i++ {
		if s[i] == '_' && i == end && i > start {
			continue
		}
		if digitValue(s[i]) >= base {
			break
		}
		end = i + 1
	}
	return end
}
