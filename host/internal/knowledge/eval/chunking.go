package eval

import (
	"github.com/easel-canvas/easel/engine/chunk"
	"github.com/easel-canvas/easel/host/internal/knowledge/chunking"
)

// Ways to cut documents.
const (
	None      = "none"      // a document is one chunk
	Structure = "structure" // at headings, paragraphs and tables
)

// Chunkings returns all ways to cut documents.
func Chunkings() []string { return []string{None, Structure} }

// cut returns the chunks of a document. Its title stands before the text.
func cut(way string, d Document) []string {
	text := d.Text
	if d.Title != "" {
		text = d.Title + "\n" + d.Text
	}
	if way == None {
		return []string{text}
	}
	var out []string
	cutter := chunk.Structure{Count: chunking.Count, Size: chunkSize}
	for _, c := range cutter.Text(text) {
		out = append(out, c.Embedded())
	}
	return out
}

// chunkSize is the size of chunks of a new dataset, in tokens.
const chunkSize = 512
