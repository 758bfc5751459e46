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

// piece is a stretch of a line that is kept together while it fits.
type piece struct {
	text  string
	runes int
	solid int // where its last character ends that is no blank
}

func newPiece(text string, runes int) piece {
	return piece{text, runes, len(strings.TrimRightFunc(text, isSpace))}
}

// split cuts a piece, so that what is left need not be looked at again.
func (p piece) split(cut, runes int) (head, tail piece) {
	return newPiece(p.text[:cut], runes), piece{p.text[cut:], p.runes - runes, max(0, p.solid-cut)}
}

// paragraph breaks one line: pieces are put side by side while they fit. A blank one neither ends a line nor begins
// one behind the first.
func (w *wrapper) paragraph(s string) []string {
	var done []string
	pieces := w.pieces(s)
	for len(pieces) > 0 {
		if pieces[0].solid == 0 && len(done) > 0 {
			pieces = pieces[1:]
		}
		var line []piece
		room := w.width
		for len(pieces) > 0 && pieces[0].runes <= room {
			room -= pieces[0].runes
			line, pieces = append(line, pieces[0]), pieces[1:]
		}
		if len(pieces) > 0 && pieces[0].runes > w.width {
			line, pieces = w.long(line, pieces, room)
		}
		if n := len(line); n > 0 && line[n-1].solid == 0 {
			line = line[:n-1]
		}
		if len(line) > 0 {
			var b strings.Builder
			for _, p := range line {
				b.WriteString(p.text)
			}
			done = append(done, b.String())
		}
	}
	return done
}

// long deals with a piece that is longer than a line: what fits of it goes into the room that is left, up to its last
// hyphen if it has one; a word that may not be broken gets a line of its own.
func (w *wrapper) long(line, pieces []piece, room int) (newLine, left []piece) {
	p := pieces[0]
	if !w.breakLong {
		if len(line) == 0 {
			return append(line, p), pieces[1:]
		}
		return line, pieces
	}
	cut := offset(p.text, room)
	if k := strings.LastIndexByte(p.text[:cut], '-'); w.hyphens && k > 0 && strings.Trim(p.text[:k], "-") != "" {
		cut, room = k+1, utf8.RuneCountInString(p.text[:k+1])
	}
	head, tail := p.split(cut, room)
	pieces[0] = tail
	return append(line, head), pieces
}

// pieces cuts a line where it may be broken: around blanks and, if wanted, behind hyphens between letters and around
// dashes of several hyphens between words.
func (w *wrapper) pieces(s string) []piece {
	var out []piece
	runes := []rune(s)
	for start := 0; start < len(runes); {
		end := start + 1
		switch {
		case isBlank(runes[start]):
			for end < len(runes) && isBlank(runes[end]) {
				end++
			}
		case w.hyphens && dashAt(runes, start) > 0:
			end += dashAt(runes, start) - 1
		default:
			for ; end < len(runes) && !isBlank(runes[end]); end++ {
				if w.hyphens && runes[end] == '-' && hyphenAt(runes, end) {
					end++
					break
				}
				if w.hyphens && dashAt(runes, end) > 0 {
					break
				}
			}
		}
		out = append(out, newPiece(string(runes[start:end]), end-start))
		start = end
	}
	return out
}

// isBlank reports whether c separates words; other kinds of space do not.
func isBlank(c rune) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func isLetter(c rune) bool { return isWord(c) && !unicode.IsDigit(c) }

// isWordEnd reports whether c may stand before a dash or between the hyphens of a short word.
func isWordEnd(c rune) bool { return isWord(c) || strings.ContainsRune("!\"'&.,?", c) }

// dashAt is the length of a dash of two or more hyphens that stands at i between words, or 0.
func dashAt(s []rune, i int) int {
	if i == 0 || !isWordEnd(s[i-1]) {
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

// hyphenAt reports whether a word may be broken behind the hyphen at i: two letters stand before it, or a letter, a
// hyphen and a character of a word; two letters, perhaps with a hyphen between them, stand behind it.
func hyphenAt(s []rune, i int) bool {
	letter := func(k int) bool { return k >= 0 && k < len(s) && isLetter(s[k]) }
	before := letter(i-2) && letter(i-1) || i >= 3 && letter(i-3) && s[i-2] == '-' && isWordEnd(s[i-1])
	return before && letter(i+1) && (letter(i+2) || i+2 < len(s) && s[i+2] == '-' && letter(i+3))
}
