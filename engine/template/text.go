package template

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// multiUpper maps characters to upper case forms of several characters. Greek letters with an iota
// subscript are omitted.
var multiUpper = strings.NewReplacer("ß", "SS", "ŉ", "ʼN", "ǰ", "J̌", "ΐ", "Ϊ́", "ΰ", "Ϋ́", "և", "ԵՒ",
	"ẖ", "H̱", "ẗ", "T̈", "ẘ", "W̊", "ẙ", "Y̊", "ẚ", "Aʾ", "ﬀ", "FF", "ﬁ", "FI", "ﬂ", "FL", "ﬃ", "FFI",
	"ﬄ", "FFL", "ﬅ", "ST", "ﬆ", "ST", "ﬓ", "ՄՆ", "ﬔ", "ՄԵ", "ﬕ", "ՄԻ", "ﬖ", "ՎՆ", "ﬗ", "ՄԽ")

// upper returns s in upper case.
func upper(s string) string { return strings.ToUpper(multiUpper.Replace(s)) }

// titleRune returns the form of a character at the start of a word.
func titleRune(c rune) string {
	s := upper(string(c))
	if n := offset(s, 1); n < len(s) {
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
func capitalize(s string) string { return titled(s, titleRune, func(rune) bool { return false }) }

// titleWords capitalizes every run of letters, as the method "title" does.
func titleWords(s string) string {
	return titled(s, titleRune, func(before rune) bool { return !isCased(before) })
}

// titleText capitalizes every word after white space, hyphens and opening brackets, as the filter
// "title" does.
func titleText(s string) string {
	first := func(c rune) string { return upper(string(c)) }
	return titled(s, first, func(before rune) bool { return isSpace(before) || strings.ContainsRune("-({[<", before) })
}

// titled returns s in lower case, except for the first character and those after a character for
// which starts returns true, which are mapped by first.
func titled(s string, first func(rune) string, starts func(before rune) bool) string {
	var b strings.Builder
	done, next := 0, true
	for i, c := range s {
		if next {
			b.WriteString(lower(s[done:i]) + first(c))
			done = i + offset(s[i:], 1)
		}
		next = starts(c)
	}
	return b.String() + lower(s[done:])
}

// lines splits s at line ends, which are included if keep is set.
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
	hyphens   bool // words at hyphens
	lines     []string
}

// paragraph breaks one line. White space is dropped at the end of a line, and at the start of all
// but the first.
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

// long handles a chunk that is longer than a line. The part that fits fills the remaining room, up
// to the last hyphen if there is one. A word that must not be broken gets its own line.
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

// chunks splits a line where it may be broken: around white space and "--" between words, and after
// a hyphen between two letters on each side.
func (w *wrapper) chunks(s []rune) []string {
	isBlank := func(i int) bool { return s[i] == ' ' || s[i] >= '\t' && s[i] <= '\r' }
	isLetter := func(i int) bool { return i >= 0 && i < len(s) && isWord(s[i]) && !unicode.IsDigit(s[i]) }
	isDash := func(i int) bool {
		return i > 0 && i+2 < len(s) && s[i] == '-' && s[i+1] == '-' && s[i-1] != '-' && !isBlank(i-1) && isWord(s[i+2])
	}
	var out []string
	for start := 0; start < len(s); {
		end := start + 1
		for ; end < len(s) && isBlank(end) == isBlank(start); end++ {
			between := isLetter(end-3) && isLetter(end-2) && isLetter(end) && isLetter(end+1)
			if w.hyphens && (isDash(end) || isDash(end-2) || between && s[end-1] == '-') {
				break
			}
		}
		out = append(out, string(s[start:end]))
		start = end
	}
	return out
}
