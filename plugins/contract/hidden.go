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

// isHidden excludes U+200C and U+200D, which writing systems and emoji need.
func isHidden(r rune) bool {
	switch {
	case r < ' ':
		return !strings.ContainsRune("\t\n\r", r)
	case r >= 0x7f && r <= 0x9f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f,
		r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return r == 0x00ad || r == 0x061c || r == 0x180e || r == 0x200b || r == 0x200e || r == 0x200f || r == 0xfeff
}
