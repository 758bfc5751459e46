// Package write makes files of markdown, for canvases whose Message names an output format, and for
// DocGenerator: markdown, txt, html, pdf, docx and xlsx. Package document is the other direction,
// and its tests read the files of this one.
//
// The markdown is a language model's. Raw HTML in it is left out, and pictures are replaced by
// their description: making a file never fetches anything, nor does opening it. Links lead to the
// web, to mail and to telephone numbers. A markdown file is the text itself, and nothing becomes a
// formula in a sheet. A PDF holds the glyphs that it shows, of
// DejaVu and Droid Sans Fallback: Latin, Greek, Cyrillic, Hebrew, Arabic, Chinese, Japanese and
// Korean, but few emoji; other characters are shown as U+FFFD.
package write

import (
	"errors"
	"fmt"
)

var (
	// ErrFormat means that [Make] does not support the format.
	ErrFormat = errors.New("unknown format (one of markdown, txt, html, pdf, docx, xlsx)")
	// ErrTooLarge means that a text is longer than Most; make several files of it.
	ErrTooLarge = errors.New("the text is too long for a file")
)

// Most bounds the length of a text, in bytes.
const Most = 4 << 20

// Extension returns the file name extension of a format, with the dot.
func Extension(format string) string {
	if format == "markdown" {
		return ".md"
	}
	return "." + format
}

// Layout is the format of pages and their parts besides the text. The zero value is A4 portrait
// without any. Sizes are points; 0 is the size of the format.
type Layout struct {
	Header, Footer string // on each page
	PageNumbers    bool   // in the footer
	Watermark      string // across each page of a PDF
	Contents       bool   // a list of headings that leads to them
	FontSize       float64
	Landscape      bool
	Letter         bool     // 8.5 by 11 inches instead of A4
	Margins        *Margins // nil is 2.5 cm on each side
	LineSpacing    float64  // distance of lines, in sizes of the text; 0 is the format's
	HeadingSizes   [6]float64
	Color          Color
	// Title means that the first block, a heading, is the title of the document, with its own size
	// and color.
	Title      bool
	TitleSize  float64
	TitleColor Color
	Logo       *Logo // above the text of a PDF, a Word document or a page; nil is none
}

// Margins of pages, in points.
type Margins struct{ Top, Right, Bottom, Left float64 }

// Color is red, green and blue; the zero value is black.
type Color [3]uint8

func (l *Layout) margins() Margins {
	if l.Margins == nil {
		return Margins{margin, margin, margin, margin}
	}
	return *l.Margins
}

// Make makes a file of markdown. Errors: [ErrFormat], [ErrTooLarge], [ErrPieces], [ErrTangled].
func Make(format, markdown string) ([]byte, error) { return MakeWith(format, markdown, &Layout{}) }

// MakeWith is [Make] with a layout, which formats without pages ignore.
func MakeWith(format, markdown string, layout *Layout) ([]byte, error) {
	if len(markdown) > Most {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(markdown), Most)
	}
	if format == "markdown" {
		return []byte(markdown), nil
	}
	if tangled(markdown) {
		return nil, ErrTangled
	}
	if n := pieces(markdown); n > mostMemory {
		return nil, fmt.Errorf("%w: they take %d MiB of memory, at most %d", ErrPieces, n>>20, mostMemory>>20)
	}
	switch format {
	case "html":
		return html(markdown, layout.Logo)
	case "txt":
		return plainText(parse(markdown)), nil
	case "docx":
		return docx(parse(markdown), layout)
	case "xlsx":
		return xlsx(parse(markdown), markdown)
	case "pdf":
		return pdf(parse(markdown), layout)
	}
	return nil, fmt.Errorf("format %q: %w", format, ErrFormat)
}
