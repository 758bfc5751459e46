package template

import (
	"fmt"
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

// token is one word of a template.
type token struct {
	kind tokenKind
	text string
	line int
}

// describe names the token in error messages.
func (t token) describe() string {
	switch t.kind {
	case tokEnd:
		return "the end of the template"
	case tokText:
		return "text"
	case tokPrint:
		return `"{{"`
	case tokPrintClose:
		return `"}}"`
	case tokTag:
		return `"{%"`
	case tokTagClose:
		return `"%}"`
	}
	return fmt.Sprintf("%q", t.text)
}

// lexer cuts a template into tokens. Whitespace control and comments end here.
type lexer struct {
	src    string
	i      int
	line   int
	tokens []token
}

// lex gives the tokens of a template, ending with tokEnd. It fails with a panic, see caught.
func lex(src string) []token {
	l := &lexer{src: normalize(src), line: 1}
	for l.i < len(l.src) {
		l.text()
	}
	l.add(tokEnd, "")
	return l.tokens
}

// normalize makes every line end a single LF and drops the one at the very end.
func normalize(src string) string {
	if strings.IndexByte(src, '\r') >= 0 {
		src = strings.ReplaceAll(src, "\r\n", "\n")
		src = strings.ReplaceAll(src, "\r", "\n")
	}
	return strings.TrimSuffix(src, "\n")
}

//go:noinline
func (l *lexer) fail(format string, args ...any) {
	panic(&Error{Line: l.line, Reason: fmt.Sprintf(format, args...), kind: ErrSyntax})
}

func (l *lexer) add(kind tokenKind, text string) {
	l.tokens = append(l.tokens, token{kind, text, l.line})
}

// skip moves to index end and counts the lines passed.
func (l *lexer) skip(end int) {
	l.line += strings.Count(l.src[l.i:end], "\n")
	l.i = end
}

func (l *lexer) skipSpace() {
	rest := strings.TrimLeftFunc(l.src[l.i:], isSpace)
	l.skip(len(l.src) - len(rest))
}

// text takes literal text and the opening mark behind it, then everything up to the closing mark.
func (l *lexer) text() {
	start := l.i
	mark := nextMark(l.src, start)
	if mark < 0 {
		l.add(tokText, l.src[start:])
		l.skip(len(l.src))
		return
	}
	text, inside := l.src[start:mark], mark+2
	if inside < len(l.src) {
		switch l.src[inside] {
		case '-':
			text = strings.TrimRightFunc(text, isSpace)
			inside++
		case '+':
			inside++
		}
	}
	if text != "" {
		l.add(tokText, text)
	}
	l.skip(inside)
	switch l.src[mark+1] {
	case '#':
		l.comment()
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

// nextMark is where the next {{, {% or {# begins, or -1.
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

func (l *lexer) comment() {
	k := strings.Index(l.src[l.i:], "#}")
	if l.i == len(l.src) {
		return // a mark at the very end opens nothing
	}
	if k < 0 {
		l.fail(`comment without end, expected "#}"`)
	}
	trim := k > 0 && l.src[l.i+k-1] == '-'
	l.skip(l.i + k + 2)
	if trim {
		l.skipSpace()
	}
}

// rawTag reports the end of a tag that holds the given word alone, or 0, and whether it trims the blanks behind it.
// Only "endraw" may end in "+%}".
func rawTag(src string, i int, word string) (end int, trim bool) {
	rest := strings.TrimLeftFunc(src[i:], isSpace)
	rest, ok := strings.CutPrefix(rest, word)
	if !ok {
		return 0, false
	}
	rest = strings.TrimLeftFunc(rest, isSpace)
	for _, c := range []string{"-%}", "+%}", "%}"} {
		if after, ok := strings.CutPrefix(rest, c); ok && (c[0] != '+' || word == "endraw") {
			return len(src) - len(after), c[0] == '-'
		}
	}
	return 0, false
}

// raw takes everything up to {% endraw %} as text.
func (l *lexer) raw(start int, trim bool) {
	l.skip(start)
	if trim {
		l.skipSpace()
	}
	for at := l.i; ; at += 2 {
		k := strings.Index(l.src[at:], "{%")
		if k < 0 {
			l.fail(`"raw" without "endraw"`)
		}
		at += k
		inside := at + 2
		if inside < len(l.src) && (l.src[inside] == '-' || l.src[inside] == '+') {
			inside++
		}
		end, trim := rawTag(l.src, inside, "endraw")
		if end == 0 {
			continue
		}
		text := l.src[l.i:at]
		if l.src[at+2] == '-' {
			text = strings.TrimRightFunc(text, isSpace)
		}
		if text != "" {
			l.add(tokText, text)
		}
		l.skip(end)
		if trim {
			l.skipSpace()
		}
		return
	}
}

// expression takes the tokens between the marks; closer is the byte before the closing brace.
func (l *lexer) expression(closer byte, kind tokenKind) {
	var open []byte // brackets waiting for their partner
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
			l.number()
		case isNameStart(rest):
			end := nameEnd(rest)
			l.add(tokName, rest[:end])
			l.i += end
		default:
			sign := signAt(rest)
			if sign == "" {
				r, _ := utf8.DecodeRuneInString(rest)
				l.fail("unexpected character %q in a tag", r)
			}
			open = l.balance(open, sign[0])
			l.add(tokSign, sign)
			l.i += len(sign)
		}
	}
}

// close takes the closing mark, if rest begins with it.
func (l *lexer) close(rest string, closer byte, kind tokenKind) bool {
	n := 0
	if rest[0] == '-' || rest[0] == '+' && kind == tokTagClose {
		n = 1
	}
	if len(rest) < n+2 || rest[n] != closer || rest[n+1] != '}' {
		return false
	}
	l.add(kind, "")
	l.i += n + 2
	if n == 1 && rest[0] == '-' {
		l.skipSpace()
	}
	return true
}

// balance keeps the stack of open brackets.
func (l *lexer) balance(open []byte, sign byte) []byte {
	switch sign {
	case '(', '[', '{':
		return append(open, sign)
	case ')', ']', '}':
		partner := "([{"[strings.IndexByte(")]}", sign)]
		if len(open) == 0 || open[len(open)-1] != partner {
			l.fail("unexpected %q", string(sign))
		}
		return open[:len(open)-1]
	}
	return open
}

var signs = [...]string{"//", "**", "==", "!=", ">=", "<="}

func signAt(s string) string {
	for _, sign := range signs {
		if strings.HasPrefix(s, sign) {
			return sign
		}
	}
	if strings.IndexByte("+-*/%~[](){}><=.:|,;", s[0]) >= 0 {
		return s[:1]
	}
	return ""
}

func isNameStart(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r == '_' || unicode.IsLetter(r)
}

func nameEnd(s string) int {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.M, r) {
			return i
		}
	}
	return len(s)
}

// isSpace is Python's idea of a blank.
func isSpace(r rune) bool { return r >= 0x1c && r <= 0x1f || unicode.IsSpace(r) }
