package template

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// stringMethods lists the methods of strings. Those of a safe text give safe texts.
var stringMethods = [...]callable{
	{"capitalize", 0, "", stringFilter(capitalize)},
	{"casefold", 0, "", stringFilter(casefold)},
	{"center", 1, "width fillchar", padMethod(padBoth)},
	{"count", 1, "sub start end", methodCount},
	{"endswith", 1, "suffix start end", affixMethod(strings.HasSuffix)},
	{"expandtabs", 0, "tabsize", methodExpandtabs},
	{"find", 1, "sub start end", findMethod(strings.Index, false)},
	{"format", 0, "*", func(r *render, v value, a *args) value { return r.braces(v, a) }},
	{"index", 1, "sub start end", findMethod(strings.Index, true)},
	{"isalnum", 0, "", everyMethod(func(c rune) bool { return unicode.IsLetter(c) || isNumeric(c) })},
	{"isalpha", 0, "", everyMethod(unicode.IsLetter)},
	{"isascii", 0, "", methodIsascii},
	{"isdecimal", 0, "", everyMethod(unicode.IsDigit)},
	{"isdigit", 0, "", everyMethod(isDigit)},
	{"islower", 0, "", func(r *render, v value, _ *args) value { return r.isCase(v, unicode.IsLower) }},
	{"isnumeric", 0, "", everyMethod(isNumeric)},
	{"isspace", 0, "", everyMethod(isSpace)},
	{"istitle", 0, "", methodIstitle},
	{"isupper", 0, "", func(r *render, v value, _ *args) value { return r.isCase(v, unicode.IsUpper) }},
	{"join", 1, "iterable", methodJoin},
	{"ljust", 1, "width fillchar", padMethod(padRight)},
	{"lower", 0, "", stringFilter(lower)},
	{"lstrip", 0, "chars", stripMethod(true, false)},
	{"partition", 1, "sep", partitionMethod(strings.Index, false)},
	{"removeprefix", 1, "prefix", cutMethod(strings.TrimPrefix)},
	{"removesuffix", 1, "suffix", cutMethod(strings.TrimSuffix)},
	{"replace", 2, "old new count", methodReplace},
	{"rfind", 1, "sub start end", findMethod(strings.LastIndex, false)},
	{"rindex", 1, "sub start end", findMethod(strings.LastIndex, true)},
	{"rjust", 1, "width fillchar", padMethod(padLeft)},
	{"rpartition", 1, "sep", partitionMethod(strings.LastIndex, true)},
	{"rsplit", 0, "sep maxsplit", splitMethod(true)},
	{"rstrip", 0, "chars", stripMethod(false, true)},
	{"split", 0, "sep maxsplit", splitMethod(false)},
	{"splitlines", 0, "keepends", methodSplitlines},
	{"startswith", 1, "prefix start end", affixMethod(strings.HasPrefix)},
	{"strip", 0, "chars", stripMethod(true, true)},
	{"swapcase", 0, "", stringFilter(swapcase)},
	{"title", 0, "", stringFilter(titleWords)},
	{"upper", 0, "", stringFilter(upper)},
	{"zfill", 1, "width", methodZfill},
}

type method = func(r *render, self value, a *args) value

// isCase is isCase for a value.
func (r *render) isCase(v value, is func(rune) bool) bool {
	s := r.str(v)
	r.walk(s)
	return isCase(s, is)
}

// isDigit holds for digits, raised and lowered ones and those in circles too.
func isDigit(c rune) bool {
	return unicode.IsDigit(c) || c == '²' || c == '³' || c == '¹' || c >= 0x2070 && c <= 0x2089 && unicode.IsNumber(c) ||
		c >= 0x2460 && c <= 0x2468 || c >= 0x2474 && c <= 0x247c || c >= 0x2488 && c <= 0x2490
}

// isNumeric holds for numbers of any kind, the Chinese ones among them.
func isNumeric(c rune) bool {
	return unicode.IsNumber(c) || strings.ContainsRune("一二三四五六七八九十百千万億兆亿零壹贰叁肆伍陆柒捌玖拾佰仟萬", c)
}

