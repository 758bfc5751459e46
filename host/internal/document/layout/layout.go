// Package layout finds the structure of printed pages: from the position and size of words to
// headings, paragraphs, lists, tables and code in reading order.
//
// [Document.Add] reduces a page to lines and ruled tables, so that a long document needs little
// memory. [Document.Blocks] then looks at all pages together: lines that repeat at the edges of
// pages are dropped, columns are read one after the other, the outline of the file finds its
// headings, and parts that continue on the next page are joined. The order of words in the file is
// the first evidence of columns; distances relative to the size of the text are the second.
package layout

import (
	"context"

	"github.com/easel-canvas/easel/engine/block"
)

// Box is a rectangle on a page, in points from its upper left corner.
type Box struct{ Left, Right, Top, Bottom float64 }

func (b Box) width() float64  { return b.Right - b.Left }
func (b Box) height() float64 { return b.Bottom - b.Top }
func (b Box) middle() float64 { return (b.Top + b.Bottom) / 2 }

// union returns the smallest box around both.
func (b Box) union(o Box) Box {
	return Box{min(b.Left, o.Left), max(b.Right, o.Right), min(b.Top, o.Top), max(b.Bottom, o.Bottom)}
}

// Word is a run of characters without a blank. The height of its box comes from its font, not from
// its letters.
type Word struct {
	Box  // in the axes of its direction, see [Turn.Box]
	Text string
	Base float64 // where the letters stand, from the top; 0 if unknown
	Size float64 // of the font; 0 if unknown
	Turn Turn
	Bold bool
	Mono bool // of a font with letters of one width
	Math bool // of a font with signs of mathematics
}

// word is a word with its place in the order of the file.
type word struct {
	Word
	order int32
}

// Picture is an image on a page.
type Picture struct {
	Box
	Source string
}

// Page is the content of a page. Words are in the order of the file.
type Page struct {
	Number        int // from 1
	Width, Height float64
	Words         []Word
	Rules         []Box // straight lines and the edges of boxes, horizontal or vertical
	Pictures      []Picture
}

// Entry is a bookmark of the outline of a file.
type Entry struct {
	Level int // from 1
	Title string
	Page  int     // that it leads to, from 1; 0 if none
	Top   float64 // of its place there, from the top; negative if unknown
}

// Document collects pages. The zero value is empty.
type Document struct {
	Outline []Entry // in the order of the file

	pages []page
	size  int64
	known Compounds
}

// page is a page reduced to its lines.
type page struct {
	number   int
	height   float64
	axes     axes
	flows    []flow
	tables   []table
	images   []Picture
	turned   []segment
	rules    []Box     // horizontal ones
	elements []element // in reading order, once all pages are known
}

// segment is a part of a line without a wide gap.
type segment struct {
	Box
	base     float64
	size     float64 // of the font
	text     string
	from, to int32 // the order of its first and its last word
	lead     int32 // bytes of bold text at the beginning of a line that continues in another weight
	bold     bool
	mono     bool
	math     bool
	turned   bool // against the page
	dropped  bool // it is a header or a footer
	contents bool // it is an entry of a table of contents
}

// table is a table in the making.
type table struct {
	Box
	rows   [][]string
	spans  []block.Span
	header int
	from   int32 // the order of its first word
}

// segmentSize is the bytes of a segment or a cell beyond its text.
const segmentSize = 128

// Add adds a page and returns the bytes that the document occupies so far.
func (d *Document) Add(p Page) int64 {
	out := page{number: p.Number, axes: axesOf(&p)}
	whole := out.axes.box(Box{Right: p.Width, Bottom: p.Height})
	out.height = whole.height()
	words, others := out.axes.turned(&p)
	out.turned = turnedLines(others, &out.axes, &p)
	rules := make([]Box, len(p.Rules))
	for i, r := range p.Rules {
		rules[i] = out.axes.box(r)
	}
	for _, image := range p.Pictures {
		image.Box = out.axes.box(image.Box)
		out.images = append(out.images, image)
	}
	out.tables, words = ruledTables(rules, words, &d.known)
	out.rules = horizontal(rules)
	out.flows = flows(words, out.height)
	d.count(&out)
	d.pages = append(d.pages, out)
	return d.size
}

// count counts the bytes of a page, and collects its words with hyphens.
func (d *Document) count(p *page) {
	for s := range p.segments() {
		d.size += segmentSize + int64(len(s.text))
		d.known.Add(s.text)
	}
	for _, t := range p.tables {
		for _, row := range t.rows {
			for _, c := range row {
				d.size += segmentSize + int64(len(c))
			}
		}
	}
	d.size += segmentSize * int64(1+len(p.images)+len(p.rules))
}

// segments calls yield for the pieces of the lines of a page.
func (p *page) segments() func(yield func(*segment) bool) {
	return func(yield func(*segment) bool) {
		for f := range p.flows {
			for _, row := range p.flows[f].rows {
				for i := range row {
					if !yield(&row[i]) {
						return
					}
				}
			}
		}
		for i := range p.turned {
			if !yield(&p.turned[i]) {
				return
			}
		}
	}
}

// Blocks returns the blocks of all pages in reading order. Errors: those of ctx.
func (d *Document) Blocks(ctx context.Context) ([]block.Block, error) {
	body := d.textSize()
	d.dropEdges(body)
	for i := range d.pages {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d.pages[i].order(&d.known, len(d.pages))
	}
	w := newWriter(body, d.paragraphGap(body), &d.known)
	o := d.matchOutline(body)
	for i := range d.pages {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		w.addPage(&d.pages[i])
	}
	return w.finish(o), nil
}

// textSize returns the size of most of the text.
func (d *Document) textSize() float64 {
	count := map[int]int{} // characters by tenths of a point
	for i := range d.pages {
		for s := range d.pages[i].segments() {
			count[int(s.size*10+0.5)] += len(s.text)
		}
	}
	best := 0
	for size, n := range count {
		if n > count[best] || n == count[best] && size < best {
			best = size
		}
	}
	return float64(best) / 10
}

// paragraphGap returns the gap between lines that ends a paragraph, in heights: more than most
// lines of the text have.
func (d *Document) paragraphGap(body float64) float64 {
	count := map[int]int{} // lines by twentieths of a height
	for i := range d.pages {
		list := d.pages[i].elements
		for k := 1; k < len(list); k++ {
			a, b := list[k-1].line, list[k].line
			if a == nil || b == nil || max(a.size, b.size) > body*larger || a.bold != b.bold ||
				!overlapsWidth(a.Box, b.Box) {
				continue
			}
			if gap := (b.Top - a.Bottom) / b.height(); gap > 0 && gap < widestLeading {
				count[int(gap*20+0.5)]++
			}
		}
	}
	best := 0
	for gap, n := range count {
		if n > count[best] || n == count[best] && gap < best {
			best = gap
		}
	}
	return max(paragraphGap, float64(best)/20+leadingSlack)
}

// Limits of the gaps between lines of a paragraph, in heights.
const (
	widestLeading = 1.5
	leadingSlack  = 0.2 // beyond the usual gap
)
