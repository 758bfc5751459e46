package template

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// escape is v as text with the characters escaped that mean something in HTML. What is safe stays as it is.
func (r *render) escape(v value) safe {
	if s, ok := v.(safe); ok {
		return s
	}
	text := escapeHTML(r.str(v))
	r.walk(text)
	return safe(r.made(text))
}

func escapeHTML(s string) string {
	if !strings.ContainsAny(s, `&<>"'`) {
		return s
	}
	buf := make([]byte, 0, len(s)+len(s)/8)
	for i := range len(s) {
		switch c := s[i]; c {
		case '&':
			buf = append(buf, "&amp;"...)
		case '<':
			buf = append(buf, "&lt;"...)
		case '>':
			buf = append(buf, "&gt;"...)
		case '"':
			buf = append(buf, "&#34;"...)
		case '\'':
			buf = append(buf, "&#39;"...)
		default:
			buf = append(buf, c)
		}
	}
	return string(buf)
}

// stripTags removes tags and comments, decodes entities and makes every run of blanks a single one.
func stripTags(s string) string {
	s = cutBetween(s, "<!--", "-->")
	s = cutBetween(s, "<", ">")
	return unescapeHTML(strings.Join(strings.FieldsFunc(s, isSpace), " "))
}

func cutBetween(s, start, end string) string {
	var buf []byte
	for {
		from := strings.Index(s, start)
		if from < 0 {
			break
		}
		to := strings.Index(s[from+len(start):], end)
		if to < 0 {
			break
		}
		buf = append(buf, s[:from]...)
		s = s[from+len(start)+to+len(end):]
	}
	return string(append(buf, s...))
}

// latinEntities names the characters from U+00A0 on.
const latinEntities = "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn " +
	"sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde " +
	"Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde " +
	"Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil " +
	"egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave " +
	"uacute ucirc uuml yacute thorn yuml"

// otherEntities pairs names and characters.
const otherEntities = "amp & lt < gt > quot \" apos ' hellip … mdash — ndash – lsquo ‘ rsquo ’ ldquo “ rdquo ” " +
	"sbquo ‚ bdquo „ lsaquo ‹ rsaquo › bull • dagger † Dagger ‡ permil ‰ prime ′ Prime ″ euro € trade ™ larr ← uarr ↑ " +
	"rarr → darr ↓ harr ↔ ensp \u2002 emsp \u2003 thinsp \u2009 zwnj \u200c zwj \u200d lrm \u200e rlm \u200f " +
	"OElig Œ oelig œ Scaron Š scaron š Yuml Ÿ fnof ƒ circ ˆ tilde ˜ minus − le ≤ ge ≥ ne ≠ asymp ≈ infin ∞"

// unescapeHTML decodes character references. Names are those that people write, not all two thousand.
func unescapeHTML(s string) string {
	at := strings.IndexByte(s, '&')
	if at < 0 {
		return s
	}
	buf := make([]byte, 0, len(s))
	for at >= 0 {
		buf = append(buf, s[:at]...)
		s = s[at:]
		end := strings.IndexByte(s[:min(len(s), 12)], ';')
		if text := entity(s[1:max(end, 1)]); end > 0 && text != "" {
			buf, s = append(buf, text...), s[end+1:]
		} else {
			buf, s = append(buf, '&'), s[1:]
		}
		at = strings.IndexByte(s, '&')
	}
	return string(append(buf, s...))
}

// entity is the character of a reference without "&" and ";", or "".
func entity(name string) string {
	if digits, ok := strings.CutPrefix(name, "#"); ok {
		base := 10
		if digits != "" && digits[0]|0x20 == 'x' {
			digits, base = digits[1:], 16
		}
		n, err := strconv.ParseUint(digits, base, 32)
		if err != nil || n == 0 || n > utf8.MaxRune {
			return ""
		}
		return string(rune(n))
	}
	if name == "" {
		return ""
	}
	c := rune(0xa0)
	for rest := latinEntities; rest != ""; c++ {
		var word string
		if word, rest, _ = strings.Cut(rest, " "); word == name {
			return string(c)
		}
	}
	words := strings.Split(otherEntities, " ")
	for i := 0; i+1 < len(words); i += 2 {
		if words[i] == name {
			return words[i+1]
		}
	}
	return ""
}
