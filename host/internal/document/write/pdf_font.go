package write

import (
	"fmt"
	"strings"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/norm"
)

// face is a font, by its number in the file.
type face int

const (
	upright face = iota + 1
	boldFace
	italicFace
	boldItalic
	mono
	eastern // everything that Western fonts lack
)

func faceOf(s span) face {
	switch {
	case s.mono:
		return mono
	case s.bold && s.italic:
		return boldItalic
	case s.bold:
		return boldFace
	case s.italic:
		return italicFace
	}
	return upright
}

// fonts are the objects of the faces, all but eastern. They need not be in the file: every reader
// has them.
var fonts = [...]string{upright: "Helvetica", boldFace: "Helvetica-Bold", italicFace: "Helvetica-Oblique", boldItalic: "Helvetica-BoldOblique", mono: "Courier"}

// inWestern holds for characters of Windows-1252, the encoding of the Western faces.
func inWestern(r rune) bool {
	_, ok := charmap.Windows1252.EncodeRune(r)
	return ok
}

// Widths of the characters from blank to tilde, in thousandths of the size. Source: Adobe's metrics
// of the core fonts.
var (
	widthsUpright = [...]int{
		278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
		1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
		333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
	}
	widthsBold = [...]int{
		278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 333, 333, 584, 584, 584, 611,
		975, 722, 722, 722, 722, 667, 611, 778, 722, 278, 556, 722, 611, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 333, 278, 333, 584, 556,
		333, 556, 611, 556, 611, 556, 333, 611, 611, 278, 278, 556, 278, 889, 611, 611, 611, 611, 389, 556, 333, 611, 556, 778, 556, 556, 500, 389, 280, 389, 584,
	}
	widthsOther = map[rune]int{
		'…': 1000, '—': 1000, '™': 1000, 'Œ': 1000, 'Æ': 1000, 'œ': 944, 'æ': 889, '©': 737, '®': 737, '•': 350, '‘': 222, '’': 222, '‚': 222,
		'“': 333, '”': 333, '„': 333, '·': 278, '°': 400, '¡': 333, '¦': 260, '\u00A0': 278,
	}
)

// textWidth is how wide a text is, in points.
func textWidth(text string, f face, size float64) float64 {
	total := 0
	for _, r := range text {
		total += runeWidth(r, f)
	}
	return float64(total) * size / 1000
}

func runeWidth(r rune, f face) int {
	switch f {
	case eastern:
		return 1000
	case mono:
		return 600
	}
	widths := widthsUpright[:]
	if f == boldFace || f == boldItalic {
		widths = widthsBold[:]
	}
	if r > '~' {
		if w, ok := widthsOther[r]; ok {
			return w
		}
		// An accent adds no width.
		r = []rune(norm.NFD.String(string(r)))[0]
	}
	if r >= ' ' && r <= '~' {
		return widths[r-' ']
	}
	return 556
}

// encode is a text as a string of PDF.
func encode(text string, f face) string {
	if f == eastern {
		var b strings.Builder
		for _, unit := range utf16.Encode([]rune(text)) {
			fmt.Fprintf(&b, "%04X", unit)
		}
		return "<" + b.String() + ">"
	}
	out := make([]byte, 0, len(text))
	for _, r := range text {
		b, _ := charmap.Windows1252.EncodeRune(r) // what it lacks is set in the eastern face
		out = append(out, b)
	}
	return literal(string(out))
}

// literal quotes bytes as a string of PDF.
func literal(s string) string {
	return "(" + strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`, "\r", `\r`, "\n", `\n`).Replace(s) + ")"
}