//go:noinline
func everyMethod(is func(rune) bool) method {
	return func(r *render, v value, _ *args) value {
		s := r.str(v)
		r.walk(s)
		return s != "" && strings.IndexFunc(s, func(c rune) bool { return !is(c) }) < 0
	}
}

func methodIsascii(r *render, v value, _ *args) value {
	s := r.str(v)
	r.scan(s)
	return strings.IndexFunc(s, func(c rune) bool { return c >= utf8.RuneSelf }) < 0
}

func methodIstitle(r *render, v value, _ *args) value {
	s := r.str(v)
	r.walk(s)
	return s == titleWords(s) && strings.ContainsFunc(s, isCased)
}

//go:noinline
func padMethod(share func(n, width int) int) method {
	return func(r *render, v value, a *args) value {
		fill := a.text(r, 1, " ")
		if utf8.RuneCountInString(fill) != 1 {
			r.fail("the fill must be a single character, not %q", firstBytes(fill, 40))
		}
		return like(v, r.pad(r.str(v), a.int(r, 0, 0), fill, share))
	}
}

func methodZfill(r *render, v value, a *args) value {
	s := r.str(v)
	sign := ""
	if s != "" && (s[0] == '-' || s[0] == '+') {
		sign, s = s[:1], s[1:]
	}
	return like(v, sign+r.pad(s, a.int(r, 0, 0)-len(sign), "0", padLeft))
}

// window is the part of s between the arguments "start" and "end", and the place where it begins; ok is false when
// it would begin behind the end of s.
func (r *render) window(s string, a *args) (part string, start int, ok bool) {
	if a.at(1) == nil && a.at(2) == nil {
		return s, 0, true
	}
	n := r.length(s)
	if !isNone(a.at(1)) && r.needInt(a.at(1)) > n {
		return "", n, false
	}
	b := r.bounds(n, a.at(1), a.at(2), nil)
	from := offset(s, b.start)
	return s[from : from+offset(s[from:], b.size())], b.start, b.start <= b.stop
}

//go:noinline
func findMethod(find func(s, sub string) int, mustExist bool) method {
	return func(r *render, v value, a *args) value {
		s, start, ok := r.window(r.str(v), a)
		r.scan(s)
		if k := find(s, a.text(r, 0, "")); ok && k >= 0 {
			return int64(start + r.length(s[:k]))
		}
		if mustExist {
			r.fail("the text does not occur")
		}
		return int64(-1)
	}
}

func methodCount(r *render, v value, a *args) value {
	s, _, ok := r.window(r.str(v), a)
	if !ok {
		return int64(0)
	}
	r.scan(s)
	return int64(strings.Count(s, a.text(r, 0, "")))
}

//go:noinline
func affixMethod(has func(s, affix string) bool) method {
	return func(r *render, v value, a *args) value {
		s, _, inside := r.window(r.str(v), a)
		if t, ok := a.at(0).(*tuple); ok {
			for _, x := range t.items {
				if inside && has(s, (&args{plain: []value{x}}).text(r, 0, "")) {
					return true
				}
			}
			return false
		}
		affix := a.text(r, 0, "")
		r.scan(affix)
		return inside && has(s, affix)
	}
}

//go:noinline
func cutMethod(cut func(s, affix string) string) method {
	return func(r *render, v value, a *args) value { return like(v, cut(r.str(v), a.text(r, 0, ""))) }
}

//go:noinline
func stripMethod(left, right bool) method {
	return func(r *render, v value, a *args) value {
		s := r.str(v)
		r.scan(s)
		return like(v, trim(s, trimSet(r, a), left, right))
	}
}

func methodExpandtabs(r *render, v value, a *args) value {
	size := a.int(r, 0, 8)
	var buf []byte
	column := 0
	s := r.str(v)
	r.walk(s)
	for _, c := range s {
		switch {
		case c == '\t':
			if size > 0 {
				n := size - column%size
				r.reserve(len(buf) + n)
				buf = append(buf, strings.Repeat(" ", n)...)
				column += n
			}
			continue
		case c == '\n' || c == '\r':
			column = -1
		}
		buf = utf8.AppendRune(buf, c)
		column++
	}
	return like(v, r.made(string(buf)))
}

