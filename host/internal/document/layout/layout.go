// Package layout finds the structure of printed pages: from the position and size of words to
// headings, paragraphs, lists and tables in reading order.
//
// [Document.Add] reduces a page to lines and ruled tables, so that a long document needs little
// memory. [Document.Blocks] then looks at all pages together: lines that repeat at the edges of
// pages are dropped, columns are read one after the other, and what continues on the next page is
// joined. Everything is decided by distances relative to the size of the text.
package layout

import (
	"cmp"
	"context"
	"slices"
	"strings"

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

// Word is a run of characters without a blank. The height of its box is that of its font, not of
// its letters.
type Word struct {
	Box
	Text string
	Bold bool
}

// Picture is an image on a page.
type Picture struct {
	Box
	Source string
}

// Page is the content of a page.
type Page struct {
	Number   int // from 1
	Height   float64
	Words    []Word
	Rules    []Box // straight lines and the edges of boxes, horizontal or vertical
	Pictures []Picture
}

// Document collects pages. The zero value is empty.
type Document struct {
	pages []page
	size  int64
	known Compounds
}

// page is a page reduced to its lines.
type page struct {
	number int
	height float64
	rows   [][]segment // lines from top to bottom, each from left to right
	tables []table
	images []Picture
}

// segment is a part of a line without a wide gap.
type segment struct {
	Box
	text string
	bold bool
}

// table is a table in the making.
type table struct {
	Box
	rows   [][]string
	header int
}

// segmentSize is the bytes of a segment or a cell beyond its text.
const segmentSize = 96

// Add adds a page and returns the bytes that the document occupies so far.
func (d *Document) Add(p Page) int64 {
	out := page{number: p.Number, height: p.Height, images: p.Pictures}
	words := p.Words
	out.tables, words = ruledTables(p.Rules, words, &d.known)
	out.rows = lines(words)
	for _, row := range out.rows {
		for _, s := range row {
			d.size += segmentSize + int64(len(s.text))
			d.known.Add(s.text)
		}
	}
	for _, t := range out.tables {
		for _, row := range t.rows {
			for _, c := range row {
				d.size += segmentSize + int64(len(c))
			}
		}
	}
	d.size += segmentSize * int64(1+len(out.images))
	d.pages = append(d.pages, out)
	return d.size
}

// lines groups words into lines, and each line into segments.
func lines(words []Word) [][]segment {
	words = slices.Clone(words)
	slices.SortStableFunc(words, func(a, b Word) int { return cmp.Compare(a.middle(), b.middle()) })
	var list []line
	for start := 0; start < len(words); {
		end, box := start+1, words[start].Box
		for end < len(words) && sameLine(box, words[end].Box) {
			box = box.union(words[end].Box)
			end++
		}
		list = append(list, newLine(words[start:end], box))
		start = end
	}
	out := make([][]segment, len(list))
	for i := range list {
		out[i] = segments(list[i].words, func(blank interval) bool { return inText(list, i, blank) })
	}
	return out
}

// sameLine reports whether a word is on the line of a box: half of the lower one's height.
func sameLine(line, word Box) bool {
	overlap := min(line.Bottom, word.Bottom) - max(line.Top, word.Top)
	return overlap > min(line.height(), word.height())/2 && word.middle()-line.middle() < line.height()
}

// widestBlank is the widest gap between two words of a text, in heights of the text. A blank has a
// quarter, and justified text rarely twice of that, unless its column is narrow.
const widestBlank = 0.9

// segments joins the words of one line. inText reports whether a wide blank is one between words.
func segments(words []Word, inText func(blank interval) bool) []segment {
	var out []segment
	var text strings.Builder
	var box Box
	bold := 0
	flush := func() {
		out = append(out, segment{Box: box, text: text.String(), bold: 2*bold > text.Len()})
		text.Reset()
		bold = 0
	}
	for i, w := range words {
		switch gap := w.Left - box.Right; {
		case i == 0:
			box = w.Box
		case gap > widestBlank*max(w.height(), box.height()) && !inText(interval{box.Right, w.Left}):
			flush()
			box = w.Box
		default:
			if gap > touching*min(w.height(), box.height()) || !wide(text.String(), w.Text) {
				text.WriteByte(' ')
			}
			box = box.union(w.Box)
		}
		text.WriteString(w.Text)
		if w.Bold {
			bold += len(w.Text)
		}
	}
	if text.Len() > 0 {
		flush()
	}
	return out
}

// touching is the largest gap between characters of one word, in heights.
const touching = 0.1

// Blocks returns the blocks of all pages in reading order. Errors: those of ctx.
func (d *Document) Blocks(ctx context.Context) ([]block.Block, error) {
	d.dropEdges()
	w := newWriter(d.textSize(), &d.known)
	for i := range d.pages {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p := &d.pages[i]
		w.startPage(p.number)
		for _, column := range columns(p.items(&d.known), 0) {
			w.column(column)
		}
	}
	return w.finish(), nil
}

// textSize returns the height of most of the text.
func (d *Document) textSize() float64 {
	count := map[int]int{} // characters by tenths of a point
	for i := range d.pages {
		for _, row := range d.pages[i].rows {
			for _, s := range row {
				count[int(s.height()*10+0.5)] += len(s.text)
			}
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

// item is an element of a page to be ordered: a piece of a line, a table or an image.
type item struct {
	Box
	segment *segment
	table   *table
	image   *Picture
}

// items returns the contents of a page from top to bottom.
func (p *page) items(known *Compounds) []item {
	var out []item
	rows := p.rows
	var aligned []table
	aligned, rows = alignedTables(rows, known)
	for r := range rows {
		for s := range rows[r] {
			out = append(out, item{Box: rows[r][s].Box, segment: &rows[r][s]})
		}
	}
	tables := append(p.tables[:len(p.tables):len(p.tables)], aligned...)
	for i := range tables {
		out = append(out, item{Box: tables[i].Box, table: &tables[i]})
	}
	for i := range p.images {
		out = append(out, item{Box: p.images[i].Box, image: &p.images[i]})
	}
	slices.SortStableFunc(out, func(a, b item) int { return cmp.Compare(a.Top, b.Top) })
	return out
}
