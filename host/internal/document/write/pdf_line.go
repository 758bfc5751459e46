package write

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// piece is a piece of a line that is not divided: a word, a blank, or one character of a script
// without blanks.
type piece struct {
	text   string
	face   face
	width  float64
	link   string
	struck bool
	pale   bool // of a watermark
}

// sameStyle reports whether two pieces go out together.
func (p piece) sameStyle(q piece) bool {
	return p.face == q.face && p.link == q.link && p.struck == q.struck
}

// breakLines sets spans in lines of at most the given width, at least one, and yields each line
// when it is full. Words that are wider are divided.
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
	return func(yield func(piece) bool) {
		more := true
		add := func(text string, f face) {
			if text != "" && more {
				width := textWidth(text, f, size)
				more = yield(piece{text: text, face: f, width: width, link: s.link, struck: s.struck})
			}
		}
		text := printable(shapeArabic(norm.NFC.String(s.text)))
		open, inOpen := 0, base // where the open word begins, and its font
		for i, r := range text {
			f := inOpen
			if r != '\n' && r != ' ' {
				f, _ = faceFor(r, base)
			}
			if r != '\n' && r != ' ' && f < eastern && f == inOpen {
				continue
			}
			add(text[open:i], inOpen)
			open, inOpen = i, f
			if r == '\n' || r == ' ' || f >= eastern { // a line may end on both sides
				open, inOpen = i+utf8.RuneLen(r), base
				add(text[i:open], f)
			}
			if !more {
				return
			}
		}
		add(text[open:], inOpen)
	}
}

// printable replaces characters without a glyph by U+FFFD, and drops those without width.
func printable(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n':
			b.WriteRune(r)
		case r == '\t':
			b.WriteString("    ")
		case r == '\u00A0':
			b.WriteRune(' ')
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Mn, r):
		default:
			if _, ok := faceFor(r, upright); !ok {
				r = unicode.ReplacementChar
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}
