package write

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"sync"

	"github.com/signintech/gopdf"
	"github.com/signintech/gopdf/fontmaker/core"
)

// The fonts of PDF files, of which a file holds the glyphs that it shows: DejaVu for Latin, Greek,
// Cyrillic, Arabic, Hebrew and symbols, Droid Sans Fallback for Chinese and Japanese, Nanum Gothic
// Coding for Korean.
//
//go:embed fonts/*.ttf.gz
var fontFiles embed.FS

// face is a font, by its place in faces.
type face int

const (
	upright face = iota
	boldFace
	italicFace
	mono
	eastern
	korean
)

var faceFiles = [...]string{
	upright: "DejaVuSans", boldFace: "DejaVuSans-Bold", italicFace: "DejaVuSans-Oblique", mono: "DejaVuSansMono",
	eastern: "DroidSansFallbackFull", korean: "NanumGothicCoding",
}

// There is no slanted bold: bold italics are bold.
func faceOf(s span) face {
	switch {
	case s.mono:
		return mono
	case s.bold:
		return boldFace
	case s.italic:
		return italicFace
	}
	return upright
}

func (f face) name() string { return faceFiles[f] }

// font is a parsed font. Widths are in thousandths of the size.
type font struct {
	widths map[rune]uint16
	err    error // it is damaged, which only a wrong build explains
}

var loadFace [len(faceFiles)]func() *font

// loaded holds parsed fonts, which the files that are made share.
var loaded gopdf.FontContainer

func init() {
	for i := range faceFiles {
		loadFace[i] = sync.OnceValue(func() *font {
			m, err := readFace(face(i))
			if err != nil {
				return &font{err: fmt.Errorf("font %s: %w", face(i).name(), err)}
			}
			return m
		})
	}
}

// readFace parses a font. It takes about 20 ms, for the largest 60 ms.
func readFace(f face) (*font, error) {
	file, err := fontFiles.Open("fonts/" + f.name() + ".ttf.gz")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(unpacked)
	if err != nil {
		return nil, err
	}
	var parser core.TTFParser
	if err := parser.ParseByReader(bytes.NewReader(data)); err != nil {
		return nil, err
	}
	m := &font{widths: make(map[rune]uint16, len(parser.Chars()))}
	for r, glyph := range parser.Chars() {
		if glyph < uint(len(parser.Widths())) && glyph != 0 {
			m.widths[rune(r)] = uint16(parser.Widths()[glyph] * 1000 / parser.UnitsPerEm())
		}
	}
	return m, loaded.AddTTFFontData(f.name(), data)
}

// faceFor returns the font that shows a character: base if it has it.
func faceFor(r rune, base face) (face, bool) {
	for _, f := range [...]face{base, upright, eastern, korean} {
		if _, ok := loadFace[f]().widths[r]; ok {
			return f, true
		}
	}
	return base, false
}

// textWidth returns the width of a text in points.
func textWidth(text string, f face, size float64) float64 {
	total, widths := 0, loadFace[f]().widths
	for _, r := range text {
		total += int(widths[r])
	}
	return float64(total) * size / 1000
}
