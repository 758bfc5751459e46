package template

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

var htmlEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")

// escape returns v as a string with HTML special characters escaped, unless it is safe.
func escape(r *render, v value) string {
	s := str(r, v)
	if isSafe(v) {
		return s
	}
	s = htmlEscaper.Replace(s)
	r.walk(s)
	return r.made(s)
}

// stripTags removes tags and comments, decodes entities and collapses white space.
func stripTags(s string) string {
	s = cutBetween(cutBetween(s, "<!--", "-->"), "<", ">")
	return unescapeHTML(strings.Join(strings.FieldsFunc(s, isSpace), " "))
}

func cutBetween(s, start, end string) string {
	var buf []byte
	for {
		before, inside, found := strings.Cut(s, start)
		_, after, closed := strings.Cut(inside, end)
		if !found || !closed {
			return string(append(buf, s...))
		}
		buf, s = append(buf, before...), after
	}
}

// latinEntities names the characters from U+00A0 to U+00FF.
const latinEntities = "" +
	" nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3" +
	" acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde" +
	" Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute" +
	" Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde" +
	" auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute" +
	" ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml "

// otherEntities pairs names and characters.
const otherEntities = "" +
	" amp & lt < gt > quot \" apos ' hellip … mdash — ndash – lsquo ‘ rsquo ’ ldquo “ rdquo ” sbquo ‚ bdquo „" +
	" lsaquo ‹ rsaquo › bull • dagger † Dagger ‡ permil ‰ prime ′ Prime ″ euro € trade ™ larr ← uarr ↑ rarr →" +
	" darr ↓ harr ↔ ensp \u2002 emsp \u2003 thinsp \u2009 zwnj \u200c zwj \u200d lrm \u200e rlm \u200f OElig" +
	" Œ oelig œ Scaron Š scaron š Yuml Ÿ fnof ƒ circ ˆ tilde ˜ minus − le ≤ ge ≥ ne ≠ asymp ≈ infin ∞ "

// unescapeHTML decodes character references. It supports common names, not all of about 2000.
func unescapeHTML(s string) string {
	var buf []byte
	for {
		before, rest, found := strings.Cut(s, "&")
		buf = append(buf, before...)
		if !found {
			return string(buf)
		}
		end := strings.IndexByte(rest[:min(len(rest), 11)], ';')
		if text := entity(rest[:max(end, 0)]); text != "" {
			buf, rest = append(buf, text...), rest[end+1:]
		} else {
			buf = append(buf, '&')
		}
		s = rest
	}
}

// entity returns the character of a reference without "&" and ";", or "".
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
	if name == "" || digitValue(name[0]) < 10 || digitValue(name[0]) > 35 {
		return ""
	}
	if before, _, found := strings.Cut(latinEntities, " "+name+" "); found {
		return string(rune(0xa0 + strings.Count(before, " ")))
	}
	_, rest, _ := strings.Cut(otherEntities, " "+name+" ")
	c, _, _ := strings.Cut(rest, " ")
	return c
}
