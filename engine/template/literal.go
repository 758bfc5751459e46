package template

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// quoted takes a string literal.
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

const (
	escapeNames  = `abfnrtv\'"`
	escapeValues = "\a\b\f\n\r\t\v\\'\""
)

// unescape decodes the escapes of a string literal; a backslash before anything else stays.
func (l *lexer) unescape(s string) string {
	k := strings.IndexByte(s, '\\')
	if k < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for ; k >= 0; k = strings.IndexByte(s, '\\') {
		out = append(out, s[:k]...)
		c := s[k+1]
		s = s[k+2:]
		switch {
		case c == '\n':
		case strings.IndexByte(escapeNames, c) >= 0:
			out = append(out, escapeValues[strings.IndexByte(escapeNames, c)])
		case c == 'x':
			s, out = l.code(s, out, 2)
		case c == 'u':
			s, out = l.code(s, out, 4)
		case c == 'U':
			s, out = l.code(s, out, 8)
		case c == 'N':
			l.fail(`characters by name, \N{...}, are not supported`)
		case c >= '0' && c <= '7':
			n, r := 0, rune(c-'0')
			for n < 2 && n < len(s) && s[n] >= '0' && s[n] <= '7' {
				r = r*8 + rune(s[n]-'0')
				n++
			}
			s, out = s[n:], utf8.AppendRune(out, r)
		default:
			out = append(out, '\\', c)
		}
	}
	return string(append(out, s...))
}

// code takes n hex digits from s and appends their character; half a surrogate pair becomes U+FFFD.
func (l *lexer) code(s string, out []byte, n int) (string, []byte) {
	if len(s) >= n {
		if r, err := strconv.ParseUint(s[:n], 16, 32); err == nil && r <= utf8.MaxRune {
			return s[n:], utf8.AppendRune(out, rune(r))
		}
	}
	l.fail("a string has an escape without its %d hex digits", n)
	return "", nil
}

// number takes an integer or float literal.
//
//go:noinline
func (l *lexer) number() {
	s := l.src[l.i:]
	if end := baseEnd(s); end > 0 {
		l.add(tokInt, strings.ReplaceAll(s[:end], "_", ""))
		l.i += end
		return
	}
	end, kind := digitsEnd(s, 0), tokInt
	afterDot := l.i > 0 && l.src[l.i-1] == '.' // in a.1.2 the 1 is an index
	if !afterDot {
		if frac := fractionEnd(s, end); frac > end {
			end, kind = frac, tokFloat
		}
	}
	if kind == tokInt && s[0] == '0' { // 0 stands alone, 00 too, but not 01
		for end = 1; end < len(s) && (s[end] == '0' || s[end] == '_' && end+1 < len(s) && s[end+1] == '0'); end++ {
		}
	}
	l.add(kind, strings.ReplaceAll(s[:end], "_", ""))
	l.i += end
}

// baseEnd is the end of a literal like 0x1F, 0o17 or 0b101, or 0.
func baseEnd(s string) int {
	if len(s) < 3 || s[0] != '0' {
		return 0
	}
	k := strings.IndexByte("box", s[1]|0x20)
	if k < 0 {
		return 0
	}
	base := []int{2, 8, 16}[k]
	end := 2
	for i := 2; i < len(s); i++ {
		if s[i] == '_' && s[i-1] != '_' {
			continue
		}
		if digitValue(s[i]) >= base {
			break
		}
		end = i + 1
	}
	if end == 2 {
		return 0
	}
	return end
}

// digitValue is the value of a digit or letter, or 99.
func digitValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'z':
		return int(c|0x20-'a') + 10
	}
	return 99
}

// digitsEnd is the end of digits with single underscores between them, starting at i.
func digitsEnd(s string, i int) int {
	start, end := i, i
	for ; i < len(s); i++ {
		if s[i] == '_' && end == i && i > start {
			continue
		}
		if s[i] < '0' || s[i] > '9' {
			break
		}
		end = i + 1
	}
	return end
}

// fractionEnd is the end of a fraction, an exponent or both behind the digits that end at i; i when there is none.
func fractionEnd(s string, i int) int {
	if i+1 < len(s) && s[i] == '.' {
		if end := digitsEnd(s, i+1); end > i+1 {
			i = end
		}
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		k := i + 1
		if k < len(s) && (s[k] == '+' || s[k] == '-') {
			k++
		}
		if end := digitsEnd(s, k); end > k {
			i = end
		}
	}
	return i
}
