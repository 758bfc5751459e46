package template

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// filterUrlize turns addresses in a text into links.
func filterUrlize(r *render, v value, a *args) value {
	l := &linker{r: r, limit: -1}
	if !isNone(a.at(0)) {
		l.limit = a.int(r, 0, -1)
	}
	rel := newList([]value{"noopener"})
	if a.truth(r, 1, false) {
		rel.items = []value{"nofollow", "noopener"}
	}
	if words := r.optionalText(a, 3); words != "" {
		for _, word := range strings.Fields(words) {
			if !r.contains(rel, word) {
				rel.items = append(rel.items, word)
			}
		}
		rel.items = r.sorted(rel.items, func(v value) value { return v }, false)
	}
	l.attributes = ` rel="` + escapeHTML(r.joined(" ", rel.items, r.str)) + `"`
	if target := r.optionalText(a, 2); target != "" {
		l.attributes += ` target="` + escapeHTML(target) + `"`
	}
	if !isNone(a.at(4)) {
		r.each(a.at(4), func(scheme value) { l.schemes = append(l.schemes, r.str(scheme)) })
	}
	s := string(r.escape(v))
	r.spend(len(s) / 4)
	var buf []byte
	for s != "" {
		end := strings.IndexFunc(s, isSpace)
		if end < 0 {
			end = len(s)
		}
		buf = append(buf, l.word(s[:end])...)
		s = s[end:]
		end = len(s) - len(strings.TrimLeftFunc(s, isSpace))
		buf, s = append(buf, s[:end]...), s[end:]
		r.reserve(len(buf))
	}
	return r.markup(string(buf))
}

func (r *render) optionalText(a *args, i int) string {
	if isNone(a.at(i)) {
		return ""
	}
	return a.text(r, i, "")
}

type linker struct {
	r          *render
	limit      int // characters shown of an address; -1 for all
	attributes string
	schemes    []string
}

// word links a word that is an address, leaving brackets and punctuation around it outside.
//
//go:noinline
func (l *linker) word(s string) string {
	head := leading(s, "(", "<", "&lt;")
	middle := s[len(head):]
	tail := trailing(middle, ")", ">", ".", ",", "\n", "&gt;")
	middle = middle[:len(middle)-len(tail)]
	for _, pair := range [][2]string{{"(", ")"}, {"<", ">"}, {"&lt;", "&gt;"}} {
		for strings.Count(middle, pair[0]) > strings.Count(middle, pair[1]) {
			k := strings.Index(tail, pair[1])
			if k < 0 {
				break
			}
			l.r.walk(middle)
			end := k + len(pair[1])
			middle, tail = middle+tail[:end], tail[end:]
		}
	}
	return head + l.link(middle) + tail
}

func leading(s string, marks ...string) string {
	rest := s
	for again := true; again; {
		again = false
		for _, m := range marks {
			if strings.HasPrefix(rest, m) {
				rest, again = rest[len(m):], true
			}
		}
	}
	return s[:len(s)-len(rest)]
}

func trailing(s string, marks ...string) string {
	rest := s
	for again := true; again; {
		again = false
		for _, m := range marks {
			if strings.HasSuffix(rest, m) {
				rest, again = rest[:len(rest)-len(m)], true
			}
		}
	}
	return s[len(rest):]
}

func (l *linker) link(s string) string {
	switch {
	case isWeb(s):
		href := s
		if !strings.HasPrefix(s, "https://") && !strings.HasPrefix(s, "http://") {
			href = "https://" + s
		}
		return l.anchor(href, l.attributes, s)
	case strings.HasPrefix(s, "mailto:") && isMail(s[len("mailto:"):]):
		return l.anchor(s, "", s[len("mailto:"):])
	case isMail(s):
		return l.anchor("mailto:"+s, "", s)
	}
	for _, scheme := range l.schemes {
		if strings.HasPrefix(s, scheme) && s != scheme {
			return l.anchor(s, l.attributes, s)
		}
	}
	return s
}

func (l *linker) anchor(href, attributes, text string) string {
	if l.limit >= 0 && utf8.RuneCountInString(text) > l.limit {
		text = text[:offset(text, l.limit)] + "..."
	}
	return `<a href="` + href + `"` + attributes + ">" + text + "</a>"
}

// isWeb reports whether s looks like a web address: with a scheme, with www., or ending in a well known domain.
func isWeb(s string) bool {
	s = lower(s)
	rest, scheme := strings.CutPrefix(s, "https://")
	if !scheme {
		rest, scheme = strings.CutPrefix(s, "http://")
	}
	host := rest
	if k := strings.IndexAny(rest, "/?#"); k >= 0 {
		host = rest[:k]
	}
	host, port, hasPort := strings.Cut(host, ":")
	labels := strings.Split(host, ".")
	top := labels[len(labels)-1]
	for _, l := range labels {
		if l == "" || strings.ContainsFunc(l, func(c rune) bool { return !isWord(c) && c != '-' && c != '%' }) {
			return false
		}
	}
	if hasPort && (port == "" || len(port) > 5 || !allDigits(port)) {
		return false
	}
	switch {
	case scheme && len(labels) == 4 && allDigits(strings.Join(labels, "")):
		return true
	case scheme || len(labels) > 1 && labels[0] == "www":
		return len(top) >= 2 && !strings.ContainsFunc(top, func(c rune) bool { return c < 'a' || c > 'z' })
	}
	return len(labels) > 1 && len(labels[len(labels)-2]) >= 2 &&
		slices.Contains([]string{"com", "net", "int", "edu", "gov", "org", "info", "mil"}, top)
}

func allDigits(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c < '0' || c > '9' })
}

func isMail(s string) bool {
	name, host, ok := strings.Cut(s, "@")
	dot := strings.LastIndexByte(host, '.')
	return ok && name != "" && !strings.ContainsAny(host, "@:/") && dot > 0 && len(host)-dot > 2 &&
		!strings.ContainsAny(name, ":;&")
}
