package contract

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Printable returns s for a terminal or a log: valid UTF-8 in which each character that could
// affect a terminal, or that is invisible, is written as its code point, <U+001B>. Tabs and line
// feeds stay, and \r\n becomes \n.
func Printable(s string) string {
	if !strings.ContainsFunc(s, escaped) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\r' && strings.HasPrefix(s[i+1:], "\n"):
		case escaped(r):
			fmt.Fprintf(&b, "<%U>", r)
		default:
			b.WriteRune(r) // U+FFFD for a byte that is not UTF-8
		}
	}
	return b.String()
}

// PrintableLine is Printable for a text that has to stay on one line: white space becomes a space.
func PrintableLine(s string) string { return Printable(strings.Join(strings.Fields(s), " ")) }

// escaped reports whether Printable writes r as its code point. U+2028 and U+2029 break lines.
func escaped(r rune) bool { return r == '\r' || r == 0x2028 || r == 0x2029 || isHidden(r) }
