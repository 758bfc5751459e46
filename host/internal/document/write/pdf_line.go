package write

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// piece is a piece of a line that is not divided: a word, a blank, or one character of a script
// without blanks.
type piece struct {
	text   string
	face   face
	width  float64
	link   string
	struck bool
}

// breakLines sets spans in lines of at most the given width, at least one, and gives each line when
// it is full. Words that are wider are divided.
func breakLines(spans []span, size, width float64) iter.Seq[[]piece] {
	return func(yield func([]piece) bool) {
		var line []piece
		used, more := 0.0, true
		next := func() {
			more = more && yield(line)
			line, used = nil, 0
		}
		put := func(w piece) {
			if used+w.width > width && len(line) > 0 {
				if w.text == " " {
					return // a blank at the end of a line is not seen
				}
				next()
			}
			line = append(line, w)
			used += w.width
		}
		for _, s := range spans {
			for w := range cutSpan(s, size) {
				switch {
				case !more:
					return
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
		next()
	}
}

// cutSpan cuts a span where a line may end, and where the font changes.
func cutSpan(s span, size float64) iter.Seq[piece] {
	base := faceOf(s)
	link := ""
	if l := strings.ToLower(s.link); strings.HasPrefix(l, "https://") || strings.HasPrefix(l, "http://") || strings.HasPrefix(l, "mailto:") {
		link = s.link
	}
	return func(yield func(piece) bool) {
		more := true
		add := func(text string, f face) {
			if text != "" && more {
				more = yield(piece{text, f, textWidth(text, f, size), link, s.struck})
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
			if !more {
				return
			}
		}
		add(text[open:], base)
	}
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
