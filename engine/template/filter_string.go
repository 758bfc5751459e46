package template

import (
	"strings"
	"unicode/utf8"
)

func filterEscape(r *render, v value, _ *args) value { return r.escape(v) }

func filterForceEscape(r *render, v value, _ *args) value { return r.escape(r.str(v)) }

func filterSafe(r *render, v value, _ *args) value { return safe(r.str(v)) }

func filterString(r *render, v value, _ *args) value {
	if s, ok := v.(safe); ok {
		return s
	}
	return r.str(v)
}

func filterCenter(r *render, v value, a *args) value {
	return like(v, r.pad(r.str(v), a.int(r, 0, 80), " ", padBoth))
}

func filterTrim(r *render, v value, a *args) value {
	s := r.str(v)
	r.scan(s)
	return like(v, trim(s, trimSet(r, a), true, true))
}

func filterStriptags(r *render, v value, _ *args) value {
	s := r.str(v)
	r.spend(len(s)/8 + 4*strings.Count(s, "&"))
	return stripTags(s)
}

func filterWordcount(r *render, v value, _ *args) value {
	s := r.str(v)
	r.spend(len(s) / 8)
	return int64(countWords(s))
}

func filterReplace(r *render, v value, a *args) value {
	s, old, with := r.str(v), r.str(a.at(0)), r.str(a.at(1))
	n := -1
	if !isNone(a.at(2)) {
		n = a.int(r, 2, -1)
	}
	if !r.autoescape {
		return r.replace(s, old, with, n)
	}
	_, safeValue := v.(safe)
	_, safeOld := a.at(0).(safe)
	_, safeNew := a.at(1).(safe)
	if !safeValue && !safeOld && !safeNew {
		return r.replace(s, old, with, n)
	}
	return safe(r.replace(string(r.escape(v)), string(r.escape(a.at(0))), string(r.escape(a.at(1))), n))
}

// replace is strings.Replace within the limits.
func (r *render) replace(s, old, with string, n int) string {
	r.scan(s)
	count := strings.Count(s, old)
	if n >= 0 {
		count = min(count, n)
	}
	r.times(count, len(with))
	r.reserve(len(s) + count*len(with))
	return strings.Replace(s, old, with, count)
}

// truncateLeeway is how many characters too long a text may be without being cut.
const truncateLeeway = 5

func filterTruncate(r *render, v value, a *args) value {
	end := a.text(r, 2, "...")
	limit, leeway := a.int(r, 0, 255), truncateLeeway
	if !isNone(a.at(3)) {
		leeway = a.int(r, 3, truncateLeeway)
	}
	marks := r.length(end)
	if limit < marks {
		r.fail("truncate to %d characters leaves no room for %q", limit, end)
	}
	if leeway < 0 {
		r.fail("the leeway of truncate is negative")
	}
	if r.len(v) <= limit+leeway {
		return v
	}
	s := r.needText(v)
	s = s[:offset(s, limit-marks)]
	if !a.truth(r, 1, false) {
		if k := strings.LastIndexByte(s, ' '); k >= 0 {
			s = s[:k]
		}
	}
	return like(v, s+end)
}

// needText is a text; anything else fails.
func (r *render) needText(v value) string {
	s, ok := asText(v)
	if !ok {
		r.needDefined(v)
		r.fail("a string is needed, not %s", r.describe(v))
	}
	return s
}

func filterIndent(r *render, v value, a *args) value {
	s := r.needText(v)
	indention := "    "
	if w := a.at(0); w != nil {
		text, ok := asText(w)
		if !ok {
			n := max(0, r.needInt(w))
			r.times(n, 1)
			text = strings.Repeat(" ", n)
		}
		indention = text
	}
	list := lines(s+"\n", false)
	r.times(len(list), len(indention)+1)
	r.reserve(len(s) + len(list)*len(indention))
	first, blank := a.truth(r, 1, false), a.truth(r, 2, false)
	for i, line := range list {
		if (i > 0 || first) && (line != "" || blank && i > 0 || first && i == 0) {
			list[i] = indention + line
		}
	}
	return like(v, strings.Join(list, "\n"))
}

func filterWordwrap(r *render, v value, a *args) value {
	s := r.needText(v)
	r.spend(len(s))
	w := &wrapper{width: a.int(r, 0, 79), breakLong: a.truth(r, 1, true), hyphens: a.truth(r, 3, true), newline: "\n"}
	if !isNone(a.at(2)) {
		w.newline = a.text(r, 2, "\n")
	}
	if w.width <= 0 {
		r.fail("wordwrap needs a width above 0")
	}
	r.times(len(s)/max(1, w.width)+strings.Count(s, "\n")+1, len(w.newline))
	return r.made(w.text(s))
}

func filterFormat(r *render, v value, a *args) value {
	s := filterString(r, v, nil)
	if len(a.names) > 0 && len(a.plain) > 0 {
		r.fail("format takes arguments by place or by name, not both")
	}
	if len(a.names) > 0 {
		return r.percent(s, r.dictOf(&args{names: a.names, named: a.named}))
	}
	return r.percent(s, &tuple{items: a.plain})
}

// trimSet is the first argument of the trimming functions: nil for blanks.
func trimSet(r *render, a *args) *string {
	if isNone(a.at(0)) {
		return nil
	}
	set := a.text(r, 0, "")
	return &set
}

// trim removes characters of a set from the chosen ends.
func trim(s string, set *string, left, right bool) string {
	drop := isSpace
	if set != nil {
		drop = func(c rune) bool { return strings.ContainsRune(*set, c) }
	}
	if left {
		s = strings.TrimLeftFunc(s, drop)
	}
	if right {
		s = strings.TrimRightFunc(s, drop)
	}
	return s
}

// firstBytes is s cut to n bytes at a character.
func firstBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
