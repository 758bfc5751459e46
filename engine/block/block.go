// Package block describes parsed documents: a list of headings, paragraphs, lists, tables, code and
// images in reading order, each with the headings above it and its position on the page.
//
// Readers of documents produce blocks; [Parse] produces them from Markdown. [Markdown], [Text] and
// [HTML] write them, and package chunk cuts them into chunks. The package imports the standard
// library only and has no state.
package block

import "strings"

// Kind is the kind of a block.
type Kind string

// The kinds of blocks.
const (
	Heading   Kind = "heading"
	Paragraph Kind = "paragraph"
	List      Kind = "list"
	Table     Kind = "table"
	Code      Kind = "code"
	Image     Kind = "image"
)

// Mark qualifies the kind of a block.
type Mark string

// The marks of blocks.
const (
	Contents Mark = "contents" // entries of a table of contents, a line for each
	Formula  Mark = "formula"  // signs of mathematics as plain text
)

// DeepestHeading is the largest level of a heading.
const DeepestHeading = 6

// Block is a part of a document that is shown as a unit.
type Block struct {
	Kind  Kind
	Level int  // of a heading, 1 to DeepestHeading
	Mark  Mark // "" for none
	// Text is the text of the block. A list has one line for each item, with its mark: "- a",
	// "  1. b". An image has its description, which may be empty.
	Text     string
	Rows     [][]string // of a table; they may differ in length
	Header   int        // rows at the beginning of a table that name its columns
	Spans    []Span     // of a table: cells that reach over others, which repeat their text in Rows
	Language string     // of code; "" if unknown
	Source   string     // of an image: its address or the name of its part in the document
	Image    []byte     // of an image: its bytes in a common format; nil if only Source is known
	// Path is the headings above the block, the outermost first. A heading is not in its own path.
	Path      []string
	Positions []Position // one for each page that the block is on; nil if unknown
}

// Position is a box on a page, in points from its upper left corner.
type Position struct {
	Page                     int // from 1
	Left, Right, Top, Bottom float64
}

// Span is a cell of a table that reaches over others to its right and below.
type Span struct{ Row, Column, Rows, Columns int }

// spans are the spans of a table by the cells that they cover.
type spans map[[2]int]*Span

func (b *Block) spans() spans {
	if len(b.Spans) == 0 {
		return nil
	}
	out := spans{}
	for i := range b.Spans {
		s := &b.Spans[i]
		for row := max(s.Row, 0); row < min(s.Row+s.Rows, len(b.Rows)); row++ {
			for column := max(s.Column, 0); column < min(s.Column+s.Columns, len(b.Rows[row])); column++ {
				out[[2]int{row, column}] = s
			}
		}
	}
	return out
}

// repeats reports whether a cell repeats the text of one that reaches over it.
func (s spans) repeats(row, column int) bool {
	span := s[[2]int{row, column}]
	return span != nil && (span.Row != row || span.Column != column)
}

// Page returns the page on which the block begins, from 1; 0 if unknown.
func (b *Block) Page() int {
	if len(b.Positions) == 0 {
		return 0
	}
	return b.Positions[0].Page
}

// Outline tracks the headings of a document. The zero value is before its first heading.
type Outline struct {
	levels []int
	path   []string
}

// Path returns the headings that the next block is under. It must not be changed.
func (o *Outline) Path() []string { return o.path[:len(o.path):len(o.path)] }

// Enter adds a heading and returns those above it; headings of its level and below end.
func (o *Outline) Enter(level int, title string) (above []string) {
	for len(o.levels) > 0 && o.levels[len(o.levels)-1] >= level {
		o.levels, o.path = o.levels[:len(o.levels)-1], o.path[:len(o.path)-1]
	}
	above = o.Path()
	o.levels = append(o.levels, level)
	o.path = append(above, title)
	return above
}

// Place returns b with its path; a heading is entered.
func (o *Outline) Place(b Block) Block {
	if b.Kind == Heading {
		b.Path = o.Enter(b.Level, b.Text)
	} else {
		b.Path = o.Path()
	}
	return b
}

// Line returns s on one line with single spaces.
func Line(s string) string {
	var b strings.Builder
	for word := range strings.FieldsSeq(s) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
	}
	return b.String()
}
