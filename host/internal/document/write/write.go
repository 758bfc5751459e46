// Package write makes files of markdown, for canvases whose Message names an output format:
// markdown, html, pdf, docx and xlsx. Package document is the other direction, and its tests read
// what this one writes.
//
// The markdown is a language model's. Raw HTML in it is left out, and pictures are replaced by
// their description: making a file never fetches anything. A PDF uses the fonts that every reader
// of PDF has: Helvetica and Courier for Western text, and for all other the Chinese font that
// readers bring for Adobe-GB1, which has Greek, Cyrillic and Kana too, but no Hangul and no emoji.
package write

import (
	"errors"
	"fmt"
)

var (
	// ErrFormat means that a format is none of those that [Make] knows.
	ErrFormat = errors.New("no such format: markdown, html, pdf, docx and xlsx are there")
	// ErrTooLarge means that a text is longer than Most; make several files of it.
	ErrTooLarge = errors.New("the text is too long for a file")
)

// Most is how long a text may be, in bytes.
const Most = 4 << 20

// Extension is how the names of files in a format end, with the dot.
func Extension(format string) string {
	if format == "markdown" {
		return ".md"
	}
	return "." + format
}

// Make makes a file of markdown. Errors: [ErrFormat], [ErrTooLarge], [ErrPieces], [ErrTangled].
func Make(format, markdown string) ([]byte, error) {
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
		return html(markdown)
	case "docx":
		return docx(parse(markdown))
	case "xlsx":
		return xlsx(parse(markdown), markdown)
	case "pdf":
		return pdf(parse(markdown))
	}
	return nil, fmt.Errorf("format %q: %w", format, ErrFormat)
}