func methodJoin(r *render, v value, a *args) value {
	_, isSafe := v.(safe)
	items := r.collect(a.at(0))
	for i, x := range items {
		if _, ok := asText(x); !ok {
			r.fail("join needs strings, item %d is %s", i, r.describe(x))
		}
	}
	text := r.str
	if isSafe {
		text = func(v value) string { return string(r.escape(v)) }
	}
	return like(v, r.joined(r.str(v), items, text))
}

func methodReplace(r *render, v value, a *args) value {
	old, with := a.text(r, 0, ""), a.text(r, 1, "")
	if _, ok := v.(safe); ok {
		old, with = string(r.escape(a.at(0))), string(r.escape(a.at(1)))
	}
	return like(v, r.replace(r.str(v), old, with, a.int(r, 2, -1)))
}

//go:noinline
func partitionMethod(find func(s, sub string) int, last bool) method {
	return func(r *render, v value, a *args) value {
		s, sep := r.str(v), a.text(r, 0, "")
		r.scan(s)
		if sep == "" {
			r.fail("the separator is empty")
		}
		parts := [3]string{s, "", ""}
		if k := find(s, sep); k >= 0 {
			parts = [3]string{s[:k], sep, s[k+len(sep):]}
		} else if last {
			parts = [3]string{"", "", s}
		}
		return &tuple{items: []value{like(v, parts[0]), like(v, parts[1]), like(v, parts[2])}}
	}
}

func methodSplitlines(r *render, v value, a *args) value {
	s := r.str(v)
	r.spend(len(s) / 4)
	return r.texts(v, lines(s, a.truth(r, 0, false)))
}

// texts makes a list of parts of a text.
func (r *render) texts(v value, parts []string) value {
	r.spend(len(parts))
	items := make([]value, len(parts))
	for i, s := range parts {
		items[i] = like(v, s)
	}
	return newList(items)
}

//go:noinline
func splitMethod(fromRight bool) method {
	return func(r *render, v value, a *args) value {
		s, most := r.str(v), a.int(r, 1, -1)
		if isNone(a.at(0)) {
			r.spend(len(s) / 4)
			return r.texts(v, splitBlanks(s, most, fromRight))
		}
		sep := a.text(r, 0, "")
		if sep == "" {
			r.fail("the separator is empty")
		}
		r.scan(s)
		r.spend(strings.Count(s, sep))
		if most < 0 || most > len(s) {
			most = len(s)
		}
		if !fromRight {
			return r.texts(v, strings.SplitN(s, sep, most+1))
		}
		var parts []string
		for k := strings.LastIndex(s, sep); k >= 0 && most > 0; k = strings.LastIndex(s, sep) {
			parts = append(parts, s[k+len(sep):])
			s, most = s[:k], most-1
		}
		return r.texts(v, reversed(append(parts, s)))
	}
}

func reversed(parts []string) []string {
	for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
		parts[i], parts[j] = parts[j], parts[i]
	}
	return parts
}

// splitBlanks splits at runs of blanks, at most so many times.
func splitBlanks(s string, most int, fromRight bool) []string {
	if fromRight {
		s = strings.TrimRightFunc(s, isSpace)
	} else {
		s = strings.TrimLeftFunc(s, isSpace)
	}
	var parts []string
	for s != "" {
		if most == 0 {
			parts = append(parts, s)
			break
		}
		most--
		if fromRight {
			k := strings.LastIndexFunc(s, isSpace)
			_, n := utf8.DecodeRuneInString(s[max(k, 0):])
			if k < 0 {
				k, n = 0, 0
			}
			parts = append(parts, s[k+n:])
			s = strings.TrimRightFunc(s[:k], isSpace)
			continue
		}
		k := strings.IndexFunc(s, isSpace)
		if k < 0 {
			k = len(s)
		}
		parts = append(parts, s[:k])
		s = strings.TrimLeftFunc(s[k:], isSpace)
	}
	if fromRight {
		return reversed(parts)
	}
	return parts
}
