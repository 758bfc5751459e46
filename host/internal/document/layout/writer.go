package layout

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine/block"
)

// Limits of paragraphs and headings.
const (
	larger       = 1.12 // height of a heading, in heights of the text
	sameSize     = 0.08 // difference of heights within a paragraph
	paragraphGap = 0.45 // between paragraphs, in heights
	indent       = 0.6  // of the first line of a paragraph, in heights
	shortLine    = 0.8  // of the width of its column, that ends a paragraph behind a full stop
	headingBytes = 200
	boldBytes    = 120 // of a heading in bold letters
	boldLines    = 2
	movedTable   = 12.0 // points between the sides of a table and its continuation
)

// writer makes blocks of columns.
type writer struct {
	body  float64 // height of the text
	known *Compounds
	page  int
	open  *paragraph
	out   []block.Block
	looks []look // of each block
}

// look is the features by which a paragraph may be a heading.
type look struct {
	size  float64
	bold  bool
	lines int
}

// paragraph is a paragraph or a list in the making.
type paragraph struct {
	look
	parts     []string // the items of a list, or one text
	isList    bool
	positions []block.Position // on the pages before
	box       Box              // on this page; zero before its first line
	last      Box              // the last line
	left      float64          // of the first line
	column    Box
}

func newWriter(body float64, known *Compounds) *writer { return &writer{body: body, known: known} }

// startPage begins a page. An open paragraph may continue there.
func (w *writer) startPage(number int) {
	w.notePosition()
	w.page = number
}

func (w *writer) notePosition() {
	if p := w.open; p != nil && p.box != (Box{}) {
		p.positions = append(p.positions, w.position(p.box))
		p.box = Box{}
	}
}

func (w *writer) position(b Box) block.Position {
	return block.Position{Page: w.page, Left: b.Left, Right: b.Right, Top: b.Top, Bottom: b.Bottom}
}

// column adds the items of one column.
func (w *writer) column(items []item) {
	if len(items) == 0 {
		return
	}
	column := items[0].Box
	for _, it := range items {
		column = column.union(it.Box)
	}
	for i := 0; i < len(items); {
		it := items[i]
		end := i + 1
		switch {
		case it.table != nil:
			w.flush()
			w.addTable(it.table)
		case it.image != nil:
			w.flush()
			w.add(block.Block{Kind: block.Image, Source: it.image.Source}, it.Box, look{})
		default:
			for end < len(items) && items[end].segment != nil && sameLine(it.Box, items[end].Box) {
				end++
			}
			w.line(joined(items[i:end]), column, i == 0)
		}
		i = end
	}
}

// joined returns the segments of one line of a column as one.
func joined(items []item) segment {
	if len(items) > 1 {
		items = slices.Clone(items)
		slices.SortStableFunc(items, func(a, b item) int { return cmp.Compare(a.Left, b.Left) })
	}
	l := *items[0].segment
	for _, it := range items[1:] {
		l.text += " " + it.segment.text
		l.Box = l.union(it.Box)
		l.bold = l.bold && it.segment.bold
	}
	return l
}

// line adds a line of a column.
func (w *writer) line(l segment, column Box, first bool) {
	isItem := isBullet(l.text)
	p := w.open
	switch {
	case p != nil && isItem && p.isList && p.sameLook(&l):
		p.parts = append(p.parts, itemText(l.text))
	case p != nil && !isItem && p.continues(&l, first, w.body):
		last := len(p.parts) - 1
		p.parts[last] = joinLines([]string{p.parts[last], l.text}, w.known)
	default:
		w.flush()
		p = &paragraph{isList: isItem, left: l.Left, look: look{size: l.height(), bold: l.bold}}
		p.parts = []string{l.text}
		if isItem {
			p.parts[0] = itemText(l.text)
		}
		w.open = p
	}
	if p.box == (Box{}) {
		p.box = l.Box
	}
	p.lines++
	p.box, p.last, p.column = p.box.union(l.Box), l.Box, column
}

func (p *paragraph) sameLook(l *segment) bool {
	return math.Abs(p.size-l.height()) <= sameSize*p.size && (p.bold == l.bold || p.isList)
}

