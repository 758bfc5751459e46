package template

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// stringMethods lists the methods of strings. Those of a safe string return safe strings.
var stringMethods = [...]callable{
	{"capitalize", 0, "", textMethod(capitalize)},
	{"casefold", 0, "", textMethod(func(s string) string { return strings.ReplaceAll(lower(upper(s)), "ς", "σ") })},
	{"center", 1, "width fillchar", padMethod(padBoth)},
	{"count", 1, "sub start end", func(r *render, v value, a *args) value {
		s, _, ok := window(r, v, a)
		r.scan(s)
		if sub := a.text(r, 0, ""); ok {
			return int64(strings.Count(s, sub))
		}
		return int64(0)
	}},
	{"endswith", 1, "suffix start end", affixMethod(strings.HasSuffix)},
	{"find", 1, "sub start end", findMethod(strings.Index, false)},
	{"format", 0, "*", braces},
	{"index", 1, "sub start end", findMethod(strings.Index, true)},
	{"isalnum", 0, "", everyMethod(func(c rune) bool { return unicode.IsLetter(c) || isNumeric(c) })},
	{"isalpha", 0, "", everyMethod(unicode.IsLetter)},
	{"isdecimal", 0, "", everyMethod(unicode.IsDigit)},
	{"isdigit", 0, "", everyMethod(isDigit)},
	{"islower", 0, "", caseMethod(unicode.IsLower)},
	{"isnumeric", 0, "", everyMethod(isNumeric)},
	{"isspace", 0, "", everyMethod(isSpace)},
	{"isupper", 0, "", caseMethod(unicode.IsUpper)},
	{"join", 1, "iterable", methodJoin},
	{"ljust", 1, "width fillchar", padMethod(padRight)},
	{"lower", 0, "", textMethod(lower)},
	{"lstrip", 0, "chars", stripMethod(true, false)},
	{"partition", 1, "sep", partitionMethod(strings.Index, false)},
	{"removeprefix", 1, "prefix", cutMethod(strings.TrimPrefix)},
	{"removesuffix", 1, "suffix", cutMethod(strings.TrimSuffix)},
	{"replace", 2, "old new count", func(r *render, v value, a *args) value {
		old, with := a.text(r, 0, ""), a.text(r, 1, "")
		if isSafe(v) {
			old, with = escape(r, a.at(0)), escape(r, a.at(1))
		}
		return like(v, replace(r, str(r, v), old, with, a.int(r, 2, -1)))
	}},
	{"rfind", 1, "sub start end", findMethod(strings.LastIndex, false)},
	{"rindex", 1, "sub start end", findMethod(strings.LastIndex, true)},
	{"rjust", 1, "width fillchar", padMethod(padLeft)},
	{"rpartition", 1, "sep", partitionMethod(strings.LastIndex, true)},
	{"rsplit", 0, "sep maxsplit", splitMethod(true)},
	{"rstrip", 0, "chars", stripMethod(false, true)},
	{"split", 0, "sep maxsplit", splitMethod(false)},
	{"splitlines", 0, "keepends", func(r *render, v value, a *args) value {
		s := str(r, v)
		r.spend(len(s) / 4)
		return texts(r, v, lines(s, a.truth(0, false)))
	}},
	{"startswith", 1, "prefix start end", affixMethod(strings.HasPrefix)},
	{"strip", 0, "chars", stripMethod(true, true)},
	{"title", 0, "", textMethod(titleWords)},
	{"upper", 0, "", textMethod(upper)},
	{"zfill", 1, "width", func(r *render, v value, a *args) value {
		s, sign := str(r, v), ""
		if s != "" && (s[0] == '-' || s[0] == '+') {
			sign, s = s[:1], s[1:]
		}
		return like(v, sign+pad(r, s, a.int(r, 0, 0)-len(sign), "0", padLeft))
	}},
}

// textMethod makes a method or filter from a function. Values that are not strings are printed
// first.
func textMethod(change func(string) string) method {
	return func(r *render, v value, _ *args) value {
		s := str(r, v)
		r.walk(s)
		return like(v, r.made(change(s)))
	}
}

// caseMethod tests whether a string has letters with case, and is returns true for all of them.
func caseMethod(is func(rune) bool) method {
	return func(r *render, v value, _ *args) value {
		s := str(r, v)
		r.walk(s)
		return strings.ContainsFunc(s, isCased) &&
			!strings.ContainsFunc(s, func(c rune) bool { return isCased(c) && !is(c) })
	}
}

// everyMethod tests whether a string is not empty and is returns true for all its characters.
func everyMethod(is func(rune) bool) method {
	return func(r *render, v value, _ *args) value {
		s := str(r, v)
		r.walk(s)
		return s != "" && !strings.ContainsFunc(s, func(c rune) bool { return !is(c) })
	}
}

// isDigit includes superscripts, subscripts and circled digits.
func isDigit(c rune) bool {
	return unicode.IsDigit(c) || strings.ContainsRune("²³¹", c) ||
		c >= 0x2070 && c <= 0x2089 && unicode.IsNumber(c) ||
		c >= 0x2460 && c <= 0x2468 || c >= 0x2474 && c <= 0x247c || c >= 0x2488 && c <= 0x2490
}

// isNumeric includes Chinese numerals.
func isNumeric(c rune) bool {
	return unicode.IsNumber(c) || strings.ContainsRune("一二三四五六七八九十百千万億兆亿零壹贰叁肆伍陆柒捌玖拾佰仟萬", c)
}

