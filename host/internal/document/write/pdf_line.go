package write

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// piece is a piece of a line that is not divided: a word, a blank, or one character of a script without blanks.
type piece struct {
	text   string
	face   face
	width  float64
	link   string
	struck bool
}

// breakLines sets spans in lines of at most the given width, at least one. Words that are wider are divided.
func breakLines(spans []span, size, width float64) [][]piece {
	lines, used := [][]piece{nil}, 0.0
	next := func() {
		lines, used = append(lines, nil), 0
	}
	put := func(w piece) {
		n := len(lines) - 1
		if used+w.width > width && len(lines[n]) > 0 {
			if w.text == " " {
				return // a blank at the end of a line is not seen
			}
			next()
			n++
		}
		lines[n] = append(lines[n], w)
		used += w.width
	}
	for _, s := range spans {
		for _, w := range cutSpan(s, size) {
			switch {
			case w.text == "\n":
				next()
			case w.width <= width:
				put(w)
			default:
				for _, r := range w.text {
					letter := w
					letter.text, letter.width = string(r), textWidth(string(r), w.face, size)
					put(letter)
				}
			}
		}
	}
	return lines
}

// cutSpan cuts a span where a line may end, and where the font changes.
func cutSpan(s span, size float64) []piece {
	var out []piece
	base := faceOf(s)
	link := ""
	if l := strings.ToLower(s.link); strings.HasPrefix(l, "https://") || strings.HasPrefix(l, "http://") || strings.HasPrefix(l, "mailto:") {
		link = s.link
	}
	add := func(text string, f face) {
		if text != "" {
			out = append(out, piece{text, f, textWidth(text, f, size), link, s.struck})
		}
	}
	text := printable(s.text)
	open := 0 // where the open word begins
	for i, r := range text {
		if western := inWestern(r); r == '\n' || r == ' ' || !western {
			add(text[open:i], base)
			open = i + utf8.RuneLen(r)
			add(text[i:open], map[bool]face{true: base, false: eastern}[western || r == '\n'])
		}
	}
	add(text[open:], base)
	return out
}

// printable replaces what no font here shows.
func printable(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\t':
			b.WriteString("    ")
		case r == '☑':
			b.WriteString("[x]")
		case r == '☐':
			b.WriteString("[ ]")
		case r == '\n', !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Mn, r):
			b.WriteRune(r)
		}
	}
	return b.String()
}
