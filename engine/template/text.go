package template

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// multiUpper lists characters whose upper case is several characters: each followed by its upper
// case. Greek letters with a iota subscript are left out.
const multiUpper = " ßSS ŉ\u02bcN ǰJ\u030c ΐΙ\u0308\u0301 ΰΥ\u0308\u0301 ևԵՒ \u1e96H\u0331 \u1e97T\u0308 \u1e98W\u030a " +
	"\u1e99Y\u030a \u1e9aA\u02be ﬀFF ﬁFI ﬂFL ﬃFFI ﬄFFL ﬅST ﬆST ﬓՄՆ ﬔՄԵ ﬕՄԻ ﬖՎՆ ﬗՄԽ "

// upper returns s in upper case.
func upper(s string) string {
	buf := make([]byte, 0, len(s))
	for _, c := range s {
		if c < utf8.RuneSelf {
			buf = append(buf, byte(unicode.ToUpper(c)))
			continue
		}
		buf = append(buf, upperRune(c)...)
	}
	return string(buf)
}

func upperRune(c rune) string {
	if unicode.IsLower(c) {
		_, rest, _ := strings.Cut(multiUpper, " "+string(c))
		if several, _, found := strings.Cut(rest, " "); found {
			return several
		}
	}
	return string(unicode.ToUpper(c))
}

// titleRune returns the form of a character at the start of a word.
func titleRune(c rune) string {
	if s := upperRune(c); utf8.RuneCountInString(s) > 1 {
		_, n := utf8.DecodeRuneInString(s)
		return s[:n] + lower(s[n:])
	}
	return string(unicode.ToTitle(c))
}

// lower returns s in lower case. A sigma at the end of a word becomes the final form.
func lower(s string) string {
	buf := make([]byte, 0, len(s))
	for i, c := range s {
		switch c {
		case 'İ':
			buf = append(buf, "i̇"...)
			continue
		case 'Σ':
			before, _ := utf8.DecodeLastRuneInString(s[:i])
			after, _ := utf8.DecodeRuneInString(s[i+len("Σ"):])
			if isCased(before) && !isCased(after) {
				c = 'ς'
			}
		}
		buf = utf8.AppendRune(buf, unicode.ToLower(c))
	}
	return string(buf)
}

func isCased(c rune) bool { return unicode.IsUpper(c) || unicode.IsLower(c) || unicode.IsTitle(c) }

// capitalize returns s with its first character in title case and the others in lower case.
func capitalize(s string) string {
	c, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return ""
	}
	return titleRune(c) + lower(s[n:])
}

// titleWords capitalizes every run of letters, as the method "title" does.
func titleWords(s string) string {
	var b strings.Builder
	inside := false
	for _, c := range s {
		if inside {
			b.WriteString(lower(string(c)))
		} else {
			b.WriteString(titleRune(c))
		}
		inside = isCased(c)
	}
	return b.String()
}

// titleText capitalizes every word, as the filter "title" does. Words begin behind space, hyphens
// and opening brackets.
func titleText(s string) string {
	var b strings.Builder
	for s != "" {
		start := 0
		if c, n := utf8.DecodeRuneInString(s); startsWord(c) {
			start = n
		}
		end := strings.IndexFunc(s[start:], startsWord)
		if end < 0 {
			end = len(s) - start
		}
		word := s[start : start+end]
		_, n := utf8.DecodeRuneInString(word)
		b.WriteString(s[:start] + upper(word[:n]) + lower(word[n:]))
		s = s[start+end:]
	}
	return b.String()
}

func startsWord(c rune) bool { return isSpace(c) || strings.ContainsRune("-({[<", c) }

// swapcase exchanges upper and lower case.
func swapcase(s string) string {
	var b strings.Builder
	for _, c := range s {
		if unicode.IsUpper(c) {
			b.WriteString(lower(string(c)))
		} else {
			b.WriteString(upper(string(c)))
		}
	}
	return b.String()
}

// lines splits s at line ends, which are kept or dropped.
func lines(s string, keep bool) []string {
	isEnd := func(c rune) bool {
		return c >= '\n' && c <= '\r' || c >= 0x1c && c <= 0x1e || c == 0x85 || c == 0x2028 || c == 0x2029
	}
	var list []string
	for s != "" {
		end := strings.IndexFunc(s, isEnd)
		if end < 0 {
			return append(list, s)
		}
		next := end + offset(s[end:], 1)
		if strings.HasPrefix(s[end:], "\r\n") {
			next = end + 2
		}
		if keep {
			end = next
		}
		list, s = append(list, s[:end]), s[next:]
	}
	return list
}

