package template

import (
	"strings"
	"unicode/utf8"
)

// filterTable lists all filters.
var filterTable = [...]callable{
	{"abs", 0, "", filterAbs},
	{"attr", 1, "name", filterAttr},
	{"batch", 1, "linecount fill_with", filterBatch},
	{"capitalize", 0, "", textMethod(capitalize)},
	{"center", 0, "width", func(r *render, v value, a *args) value {
		return like(v, pad(r, str(r, v), a.int(r, 0, 80), " ", padBoth))
	}},
	{"count", 0, "", filterLength},
	{"d", 0, "default_value boolean", filterDefault},
	{"default", 0, "default_value boolean", filterDefault},
	{"dictsort", 0, "case_sensitive by reverse", filterDictsort},
	{"e", 0, "", filterEscape},
	{"escape", 0, "", filterEscape},
	{"filesizeformat", 0, "binary", filterFilesize},
	{"first", 0, "", filterFirst},
	{"float", 0, "default", filterFloat},
	{"forceescape", 0, "", func(r *render, v value, _ *args) value { return safe(escape(r, str(r, v))) }},
	{"format", 0, "*", filterFormat},
	{"groupby", 1, "attribute default case_sensitive", filterGroupby},
	{"indent", 0, "width first blank", filterIndent},
	{"int", 0, "default base", filterInt},
	{"items", 0, "", filterItems},
	{"join", 0, "d attribute", filterJoin},
	{"last", 0, "", filterLast},
	{"length", 0, "", filterLength},
	{"list", 0, "", func(r *render, v value, _ *args) value { return newList(collect(r, v)) }},
	{"lower", 0, "", textMethod(lower)},
	{"map", 0, "*", filterMap},
	{"max", 0, "case_sensitive attribute", extreme(1)},
	{"min", 0, "case_sensitive attribute", extreme(-1)},
	{"pprint", 0, "", func(r *render, v value, _ *args) value {
		w := &writer{r: r, sorted: true}
		w.value(v)
		return r.made(string(w.buf))
	}},
	{"reject", 0, "*", selector(false, false)},
	{"rejectattr", 0, "*", selector(true, false)},
	{"replace", 2, "old new count", filterReplace},
	{"reverse", 0, "", filterReverse},
	{"round", 0, "precision method", filterRound},
	{"safe", 0, "", func(r *render, v value, _ *args) value { return safe(str(r, v)) }},
	{"select", 0, "*", selector(false, true)},
	{"selectattr", 0, "*", selector(true, true)},
	{"slice", 1, "slices fill_with", filterSlice},
	{"sort", 0, "reverse case_sensitive attribute", filterSort},
	{"string", 0, "", filterString},
	{"striptags", 0, "", func(r *render, v value, _ *args) value {
		s := str(r, v)
		r.spend(len(s)/8 + 4*strings.Count(s, "&"))
		return stripTags(s)
	}},
	{"sum", 0, "attribute start", filterSum},
	{"title", 0, "", textMethod(titleText)},
	{"tojson", 0, "indent", filterTojson},
	{"trim", 0, "chars", stripMethod(true, true)},
	{"truncate", 0, "length killwords end leeway", filterTruncate},
	{"unique", 0, "case_sensitive attribute", filterUnique},
	{"upper", 0, "", textMethod(upper)},
	{"urlencode", 0, "", filterUrlencode},
	{"wordcount", 0, "", func(r *render, v value, _ *args) value {
		s := str(r, v)
		r.spend(len(s) / 8)
		return int64(len(strings.FieldsFunc(s, func(c rune) bool { return !isWord(c) })))
	}},
	{"wordwrap", 0, "width break_long_words wrapstring break_on_hyphens", filterWordwrap},
}

func filterEscape(r *render, v value, _ *args) value { return safe(escape(r, v)) }

func filterLength(r *render, v value, _ *args) value { return int64(length(r, v)) }

func filterString(r *render, v value, _ *args) value { return like(v, str(r, v)) }

func filterDefault(_ *render, v value, a *args) value {
	if !isUndefined(v) && (truth(v) || !a.truth(1, false)) {
		return v
	}
	return a.or(0, "")
}

// filterAttr finds attributes and methods only, not the members of an object.
func filterAttr(r *render, v value, a *args) value {
	r.needDefined(v)
	name := str(r, a.at(0))
	if x := ownAttribute(r, v, name, name); x != nil {
		return x
	}
	return missing(v, name)
}

func filterReplace(r *render, v value, a *args) value {
	n := -1
	if !isNone(a.at(2)) {
		n = a.int(r, 2, -1)
	}
	text := str
	escaped := r.autoescape && (isSafe(v) || isSafe(a.at(0)) || isSafe(a.at(1)))
	if escaped {
		text = escape
	}
	s := replace(r, text(r, v), text(r, a.at(0)), text(r, a.at(1)), n)
	if escaped {
		return safe(s)
	}
	return s
}

