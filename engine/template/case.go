package template

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// longUpper lists characters whose capital form is several characters: each word is the character and then its capitals.
const longUpper = "" +
	"ßSS ŉ\u02bcN ǰJ\u030c ΐΙ\u0308\u0301 ΰΥ\u0308\u0301 ևԵՒ \u1e96H\u0331 \u1e97T\u0308 \u1e98W\u030a " +
	"\u1e99Y\u030a \u1e9aA\u02be \u1f50Υ\u0313 \u1f52Υ\u0313\u0300 \u1f54Υ\u0313\u0301 " +
	"\u1f56Υ\u0313\u0342 \u1f80\u1f08Ι \u1f81\u1f09Ι \u1f82\u1f0aΙ \u1f83\u1f0bΙ \u1f84\u1f0cΙ " +
	"\u1f85\u1f0dΙ \u1f86\u1f0eΙ \u1f87\u1f0fΙ \u1f88\u1f08Ι \u1f89\u1f09Ι \u1f8a\u1f0aΙ \u1f8b\u1f0bΙ " +
	"\u1f8c\u1f0cΙ \u1f8d\u1f0dΙ \u1f8e\u1f0eΙ \u1f8f\u1f0fΙ \u1f90\u1f28Ι \u1f91\u1f29Ι \u1f92\u1f2aΙ " +
	"\u1f93\u1f2bΙ \u1f94\u1f2cΙ \u1f95\u1f2dΙ \u1f96\u1f2eΙ \u1f97\u1f2fΙ \u1f98\u1f28Ι \u1f99\u1f29Ι " +
	"\u1f9a\u1f2aΙ \u1f9b\u1f2bΙ \u1f9c\u1f2cΙ \u1f9d\u1f2dΙ \u1f9e\u1f2eΙ \u1f9f\u1f2fΙ \u1fa0\u1f68Ι " +
	"\u1fa1\u1f69Ι \u1fa2\u1f6aΙ \u1fa3\u1f6bΙ \u1fa4\u1f6cΙ \u1fa5\u1f6dΙ \u1fa6\u1f6eΙ \u1fa7\u1f6fΙ " +
	"\u1fa8\u1f68Ι \u1fa9\u1f69Ι \u1faa\u1f6aΙ \u1fab\u1f6bΙ \u1fac\u1f6cΙ \u1fad\u1f6dΙ \u1fae\u1f6eΙ " +
	"\u1faf\u1f6fΙ \u1fb2\u1fbaΙ \u1fb3ΑΙ \u1fb4ΆΙ \u1fb6Α\u0342 \u1fb7Α\u0342Ι \u1fbcΑΙ \u1fc2\u1fcaΙ " +
	"\u1fc3ΗΙ \u1fc4ΉΙ \u1fc6Η\u0342 \u1fc7Η\u0342Ι \u1fccΗΙ \u1fd2Ι\u0308\u0300 \u1fd3Ι\u0308\u0301 " +
	"\u1fd6Ι\u0342 \u1fd7Ι\u0308\u0342 \u1fe2Υ\u0308\u0300 \u1fe3Υ\u0308\u0301 \u1fe4Ρ\u0313 " +
	"\u1fe6Υ\u0342 \u1fe7Υ\u0308\u0342 \u1ff2\u1ffaΙ \u1ff3ΩΙ \u1ff4ΏΙ \u1ff6Ω\u0342 \u1ff7Ω\u0342Ι " +
	"\u1ffcΩΙ \ufb00FF \ufb01FI \ufb02FL \ufb03FFI \ufb04FFL \ufb05ST \ufb06ST \ufb13ՄՆ \ufb14ՄԵ " +
	"\ufb15ՄԻ \ufb16ՎՆ \ufb17ՄԽ"