// isWord reports whether c is part of a word.
func isWord(c rune) bool { return c == '_' || unicode.IsLetter(c) || unicode.IsNumber(c) }

// wrapper breaks paragraphs into lines of at most width characters, as Python's textwrap does.
type wrapper struct {
	width     int
	breakLong bool // words longer than a line
	hyphens   bool // behind hyphens
	lines     []string
}

// paragraph breaks one line. A chunk of space is dropped at the end of a line, and at the start of
// all but the first.
func (w *wrapper) paragraph(s string) {
	blank := func(chunk string) bool { return strings.TrimLeftFunc(chunk, isSpace) == "" }
	chunks, before := w.chunks([]rune(s)), len(w.lines)
	for first := true; len(chunks) > 0; {
		if !first && blank(chunks[0]) {
			chunks = chunks[1:]
		}
		var line []string
		room := w.width
		for len(chunks) > 0 && offset(chunks[0], room) == len(chunks[0]) {
			room -= utf8.RuneCountInString(chunks[0])
			line, chunks = append(line, chunks[0]), chunks[1:]
		}
		if len(chunks) > 0 && offset(chunks[0], w.width) < len(chunks[0]) {
			line, chunks = w.long(line, chunks, room)
		}
		if n := len(line); n > 0 && blank(line[n-1]) {
			line = line[:n-1]
		}
		if len(line) > 0 {
			w.lines, first = append(w.lines, strings.Join(line, "")), false
		}
	}
	if len(w.lines) == before {
		w.lines = append(w.lines, "")
	}
}

// long handles a chunk that is longer than a line. What fits goes into the room that is left, up to
// the last hyphen if there is one. A word that may not be broken gets a line of its own.
func (w *wrapper) long(line, chunks []string, room int) (newLine, rest []string) {
	s := chunks[0]
	cut := offset(s, room)
	switch k := strings.LastIndexByte(s[:cut], '-'); {
	case !w.breakLong && len(line) > 0:
		return line, chunks
	case !w.breakLong:
		return append(line, s), chunks[1:]
	case w.hyphens && k > 0 && strings.Trim(s[:k], "-") != "":
		cut = k + 1
	}
	chunks[0] = s[cut:]
	return append(line, s[:cut]), chunks
}

// chunks splits a line where it may be broken: around space, behind hyphens between letters and
// around dashes of several hyphens between words.
func (w *wrapper) chunks(s []rune) []string {
	isBlank := func(i int) bool { return s[i] == ' ' || s[i] >= '\t' && s[i] <= '\r' }
	var out []string
	for start := 0; start < len(s); {
		end := start + 1
		if n := w.dashAt(s, start); n > 0 {
			end = start + n
		} else if isBlank(start) {
			for end < len(s) && isBlank(end) {
				end++
			}
		} else {
			for end < len(s) && !isBlank(end) && w.dashAt(s, end) == 0 && !w.hyphenBefore(s, end) {
				end++
			}
		}
		out = append(out, string(s[start:end]))
		start = end
	}
	return out
}

// isWordEnd reports whether c may stand before a dash or between the hyphens of a short word.
func isWordEnd(c rune) bool { return isWord(c) || strings.ContainsRune("!\"'&.,?", c) }

// dashAt returns the length of a dash of two or more hyphens between words at index i, or 0.
func (w *wrapper) dashAt(s []rune, i int) int {
	if !w.hyphens || s[i] != '-' || i == 0 || !isWordEnd(s[i-1]) {
		return 0
	}
	n := 0
	for i+n < len(s) && s[i+n] == '-' {
		n++
	}
	if n < 2 || i+n == len(s) || !isWord(s[i+n]) {
		return 0
	}
	return n
}

// hyphenBefore reports whether a word may be broken at index i, behind a hyphen: two letters stand
// before it, or a letter, a hyphen and a character of a word, and two letters behind it, perhaps with
// a hyphen between them.
func (w *wrapper) hyphenBefore(s []rune, i int) bool {
	letter := func(k int) bool { return k >= 0 && k < len(s) && isWord(s[k]) && !unicode.IsDigit(s[k]) }
	hyphen := func(k int) bool { return k >= 0 && k < len(s) && s[k] == '-' }
	before := letter(i-3) && letter(i-2) || letter(i-4) && hyphen(i-3) && isWordEnd(s[i-2])
	return w.hyphens && hyphen(i-1) && before && letter(i) && (letter(i+1) || hyphen(i+1) && letter(i+2))
}
