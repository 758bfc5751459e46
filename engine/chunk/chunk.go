// Package chunk cuts documents into the pieces that are embedded and searched.
//
// [Tokens] cuts at delimiters and merges by size, [Titles] cuts at headings, both as the nodes
// TokenChunker and TitleChunker of pipelines do, case by case. [Structure] is for new datasets: it
// cuts parsed documents or Markdown at headings, paragraphs and tables and respects a size. The
// package has no state.
package chunk

import (
	"strings"
	"unicode/utf8"

	"github.com/easel-canvas/easel/engine/block"
)

// Counter counts the tokens of a text, as the embedding model does.
type Counter func(text string) int

// Types of items and chunks.
const (
	Text  = "text"
	Table = "table"
	Image = "image"
)

// Item is a block of a parsed document.
type Item struct {
	Text      string
	Type      string // Text, Table or Image; "" is Text
	ImageID   string
	Layout    string // what a layout model called it, as "title" or "section 3"
	Positions []Position
}

// Position is a box on a page.
type Position = block.Position

// Chunk is a piece of a document.
type Chunk struct {
	Text      string
	Type      string // Text, Table or Image; "" where the input has no types
	ImageID   string
	Parent    string // the piece that this is a part of; "" for none
	Positions []Position
	// Headings are those above the text, the outermost first. Only [Structure] sets them; they are
	// not in the text, unless a heading itself belongs to the chunk.
	Headings []string
	// Repeated is the caption and the head of a table whose rows continue here from the chunk
	// before; "" for one that is larger than a chunk.
	Repeated string
	Search   string   // embedded and searched instead of the text; "" is the text
	Tags     []string // of the method tag
}

// Embedded returns the text that is embedded and searched: with the headings above it and the head
// of its table.
func (c *Chunk) Embedded() string {
	if c.Search != "" {
		return c.Search
	}
	if len(c.Headings) == 0 {
		return c.Repeated + c.Text
	}
	above := ""
	for i, h := range c.Headings {
		if i > 0 {
			above += " > "
		}
		above += shortened(h)
	}
	return above + "\n" + c.Repeated + c.Text
}

// longestRepeated is the size up to which a heading is repeated in chunks below it, in bytes.
const longestRepeated = 256

// shortened returns a heading as chunks below it repeat it.
func shortened(heading string) string {
	n := len(heading)
	if n <= longestRepeated {
		return heading
	}
	for n = longestRepeated; n > 0 && !utf8.RuneStart(heading[n]); {
		n--
	}
	return heading[:n]
}

// kind returns the type of an item.
func (i *Item) kind() string {
	switch t := strings.ToLower(strings.TrimSpace(i.Type)); t {
	case Table, Image:
		return t
	}
	return Text
}

// withoutTags returns a text without the positions that parsers of the original write into it: @@
// and ## around digits, points, tabs and minus signs.
func withoutTags(text string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "@@")
		if !found {
			return b.String() + text
		}
		b.WriteString(before)
		if end := strings.TrimLeft(rest, "\t0123456789.-"); len(end) < len(rest) && strings.HasPrefix(end, "##") {
			text = end[2:]
			continue
		}
		b.WriteByte('@')
		text = text[len(before)+1:]
	}
}

// sentenceEnds are the marks that end a sentence, and newlines.
var sentenceEnds = newCutter([]string{"。", "!", "?", "？", "；", "！", "\n", ". "})
