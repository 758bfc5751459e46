package contract

import (
	"strings"
	"unicode/utf8"

	"github.com/easel-canvas/easel/engine"
)

// IsFileName reports whether s can name a stored file: 1 to 200 characters without invisible ones
// and without a folder.
func IsFileName(s string) bool {
	_, hidden := firstHidden(s)
	return s != "" && s != "." && s != ".." && utf8.ValidString(s) && utf8.RuneCountInString(s) <= 200 && !hidden &&
		!strings.ContainsAny(s, "/\\\t\r\n")
}

// hiddenIn finds an invisible character in the keys and strings of v: a control
// character, which could affect a terminal, or one that changes the direction or has no width,
// which can make one name look like another.
func hiddenIn(v engine.Value) (c rune, found bool) {
	for i := range v.Len() {
		if v.Kind() == engine.KindObject {
			if c, found = firstHidden(v.Key(i)); found {
				return c, true
			}
		}
		if c, found = hiddenIn(v.At(i)); found {
			return c, true
		}
	}
	return firstHidden(v.Str())
}

func firstHidden(s string) (rune, bool) {
	for _, r := range s {
		if isHidden(r) {
			return r, true
		}
	}
	return 0, false
}

// withoutWidth are the single characters of isHidden: soft hyphen, joiners, fillers, marks.
const withoutWidth = "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u200b\u200e\u200f\u3164\ufeff\uffa0"

// isHidden reports control characters and those that Unicode lets a font leave out, except U+200C,
// U+200D and the variation selectors to U+FE0F, which writing systems and emoji need.
func isHidden(r rune) bool {
	switch {
	case r < ' ':
		return !strings.ContainsRune("\t\n\r", r)
	case r >= 0x7f && r <= 0x9f, r >= 0x180b && r <= 0x180f, r >= 0x202a && r <= 0x202e,
		r >= 0x2060 && r <= 0x206f, r >= 0xfff0 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return strings.ContainsRune(withoutWidth, r)
}