// replace is strings.Replace within the limits.
func replace(r *render, s, old, with string, n int) string {
	r.scan(s)
	count := strings.Count(s, old)
	if n >= 0 {
		count = min(count, n)
	}
	r.times(len(s), count, len(with))
	return strings.Replace(s, old, with, count)
}

func filterTruncate(r *render, v value, a *args) value {
	end, limit := a.text(r, 2, "..."), a.int(r, 0, 255)
	leeway := 5 // excess characters that are not cut
	if !isNone(a.at(3)) {
		leeway = a.int(r, 3, leeway)
	}
	room := limit - r.length(end)
	if room < 0 {
		r.fail("truncate to %d characters leaves no room for %q", limit, end)
	}
	if leeway < 0 {
		r.fail("the leeway of truncate is negative")
	}
	if length(r, v) <= limit+leeway {
		return v
	}
	s := r.needText(v)
	s = s[:offset(s, room)]
	if k := strings.LastIndexByte(s, ' '); k >= 0 && !a.truth(1, false) {
		s = s[:k]
	}
	return like(v, s+end)
}

func filterIndent(r *render, v value, a *args) value {
	s := r.needText(v)
	indent := "    "
	if w := a.at(0); w != nil {
		text, ok := asText(w)
		if !ok {
			n := max(0, r.needInt(w))
			r.times(0, n, 1)
			text = strings.Repeat(" ", n)
		}
		indent = text
	}
	list := lines(s+"\n", false)
	r.times(len(s), len(list), len(indent)+1)
	first, blank := a.truth(1, false), a.truth(2, false)
	for i, line := range list {
		if i == 0 && first || i > 0 && (line != "" || blank) {
			list[i] = indent + line
		}
	}
	return like(v, strings.Join(list, "\n"))
}

func filterWordwrap(r *render, v value, a *args) value {
	s, newline := r.needText(v), "\n"
	r.spend(len(s))
	if !isNone(a.at(2)) {
		newline = a.text(r, 2, newline)
	}
	w := &wrapper{width: a.int(r, 0, 79), breakLong: a.truth(1, true), hyphens: a.truth(3, true)}
	if w.width <= 0 {
		r.fail("wordwrap needs a width above 0")
	}
	r.times(len(s), len(s)/w.width+strings.Count(s, "\n")+1, len(newline))
	for _, line := range lines(s, false) {
		w.paragraph(line)
	}
	return r.made(strings.Join(w.lines, newline))
}

func filterFormat(r *render, v value, a *args) value {
	s := filterString(r, v, nil)
	if len(a.names) > 0 && len(a.plain) > 0 {
		r.fail("format takes plain or named arguments, not both")
	}
	if len(a.names) > 0 {
		return percent(r, s, dictOf(r, a))
	}
	return percent(r, s, newTuple(a.plain...))
}

func filterTojson(r *render, v value, a *args) value {
	w := &writer{r: r, json: true}
	if indent := a.at(0); !isNone(indent) {
		w.pretty = true
		text, ok := asText(indent)
		if !ok {
			n := max(0, r.needInt(indent))
			r.reserve(n)
			text = strings.Repeat(" ", n)
		}
		w.indent = text
	}
	w.value(v)
	return safe(r.made(string(w.buf)))
}

// filterUrlencode escapes a string for a URL, or builds a query from an object or pairs.
func filterUrlencode(r *render, v value, _ *args) value {
	if d, ok := v.(*dict); ok {
		v = d.view(itemsView)
	} else if _, ok := asText(v); ok || elements(v) == nil {
		return r.made(urlQuote(str(r, v), "/"))
	}
	var parts []string
	each(r, v, func(pair value) {
		kv := collect(r, pair)
		if len(kv) != 2 {
			r.fail("urlencode needs pairs, got %d values", len(kv))
		}
		part := urlQuote(str(r, kv[0]), " ") + "=" + urlQuote(str(r, kv[1]), " ")
		parts = append(parts, r.made(strings.ReplaceAll(part, " ", "+")))
	})
	return r.made(strings.Join(parts, "&"))
}

// urlQuote escapes all bytes except letters, digits, _.-~ and those in keep.
func urlQuote(s, keep string) string {
	buf := make([]byte, 0, len(s)+len(s)/4)
	for i := range len(s) {
		c := s[i]
		if digitValue(c) < 36 || strings.IndexByte("_.-~", c) >= 0 || strings.IndexByte(keep, c) >= 0 {
			buf = append(buf, c)
		} else {
			buf = append(buf, '%', "0123456789ABCDEF"[c>>4], "0123456789ABCDEF"[c&15])
		}
	}
	return string(buf)
}

// firstBytes returns the longest prefix of s of whole characters and at most n bytes.
func firstBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