// continues reports whether a line belongs to the paragraph. first says that it begins a column or
// a page.
func (p *paragraph) continues(l *segment, first bool, body float64) bool {
	text, height := p.parts[len(p.parts)-1], l.height()
	switch gap := l.Top - p.last.Bottom; {
	case !p.sameLook(l):
		return false
	case first:
		return p.size < larger*body && !endsSentence(text) && startsInside(l.text)
	case gap > paragraphGap*height, gap < -height:
		return false
	case p.isList:
		return l.Left > p.left-tolerance
	case p.lines > 1 && l.Left > p.last.Left+indent*height && endsSentence(text):
		return false
	}
	return !endsSentence(text) || p.last.Right > p.column.Left+shortLine*p.column.width()
}

// flush completes the open paragraph.
func (w *writer) flush() {
	p := w.open
	if p == nil {
		return
	}
	w.notePosition()
	b := block.Block{Kind: block.Paragraph, Text: p.parts[0], Positions: p.positions}
	if p.isList {
		b.Kind, b.Text = block.List, strings.Join(p.parts, "\n")
	}
	w.open = nil
	w.out, w.looks = append(w.out, b), append(w.looks, p.look)
}

func (w *writer) add(b block.Block, box Box, l look) {
	b.Positions = []block.Position{w.position(box)}
	w.out, w.looks = append(w.out, b), append(w.looks, l)
}

// addTable adds a table, or its rows to the table at the end of the page before. The head that is
// repeated there is left out.
func (w *writer) addTable(t *table) {
	if len(w.out) > 0 {
		last := &w.out[len(w.out)-1]
		if last.Kind == block.Table && w.continuesTable(last, t) {
			rows := t.rows
			if slices.Equal(rows[0], last.Rows[0]) {
				rows = rows[1:]
			}
			last.Rows = append(last.Rows, rows...)
			last.Positions = append(last.Positions, w.position(t.Box))
			return
		}
	}
	w.add(block.Block{Kind: block.Table, Rows: t.rows, Header: t.header}, t.Box, look{})
}

func (w *writer) continuesTable(b *block.Block, t *table) bool {
	at := b.Positions[len(b.Positions)-1]
	return at.Page == w.page-1 && len(b.Rows[0]) == len(t.rows[0]) &&
		math.Abs(at.Left-t.Left) < movedTable && math.Abs(at.Right-t.Right) < 2*movedTable
}

// finish completes the document: it finds the headings.
func (w *writer) finish() []block.Block {
	w.flush()
	sizes := w.headingSizes()
	bold := 0
	for _, l := range w.looks {
		if l.bold {
			bold++
		}
	}
	var outline block.Outline
	for i := range w.out {
		b, l := &w.out[i], w.looks[i]
		if b.Kind == block.Paragraph {
			level := levelOf(sizes, l.size)
			isBold := l.bold && 2*bold < len(w.out) && l.lines <= boldLines && len(b.Text) <= boldBytes &&
				!endsSentence(b.Text)
			switch {
			case level > 0 && len(b.Text) <= headingBytes:
				b.Kind, b.Level = block.Heading, min(level, block.DeepestHeading)
			case isBold:
				b.Kind, b.Level = block.Heading, min(len(sizes)+1, block.DeepestHeading)
			}
		}
		*b = outline.Place(*b)
	}
	return w.out
}

// headingSizes returns the heights of headings, the largest first. Heights that are nearly equal
// are one.
func (w *writer) headingSizes() []float64 {
	var all []float64
	for i, b := range w.out {
		if size := w.looks[i].size; b.Kind == block.Paragraph && size >= larger*w.body && len(b.Text) <= headingBytes {
			all = append(all, size)
		}
	}
	slices.SortFunc(all, func(a, b float64) int { return cmp.Compare(b, a) })
	var out []float64
	for _, size := range all {
		if len(out) == 0 || size < out[len(out)-1]*(1-sameSize/2) {
			out = append(out, size)
		}
	}
	return out
}

// levelOf returns the level of a height, from 1; 0 for text.
func levelOf(sizes []float64, size float64) int {
	for i, s := range sizes {
		if size >= s*(1-sameSize/2) {
			return i + 1
		}
	}
	return 0
}