// longTitle is longUpper for a capital at the start of a word.
const longTitle = "" +
	"ßSs ŉ\u02bcN ǰJ\u030c ΐΙ\u0308\u0301 ΰΥ\u0308\u0301 ևԵւ \u1e96H\u0331 \u1e97T\u0308 \u1e98W\u030a " +
	"\u1e99Y\u030a \u1e9aA\u02be \u1f50Υ\u0313 \u1f52Υ\u0313\u0300 \u1f54Υ\u0313\u0301 " +
	"\u1f56Υ\u0313\u0342 \u1fb2\u1fba\u0345 \u1fb4Ά\u0345 \u1fb6Α\u0342 \u1fb7Α\u0342\u0345 " +
	"\u1fc2\u1fca\u0345 \u1fc4Ή\u0345 \u1fc6Η\u0342 \u1fc7Η\u0342\u0345 \u1fd2Ι\u0308\u0300 " +
	"\u1fd3Ι\u0308\u0301 \u1fd6Ι\u0342 \u1fd7Ι\u0308\u0342 \u1fe2Υ\u0308\u0300 \u1fe3Υ\u0308\u0301 " +
	"\u1fe4Ρ\u0313 \u1fe6Υ\u0342 \u1fe7Υ\u0308\u0342 \u1ff2\u1ffa\u0345 \u1ff4Ώ\u0345 \u1ff6Ω\u0342 " +
	"\u1ff7Ω\u0342\u0345 \ufb00Ff \ufb01Fi \ufb02Fl \ufb03Ffi \ufb04Ffl \ufb05St \ufb06St \ufb13Մն " +
	"\ufb14Մե \ufb15Մի \ufb16Վն \ufb17Մխ"

// special looks a character up in longUpper or longTitle.
func special(table string, c rune) string {
	if c < 0xdf || c > 0x587 && c < 0x1e96 || c > 0x1ffc && c < 0xfb00 || c > 0xfb17 {
		return ""
	}
	for table != "" {
		word, rest, _ := strings.Cut(table, " ")
		if first, n := utf8.DecodeRuneInString(word); first == c {
			return word[n:]
		}
		table = rest
	}
	return ""
}

// upper is s in capitals; some characters become several.
func upper(s string) string {
	buf := make([]byte, 0, len(s))
	for _, c := range s {
		if long := special(longUpper, c); long != "" {
			buf = append(buf, long...)
			continue
		}
		buf = utf8.AppendRune(buf, unicode.ToUpper(c))
	}
	return string(buf)
}

// titleRune is the form of a character at the start of a word.
func titleRune(c rune) string {
	if s := special(longTitle, c); s != "" {
		return s
	}
	return string(unicode.ToTitle(c))
}

// lower is s in small letters. A capital sigma at the end of a word becomes the final form.
func lower(s string) string {
	buf := make([]byte, 0, len(s))
	for i, c := range s {
		switch c {
		case 'İ':
			buf = append(buf, "i̇"...)
		case 'Σ':
			before, _ := utf8.DecodeLastRuneInString(s[:i])
			after, _ := utf8.DecodeRuneInString(s[i+len("Σ"):])
			if isCased(before) && !isCased(after) {
				c = 'ς'
			}
			buf = utf8.AppendRune(buf, unicode.ToLower(c))
		default:
			buf = utf8.AppendRune(buf, unicode.ToLower(c))
		}
	}
	return string(buf)
}

// casefold is s in the form in which case makes no difference.
func casefold(s string) string {
	return strings.ReplaceAll(lower(upper(s)), "ς", "σ")
}

func isCased(c rune) bool { return unicode.IsUpper(c) || unicode.IsLower(c) || unicode.IsTitle(c) }

// capitalize starts with a capital and goes on in small letters.
func capitalize(s string) string {
	c, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return ""
	}
	return titleRune(c) + lower(s[n:])
}

// titleWords starts every run of letters with a capital.
func titleWords(s string) string {
	buf := make([]byte, 0, len(s))
	inside := false
	for _, c := range s {
		if inside {
			buf = append(buf, lower(string(c))...)
		} else {
			buf = append(buf, titleRune(c)...)
		}
		inside = isCased(c)
	}
	return string(buf)
}

// swapcase turns capitals into small letters and the reverse.
func swapcase(s string) string {
	buf := make([]byte, 0, len(s))
	for _, c := range s {
		if unicode.IsUpper(c) {
			buf = append(buf, lower(string(c))...)
		} else {
			buf = append(buf, upper(string(c))...)
		}
	}
	return string(buf)
}

// isCase reports whether s has letters with case, all of which satisfy is.
func isCase(s string, is func(rune) bool) bool {
	found := false
	for _, c := range s {
		if isCased(c) {
			if !is(c) {
				return false
			}
			found = true
		}
	}
	return found
}