func padMethod(share func(n, width int) int) method {
	return func(r *render, v value, a *args) value {
		fill := a.text(r, 1, " ")
		if utf8.RuneCountInString(fill) != 1 {
			r.fail("the fill must be a single character, not %q", firstBytes(fill, 40))
		}
		return like(v, pad(r, str(r, v), a.int(r, 0, 0), fill, share))
	}
}

// window returns the part of a string between the arguments "start" and "end", and the index of its
// first character. ok is false if start is beyond the end.
func window(r *render, v value, a *args) (part string, start int, ok bool) {
	s := str(r, v)
	if a.at(1) == nil && a.at(2) == nil {
		return s, 0, true
	}
	n := r.length(s)
	b := (&slice{a.at(1), a.at(2), nil}).bounds(r, n)
	from := offset(s, b.start)
	ok = b.start <= b.stop && (isNone(a.at(1)) || r.needInt(a.at(1)) <= n)
	return s[from : from+offset(s[from:], b.size())], b.start, ok
}

func findMethod(find func(s, sub string) int, mustExist bool) method {
	return func(r *render, v value, a *args) value {
		s, start, ok := window(r, v, a)
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

func affixMethod(has func(s, affix string) bool) method {
	return func(r *render, v value, a *args) value {
		s, _, ok := window(r, v, a)
		affixes := []value{a.at(0)}
		if typeName(a.at(0)) == "tuple" {
			affixes = a.at(0).(*list).items
		}
		for _, x := range affixes {
			affix := (&args{plain: []value{x}}).text(r, 0, "")
			if r.scan(affix); ok && has(s, affix) {
				return true
			}
		}
		return false
	}
}

func cutMethod(cut func(s, affix string) string) method {
	return func(r *render, v value, a *args) value { return like(v, cut(str(r, v), a.text(r, 0, ""))) }
}

// stripMethod removes the characters of the argument, or white space, from the chosen ends.
func stripMethod(left, right bool) method {
	return func(r *render, v value, a *args) value {
		s, drop := str(r, v), isSpace
		r.scan(s)
		if !isNone(a.at(0)) {
			set := a.text(r, 0, "")
			drop = func(c rune) bool { return strings.ContainsRune(set, c) }
		}
		if left {
			s = strings.TrimLeftFunc(s, drop)
		}
		if right {
			s = strings.TrimRightFunc(s, drop)
		}
		return like(v, s)
	}
}

func methodJoin(r *render, v value, a *args) value {
	items := collect(r, a.at(0))
	for i, x := range items {
		if _, ok := asText(x); !ok {
			r.fail("join needs strings, item %d is %s", i, describe(r, x))
		}
	}
	text := str
	if isSafe(v) {
		text = escape
	}
	return like(v, joinTexts(r, str(r, v), items, text))
}

func partitionMethod(find func(s, sub string) int, last bool) method {
	return func(r *render, v value, a *args) value {
		s, sep := str(r, v), separator(r, a)
		r.scan(s)
		before, middle, after := s, "", ""
		if k := find(s, sep); k >= 0 {
			before, middle, after = s[:k], sep, s[k+len(sep):]
		} else if last {
			before, after = "", s
		}
		return newTuple(like(v, before), like(v, middle), like(v, after))
	}
}

// separator returns the first argument, which must not be empty.
func separator(r *render, a *args) string {
	sep := a.text(r, 0, "")
	if sep == "" {
		r.fail("the separator is empty")
	}
	return sep
}

// texts returns a list of parts of a string.
func texts(r *render, v value, parts []string) value {
	r.spend(len(parts))
	items := make([]value, len(parts))
	for i, s := range parts {
		items[i] = like(v, s)
	}
	return newList(items)
}

func splitMethod(fromRight bool) method {
	return func(r *render, v value, a *args) value {
		s, most := str(r, v), a.int(r, 1, -1)
		if most < 0 || most > len(s) {
			most = len(s)
		}
		if isNone(a.at(0)) {
			r.spend(len(s) / 4)
			return texts(r, v, splitSpace(s, most, fromRight))
		}
		sep := separator(r, a)
		r.scan(s)
		r.spend(strings.Count(s, sep))
		if !fromRight {
			return texts(r, v, strings.SplitN(s, sep, most+1))
		}
		var parts []string
		for k := strings.LastIndex(s, sep); k >= 0 && most > 0; k = strings.LastIndex(s, sep) {
			parts = append(parts, s[k+len(sep):])
			s, most = s[:k], most-1
		}
		parts = append(parts, s)
		slices.Reverse(parts)
		return texts(r, v, parts)
	}
}

// splitSpace splits a string at runs of white space, at most most times.
func splitSpace(s string, most int, fromRight bool) []string {
	isText := func(c rune) bool { return !isSpace(c) }
	trim := strings.TrimLeftFunc
	if fromRight {
		trim = strings.TrimRightFunc
	}
	var parts []string
	for s = trim(s, isSpace); s != ""; most-- {
		rest := ""
		if most > 0 {
			rest = trim(s, isText)
		}
		if fromRight {
			parts = append(parts, s[len(rest):])
		} else {
			parts = append(parts, s[:len(s)-len(rest)])
		}
		s = trim(rest, isSpace)
	}
	if fromRight {
		slices.Reverse(parts)
	}
	return parts
}
