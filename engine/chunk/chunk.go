// Package chunk cuts documents into the pieces that are embedded and searched.
//
// [Tokens] cuts at delimiters and merges by size, [Titles] cuts at headings, both as the nodes
// TokenChunker and TitleChunker of pipelines do, case by case. [Structure] is for new datasets: it
// cuts parsed documents or Markdown at headings, paragraphs and tables and respects a size. The
// package has no state.
package chunk

import (
	"regexp"
	"strings"

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
	// Headings are those that the text stands under, the outermost first. Only [Structure] knows
	// them; they are not in the text, unless a heading itself belongs to the chunk.
	Headings []string
	// Repeated is the caption and the head of a table whose rows continue here from the chunk
	// before.
	Repeated string
	Search   string   // what is embedded and searched in place of the text; "" is the text
	Tags     []string // of the method tag
}

// Embedded is the text that is embedded and searched: with the headings above it and the head of
// its table.
func (c *Chunk) Embedded() string {
	if c.Search != "" {
		return c.Search
	}
	var b strings.Builder
	if len(c.Headings) > 0 {
		b.WriteString(strings.Join(c.Headings, " > ") + "\n")
	}
	return b.String() + c.Repeated + c.Text
}

// kind is the type of an item.
func (i *Item) kind() string {
	switch t := strings.ToLower(strings.TrimSpace(i.Type)); t {
	case Table, Image:
		return t
	}
	return Text
}

// positionTag is how parsers of the original write a position into a text.
var positionTag = regexp.MustCompile(`@@[\t0-9.-]+?##`)

// withoutTags is a text without positions in it.
func withoutTags(text string) string {
	if !strings.Contains(text, "@@") {
		return text
	}
	return positionTag.ReplaceAllString(text, "")
}

// alternatives is a pattern of any of some texts, the longest first; nil for none.
func alternatives(texts []string) *regexp.Regexp {
	var quoted []string
	for _, t := range longestFirst(texts) {
		quoted = append(quoted, regexp.QuoteMeta(t))
	}
	if len(quoted) == 0 {
		return nil
	}
	return regexp.MustCompile(strings.Join(quoted, "|"))
}

// longestFirst is texts without empty ones, those with more bytes first.
func longestFirst(texts []string) (out []string) {
	for _, t := range texts {
		if t == "" {
			continue
		}
		at := len(out)
		for at > 0 && len(out[at-1]) < len(t) {
			at--
		}
		out = append(out, "")
		copy(out[at+1:], out[at:])
		out[at] = t
	}
	return out
}

// split cuts a text at a pattern, which is dropped. Empty pieces are left out.
func split(text string, at *regexp.Regexp) (out []string) {
	pieces := []string{text}
	if at != nil {
		pieces = at.Split(text, -1)
	}
	for _, p := range pieces {
		if p != "" {
			out = append(out, p)
		}
	}
	return out
}

// sentences cuts a text behind marks that end a sentence, and behind newlines. Together they are
// the text.
func sentences(text string) (out []string) {
	start := 0
	for _, at := range sentenceEnd.FindAllStringIndex(text, -1) {
		out = append(out, text[start:at[1]])
		start = at[1]
	}
	if start < len(text) {
		out = append(out, text[start:])
	}
	return out
}

var sentenceEnd = regexp.MustCompile(`[。!?？；！\n]|\. `)
