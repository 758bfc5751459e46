package template

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// pad fills s with copies of fill up to width characters; share says how many of the n missing go before it.
func (r *render) pad(s string, width int, fill string, share func(n, width int) int) string {
	n := width - r.length(s)
	if n <= 0 {
		return s
	}
	r.times(n, len(fill))
	r.reserve(len(s) + n)
	before := share(n, width)
	return strings.Repeat(fill, before) + s + strings.Repeat(fill, n-before)
}

func padLeft(n, _ int) int  { return n }
func padRight(int, int) int { return 0 }

// padBoth puts the odd blank before the text when the width is odd too.
func padBoth(n, width int) int { return n/2 + n&width&1 }

// isLineEnd reports whether c ends a line for "splitlines".
func isLineEnd(c rune) bool {
	return c >= '\n' && c <= '\r' || c >= 0x1c && c <= 0x1e || c == 0x85 || c == 0x2028 || c == 0x2029
}

// lines cuts s at line ends, which are kept or dropped.
func lines(s string, keep bool) []string {
	var list []string
	for s != "" {
		end := strings.IndexFunc(s, isLineEnd)
		if end < 0 {
			return append(list, s)
		}
		_, n := utf8.DecodeRuneInString(s[end:])
		if strings.HasPrefix(s[end:], "\r\n") {
			n = 2
		}
		if keep {
			list = append(list, s[:end+n])
		} else {
			list = append(list, s[:end])
		}
		s = s[end+n:]
	}
	return list
}

// isWord reports whether c belongs to a word for "wordcount".
func isWord(c rune) bool { return c == '_' || unicode.IsLetter(c) || unicode.IsNumber(c) }

func countWords(s string) int {
	return len(strings.FieldsFunc(s, func(c rune) bool { return !isWord(c) }))
}

// titleText capitalizes every word; words begin behind blanks, hyphens and opening brackets.
func titleText(s string) string {
	var buf []byte
	start := 0
	word := func(end int) {
		if w := s[start:end]; w != "" {
			_, n := utf8.DecodeRuneInString(w)
			buf = append(append(buf, upper(w[:n])...), lower(w[n:])...)
		}
	}
	for i, c := range s {
		if isSpace(c) || strings.ContainsRune("-({[<", c) {
			word(i)
			start = i + utf8.RuneLen(c)
			buf = utf8.AppendRune(buf, c)
		}
	}
	word(len(s))
	return string(buf)
}

// wrapper breaks paragraphs into lines of at most width characters.
type wrapper struct {
	width     int
	breakLong bool // words longer than a line
	hyphens   bool // behind hyphens
	newline   string
}

func (w *wrapper) text(s string) string {
	var out []string
	for _, line := range lines(s, false) {
		out = append(out, strings.Join(w.paragraph(line), w.newline))
	}
	return strings.Join(out, w.newline)
}

func (w *wrapper) paragraph(s string) []string {
	var done []string
	var line []byte
	length := 0
	flush := func() {
		if text := strings.TrimRightFunc(string(line), isSpace); text != "" {
			done = append(done, text)
		}
		line, length = line[:0], 0
	}
	for _, c := range w.chunks(s) {
		n := utf8.RuneCountInString(c)
		blank := strings.TrimFunc(c, isSpace) == ""
		for length+n > w.width {
			if n > w.width && w.breakLong && !blank && w.width > length {
				cut := offset(c, w.width-length)
				if k := strings.LastIndexByte(c[:cut], '-'); w.hyphens && k > 0 && strings.Trim(c[:k], "-") != "" {
					cut = k + 1
				}
				line = append(line, c[:cut]...)
				c = c[cut:]
				n = utf8.RuneCountInString(c)
				flush()
				continue
			}
			if len(line) == 0 {
				break
			}
			flush()
		}
		if blank && len(line) == 0 && len(done) > 0 {
			continue
		}
		line = append(line, c...)
		length += n
	}
	flush()
	return done
}

// chunks cuts a line where it may be broken: around blanks and, if wanted, behind hyphens between letters.
func (w *wrapper) chunks(s string) []string {
	var out []string
	start := 0
	runes := []rune(s)
	cut := func(end int) {
		if end > start {
			out = append(out, string(runes[start:end]))
		}
		start = end
	}
	for i := 1; i < len(runes); i++ {
		if isSpace(runes[i]) != isSpace(runes[i-1]) {
			cut(i)
		} else if w.hyphens && hyphenBefore(runes, start, i) {
			cut(i)
		}
	}
	cut(len(runes))
	return out
}

// hyphenBefore reports whether a word that began at start may be broken before place i, behind a hyphen: two letters
// before it, two letters behind.
func hyphenBefore(s []rune, start, i int) bool {
	letter := func(k int) bool {
		return k >= start && k < len(s) && (unicode.IsLetter(s[k]) || k < i && unicode.IsDigit(s[k]))
	}
	return s[i-1] == '-' && letter(i-2) && letter(i-3) && letter(i) && (letter(i+1) || i+1 < len(s) && s[i+1] == '-' && letter(i+2))
}
