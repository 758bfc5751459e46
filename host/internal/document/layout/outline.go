package layout

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// outline is the bookmarks of a file and where they were found.
type outline struct {
	rules   bool // most were found: only the outline has headings
	deepest int  // level
}

// Scores of a line for a bookmark.
const (
	equalTitle    = 4.0
	equalUnnumber = 3.5 // without numbers
	runInTitle    = 3.0 // the bold text before a paragraph
	partTitle     = 2.0 // one is the beginning of the other
	otherPage     = -1.0
	emphasized    = 0.5 // larger or bold
	behindLast    = 0.5 // it follows the title that was found before
	leastScore    = 1.5
	nearPlace     = 400.0 // points from the destination up to which nearness counts
)

// Limits of the search for titles.
const (
	titleLines = 4         // of one title
	maxCompare = 1_000_000 // titles of compareSize bytes that are compared in a document
	prefixSize = 3         // characters by which titles are looked up

	compareSize = 64 // bytes of a line
)

// titleKey returns the letters and digits of a title, in lower case.
func titleKey(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// unnumbered drops the number of a title: 1.2, A.1, Appendix B, Chapter 3, 第三章.
func unnumbered(s string) string {
	s = strings.TrimSpace(s)
	first, rest, ok := strings.Cut(s, " ")
	if !ok {
		return s
	}
	switch strings.ToLower(first) {
	case "appendix", "chapter", "part", "section", "kapitel", "anhang":
		number, behind, _ := strings.Cut(rest, " ")
		if isTitleNumber(number) {
			return strings.TrimSpace(behind)
		}
		return s
	}
	if isTitleNumber(first) {
		return strings.TrimSpace(rest)
	}
	return s
}

// isTitleNumber reports numbers like 1.2, A.1, IV and 第三章.
func isTitleNumber(s string) bool {
	s = strings.TrimRight(s, ".:)")
	if s == "" {
		return false
	}
	if strings.HasPrefix(s, "第") {
		return strings.ContainsAny(s, "章节節部篇条")
	}
	if s[0] >= 'A' && s[0] <= 'Z' && strings.Trim(s[1:], "0123456789.") == "" {
		return true
	}
	return strings.Trim(s, "0123456789.") == "" || strings.Trim(s, "IVX") == ""
}

// place is a line of a document.
type place struct{ page, element int }

func (p place) before(o place) bool {
	return p.page < o.page || p.page == o.page && p.element < o.element
}

// matcher finds the lines of bookmarks.
type matcher struct {
	d        *Document
	body     float64
	pages    map[int]int                // index by number
	lines    map[int]map[string][]place // of a page, by the beginning of their keys
	compared int
	used     map[place]bool
	last     place
}

// match is the lines of a title.
type match struct {
	place
	lines int // 0 if it was not found
	lead  bool
	score float64
}

// matchOutline finds the bookmarks on the pages. Where most are found, their lines become headings,
// and those that were not found get a heading at their destination.
func (d *Document) matchOutline(body float64) (o outline) {
	if len(d.Outline) < 2 {
		return o
	}
	m := matcher{
		d: d, body: body, pages: map[int]int{}, lines: map[int]map[string][]place{}, used: map[place]bool{},
		last: place{-1, -1},
	}
	for i := range d.pages {
		m.pages[d.pages[i].number] = i
	}
	found, with := 0, 0
	matches := make([]match, len(d.Outline))
	for i := range d.Outline {
		e := &d.Outline[i]
		if _, ok := m.pages[e.Page]; !ok || titleKey(e.Title) == "" {
			continue
		}
		with++
		if matches[i] = m.find(e); matches[i].lines > 0 {
			found++
			m.take(&matches[i])
		}
		o.deepest = max(o.deepest, e.Level)
	}
	if o.rules = with > 1 && 2*found >= with; o.rules {
		m.apply(matches)
	}
	return o
}

func (m *matcher) take(t *match) {
	for i := range t.lines {
		m.used[place{t.page, t.element + i}] = true
	}
	if m.last.before(t.place) {
		m.last = t.place
	}
}

// find returns the best lines for a bookmark.
func (m *matcher) find(e *Entry) (best match) {
	full, short := titleKey(e.Title), titleKey(unnumbered(e.Title))
	best.score = leastScore
	for _, number := range [...]int{e.Page, e.Page + 1, e.Page - 1} {
		page, ok := m.pages[number]
		if !ok {
			continue
		}
		seen := ""
		for _, k := range [...]string{prefix(full), prefix(short)} {
			if k == "" || k == seen {
				continue
			}
			seen = k
			for _, at := range m.linesOf(page)[k] {
				if m.compared > maxCompare {
					return best
				}
				t := m.compare(at, full, short)
				if t.lines == 0 {
					continue
				}
				if t.score += m.bonus(&t, e, number); t.score > best.score {
					best = t
				}
			}
		}
	}
	return best
}

// prefix returns the first characters of a key.
func prefix(key string) string {
	n := 0
	for i := range key {
		if n == prefixSize {
			return key[:i]
		}
		n++
	}
	return key
}

// linesOf returns the lines of a page that may be titles, by how they begin with and without
// number.
func (m *matcher) linesOf(page int) map[string][]place {
	if known, ok := m.lines[page]; ok {
		return known
	}
	out := map[string][]place{}
	for i := range m.d.pages[page].elements {
		l := m.d.pages[page].elements[i].line
		if l == nil || l.contents || l.turned {
			continue
		}
		full, short := prefix(titleKey(l.text)), prefix(titleKey(unnumbered(l.text)))
		out[full] = append(out[full], place{page, i})
		if short != full {
			out[short] = append(out[short], place{page, i})
		}
	}
	m.lines[page] = out
	return out
}

// compare compares the lines from a place on with a title.
func (m *matcher) compare(at place, full, short string) (t match) {
	t.place = at
	elements := m.d.pages[at.page].elements
	first := elements[at.element].line
	text := ""
	for n := range titleLines {
		if at.element+n >= len(elements) || m.used[place{at.page, at.element + n}] {
			return t
		}
		e := &elements[at.element+n]
		l := e.line
		if l == nil || l.contents || math.Abs(l.size-first.size) > sameSize*first.size ||
			n > 0 && l.Top-elements[at.element+n-1].Bottom > first.height() {
			return t
		}
		text = joinLines([]string{text, l.text}, &m.d.known)
		m.compared += 1 + len(text)/compareSize
		k, ks := titleKey(text), titleKey(unnumbered(text))
		if score := titleScore(k, ks, full, short); score > 0 {
			return match{place: at, lines: n + 1, score: score}
		}
		if n == 0 {
			if lead := l.text[:l.lead]; lead != "" {
				if k := titleKey(lead); k == full || k == short || titleKey(unnumbered(lead)) == short {
					return match{place: at, lines: 1, lead: true, score: runInTitle}
				}
			}
			isLarge := l.size >= larger*m.body || l.bold
			if isLarge && len(ks) < 2*len(short)+8 && (strings.HasPrefix(k, full) || strings.HasPrefix(ks, short)) {
				t.lines, t.score = 1, partTitle
			}
		}
		if !strings.HasPrefix(full, k) && !strings.HasPrefix(short, ks) && !strings.HasPrefix(full, ks) {
			return t
		}
		isLarge := first.size >= larger*m.body || first.bold
		if isLarge && t.lines == 0 && 2*len(ks) > len(short) {
			t.lines, t.score = n+1, partTitle
		}
	}
	return t
}

func titleScore(k, ks, full, short string) float64 {
	switch {
	case k == full:
		return equalTitle
	case short != "" && (ks == short || k == short || ks == full):
		return equalUnnumber
	}
	return 0
}

// bonus returns what place and look add to the score of lines.
func (m *matcher) bonus(t *match, e *Entry, page int) (score float64) {
	l := m.d.pages[t.page].elements[t.element].line
	switch {
	case page != e.Page:
		score += otherPage
	case e.Top >= 0:
		score += 1 - min(math.Abs(l.Top-e.Top)/nearPlace, 1)
	}
	if l.size >= larger*m.body || l.bold || t.lead {
		score += emphasized
	}
	if m.last.before(t.place) {
		score += behindLast
	}
	return score
}

// apply makes headings of the lines that were found, and adds those that were not.
func (m *matcher) apply(matches []match) {
	changes := map[int][]change{} // by page
	last := place{0, 0}
	for i := range matches {
		t, e := &matches[i], &m.d.Outline[i]
		if t.lines > 0 {
			changes[t.page] = append(changes[t.page], change{match: *t, entry: e})
			if last.before(t.place) {
				last = place{t.page, t.element + t.lines}
			}
			continue
		}
		at := m.destination(e)
		if at.before(last) || e.Page == 0 {
			at = last
		}
		changes[at.page] = append(changes[at.page], change{match: match{place: at}, entry: e})
		last = at
	}
	for page, list := range changes {
		p := &m.d.pages[page]
		p.elements = changed(p.elements, list, &m.d.known)
	}
}

// destination returns the first element at or below the destination of a bookmark.
func (m *matcher) destination(e *Entry) place {
	page := m.pages[e.Page]
	for i := range m.d.pages[page].elements {
		if m.d.pages[page].elements[i].Bottom > e.Top {
			return place{page, i}
		}
	}
	return place{page, len(m.d.pages[page].elements)}
}

// change is a heading for the elements of a page: of lines that were found, or a new one before an
// element.
type change struct {
	match
	entry *Entry
}

func changed(elements []element, list []change, known *Compounds) []element {
	before := map[int][]change{}
	for _, c := range list {
		before[c.element] = append(before[c.element], c)
	}
	out := make([]element, 0, len(elements)+len(list))
	for i := 0; i <= len(elements); i++ {
		skip := 0
		for _, c := range before[i] {
			level := min(c.entry.Level, 1<<16)
			if c.lines == 0 {
				box := Box{}
				if i < len(elements) {
					box = elements[i].Box
					box.Bottom = box.Top
				}
				out = append(out, element{
					Box: box, line: &segment{Box: box, text: c.entry.Title}, heading: level, lines: 1, missing: true,
				})
				continue
			}
			title, rest := titleOf(elements[i:i+c.lines], c.lead, known)
			title.heading, title.lines = level, c.lines
			if isNumberedTitle(c.entry.Title, title.line.text) {
				title.line.text = c.entry.Title
			}
			if out = append(out, title); rest != nil {
				out = append(out, *rest)
			}
			skip = c.lines
		}
		if skip > 0 {
			for k := i + 1; k < i+skip; k++ { // what was not found comes after the title
				before[i+skip] = append(before[k], before[i+skip]...)
			}
			i += skip - 1
			continue
		}
		if i < len(elements) {
			out = append(out, elements[i])
		}
	}
	return out
}

// isNumberedTitle reports whether a bookmark is a title with the number that its line lacks.
func isNumberedTitle(entry, line string) bool {
	rest := unnumbered(entry)
	return len(rest) < len(entry) && titleKey(rest) == titleKey(line)
}

// titleOf joins the lines of a title. rest follows a title in the same line.
func titleOf(list []element, lead bool, known *Compounds) (title element, rest *element) {
	title = list[0]
	l := *list[0].line
	if lead {
		behind := list[0]
		tail := l
		tail.text, tail.lead, tail.bold = strings.TrimSpace(l.text[l.lead:]), 0, false
		behind.line, behind.first = &tail, false
		l.text = strings.TrimRight(l.text[:l.lead], " ")
		title.line = &l
		return title, &behind
	}
	for _, e := range list[1:] {
		l.text = joinLines([]string{l.text, e.line.text}, known)
		l.Box = l.union(e.Box)
		title.Box = title.union(e.Box)
	}
	title.line = &l
	return title, nil
}

// looksLikeTitle reports whether a text has mostly letters and ends no sentence.
func looksLikeTitle(s string) bool {
	letters := 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return letters >= 3 && 2*letters > utf8.RuneCountInString(s) && !endsSentence(s)
}
