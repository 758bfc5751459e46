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

// lex returns the tokens of a template, which end with tokEnd. It fails with a panic, see caught.
// As in Jinja, line ends become LF and the last one is dropped.
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

// addText adds literal text, without trailing space if trim is set.
func (l *lexer) addText(text string, trim bool) {
	if trim {
		text = strings.TrimRightFunc(text, isSpace)
	}
	if text != "" {
		l.add(tokText, text)
	}
}

// take adds a token of the next n bytes of the source.
func (l *lexer) take(kind tokenKind, n int) {
	l.add(kind, l.src[l.i:l.i+n])
	l.i += n
}

// skip moves to index end and counts lines.
func (l *lexer) skip(end int) {
	l.line += strings.Count(l.src[l.i:end], "\n")
	l.i = end
}

func (l *lexer) skipSpace() {
	l.skip(len(l.src) - len(strings.TrimLeftFunc(l.src[l.i:], isSpace)))
}

// text reads literal text and the following mark up to its end.
func (l *lexer) text() {
	start := l.i
	mark := nextMark(l.src, start)
	if mark < 0 {
		l.add(tokText, l.src[start:])
		l.skip(len(l.src))
		return
	}
	inside := mark + 2
	trim := strings.HasPrefix(l.src[inside:], "-")
	if trim || strings.HasPrefix(l.src[inside:], "+") {
		inside++
	}
	l.addText(l.src[start:mark], trim)
	l.skip(inside)
	switch l.src[mark+1] {
	case '#':
		if l.i == len(l.src) {
			return // a mark at the very end opens nothing
		}
		end := strings.Index(l.src[l.i:], "#}")
		if end < 0 {
			l.fail(`comment without end, expected "#}"`)
		}
		trim = end > 0 && l.src[l.i+end-1] == '-'
		if l.skip(l.i + end + 2); trim {
			l.skipSpace()
		}
	case '{':
		l.add(tokPrint, "")
		l.expression('}', tokPrintClose)
	default:
		if end, trim := rawTag(l.src, l.i, "raw"); end > 0 {
			l.raw(end, trim)
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

// rawTag returns the end of a tag with this name at index i, inside its opening mark, or 0. Trim
// reports whether the tag removes the space behind it.
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

// raw reads the text of a raw block, whose opening tag ends at index start.
func (l *lexer) raw(start int, trim bool) {
	if l.skip(start); trim {
		l.skipSpace()
	}
	for at := l.i; ; at += 2 {
		k := strings.Index(l.src[at:], "{%")
		if k < 0 {
			l.fail("raw block without end, expected {%% endraw %%}")
		}
		at += k
		inside := at + 2
		trimLeft := strings.HasPrefix(l.src[inside:], "-")
		if trimLeft || strings.HasPrefix(l.src[inside:], "+") {
			inside++
		}
		end, trimRight := rawTag(l.src, inside, "endraw")
		if end == 0 {
			continue
		}
		l.addText(l.src[l.i:at], trimLeft)
		if l.skip(end); trimRight {
			l.skipSpace()
		}
		return
	}
}

// expression reads the tokens of a tag up to its closing mark, closer and a brace.
func (l *lexer) expression(closer byte, kind tokenKind) {
	var open []byte // brackets to be closed
	for {
		l.skipSpace()
		rest := l.src[l.i:]
		if rest == "" {
			l.fail("the template ends inside a tag, expected %q", string(closer)+"}")
		}
		if len(open) == 0 && l.close(rest, closer, kind) {
			return
		}
		switch c := rest[0]; {
		case c == '\'' || c == '"':
			l.quoted(c)
		case c >= '0' && c <= '9':
			l.number(rest)
		default:
			if n := nameEnd(rest); n > 0 {
				l.take(tokName, n)
				continue
			}
			n := signEnd(rest)
			if n == 0 {
				r, _ := utf8.DecodeRuneInString(rest)
				l.fail("unexpected character %q in a tag", r)
			}
			open = l.balance(open, rest[0])
			l.take(tokSign, n)
		}
	}
}

// close reads the closing mark if rest begins with it.
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

// balance updates the stack of open brackets.
func (l *lexer) balance(open []byte, sign byte) []byte {
	switch sign {
	case '(', '[', '{':
		return append(open, sign)
	case ')', ']', '}':
		if len(open) == 0 || open[len(open)-1] != "([{"[strings.IndexByte(")]}", sign)] {
			l.fail("unexpected %q", string(sign))
		}
		return open[:len(open)-1]
	}
	return open
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

// unescape decodes the escapes of a string literal. A backslash before another character stays.
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
	end, kind := 0, tokInt
	if len(s) > 2 && s[0] == '0' {
		if base := map[byte]int{'b': 2, 'o': 8, 'x': 16}[s[1]|0x20]; base > 0 {
			from := 2
			if s[2] == '_' {
				from++
			}
			if end = digitsEnd(s, from, base); end == from {
				end = 0
			}
		}
	}
	if end == 0 {
		end = digitsEnd(s, 0, 10)
		if afterDot := l.i > 0 && l.src[l.i-1] == '.'; !afterDot { // in a.1.2 the 1 is an index
			if frac := fractionEnd(s, end); frac > end {
				end, kind = frac, tokFloat
			}
		}
		if kind == tokInt && s[0] == '0' { // 0 and 00 are integers, 01 is not
			end = digitsEnd(s, 0, 1)
		}
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

// digitsEnd returns the end of the digits at index i, which may have single underscores between them.
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

// fractionEnd returns the end of the fraction and exponent behind digits that end at i.
func fractionEnd(s string, i int) int {
	if i+1 < len(s) && s[i] == '.' {
		if end := digitsEnd(s, i+1, 10); end > i+1 {
			i = end
		}
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		k := i + 1
		if k < len(s) && (s[k] == '+' || s[k] == '-') {
			k++
		}
		if end := digitsEnd(s, k, 10); end > k {
			i = end
		}
	}
	return i
}
