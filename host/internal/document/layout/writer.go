package layout

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

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
	codeGap      = 1.8  // between lines of code, in heights
	lookBack     = 4    // blocks between the parts of a divided word

	longestJoined = 1 << 15 // bytes of a paragraph to which the rest of a divided word is joined
)

// writer makes blocks of elements in reading order.
type writer struct {
	body     float64 // size of the text
	gap      float64 // between paragraphs, in heights
	known    *Compounds
	page     int
	axes     axes
	open     *paragraph
	code     []segment // open lines in fixed pitch
	contents []segment // open lines of a table of contents
	out      []block.Block
	looks    []look // of each block
}

// look is the features by which a paragraph may be a heading.
type look struct {
	size    float64
	bold    bool
	mono    bool
	lines   int
	formula bool
	heading bool // the outline of the file has it
}

// paragraph is a paragraph or a list in the making.
type paragraph struct {
	look
	parts     [][]string // the lines of the items of a list, or of one text
	isList    bool
	positions []block.Position // on the pages before
	box       Box              // on this page; zero before its first line
	last      Box              // the last line
	left      float64          // of the first line
	column    Box
}

func newWriter(body, gap float64, known *Compounds) *writer {
	return &writer{body: body, gap: gap, known: known}
}

// addPage adds the elements of a page. An open paragraph may continue there.
func (w *writer) addPage(p *page) {
	w.flushLines()
	w.notePosition()
	w.page, w.axes = p.number, p.axes
	for i := range p.elements {
		w.element(&p.elements[i])
	}
}

func (w *writer) notePosition() {
	if p := w.open; p != nil && p.box != (Box{}) {
		p.positions = append(p.positions, w.position(p.box))
		p.box = Box{}
	}
}

func (w *writer) position(b Box) block.Position {
	b = w.axes.back(b)
	return block.Position{Page: w.page, Left: b.Left, Right: b.Right, Top: b.Top, Bottom: b.Bottom}
}

func (w *writer) element(e *element) {
	l := e.line
	switch {
	case e.table != nil:
		w.flush()
		w.addTable(e.table)
	case e.image != nil:
		w.flush()
		w.add(block.Block{Kind: block.Image, Source: e.image.Source}, e.Box, look{})
	case e.heading > 0:
		w.flush()
		b := block.Block{Kind: block.Heading, Level: min(e.heading, block.DeepestHeading), Text: block.Line(l.text)}
		w.add(b, e.Box, look{size: l.size, bold: l.bold, lines: e.lines, heading: true})
	case l.contents:
		w.flushParagraph()
		w.flushCode()
		w.contents = append(w.contents, *l)
	case l.mono && (w.open == nil || w.open.mono || !w.open.continues(l, e.first, w)):
		w.flushParagraph()
		w.flushContents()
		if n := len(w.code); n > 0 && (l.Top-w.code[n-1].Bottom > codeGap*l.height() || l.Top < w.code[n-1].Top) {
			w.flushCode()
		}
		w.code = append(w.code, *l)
	case l.turned:
		w.flush()
		w.line(l, e)
		w.flush()
	default:
		w.flushLines()
		w.line(l, e)
	}
}

// line adds a line of a column.
func (w *writer) line(l *segment, e *element) {
	p := w.open
	isTitle := w.isNumberedTitle(l) || isArticle(l.text)
	isItem := isBullet(l.text) && (!isTitle || p != nil && p.isList)
	switch {
	case p != nil && isItem && p.isList && p.sameLook(l):
		p.parts = append(p.parts, []string{itemText(l.text)})
	case p != nil && !isItem && !isTitle && p.continues(l, e.first, w):
		last := len(p.parts) - 1
		p.parts[last] = append(p.parts[last], l.text)
		p.formula = p.formula && l.math
	default:
		w.flush()
		p = &paragraph{isList: isItem, left: l.Left}
		p.look = look{size: l.size, bold: l.bold, mono: l.mono, formula: l.math}
		p.parts = [][]string{{l.text}}
		if isItem {
			p.parts[0][0] = itemText(l.text)
		}
		w.open = p
	}
	if p.box == (Box{}) {
		p.box = l.Box
	}
	p.lines++
	p.box, p.last, p.column = p.box.union(l.Box), l.Box, e.column
}

// isNumberedTitle reports whether a line is large or bold and begins with a number.
func (w *writer) isNumberedTitle(l *segment) bool {
	first, _, found := strings.Cut(l.text, " ")
	return found && (l.bold || l.size >= larger*w.body) && isTitleNumber(first) && strings.ContainsAny(first, digits)
}

// digits are the digits of numbers of titles.
const digits = "0123456789"

func (p *paragraph) sameLook(l *segment) bool {
	return math.Abs(p.size-l.size) <= sameSize*p.size && (p.bold == l.bold || p.isList)
}

// continues reports whether a line belongs to the paragraph. first means that it begins a column or
// a page.
func (p *paragraph) continues(l *segment, first bool, w *writer) bool {
	lines, height := p.parts[len(p.parts)-1], l.height()
	text := lines[len(lines)-1]
	gap := l.Top - p.last.Bottom
	moved := first || p.box == (Box{}) || gap < -height
	switch {
	case !p.sameLook(l):
		return false
	case moved && isDivided(text) && startsInside(l.text):
		return true
	case moved:
		return p.size < larger*w.body && !endsSentence(text) && startsInside(l.text)
	case gap > w.gap*height:
		return false
	case p.lines == 1 && isArticle(text) && p.last.Right < p.column.Left+p.column.width()/2:
		return endsSentence(text) // else it is the title of the article
	case p.isList:
		return l.Left > p.left-tolerance
	case p.lines > 1 && l.Left > p.last.Left+indent*height && endsSentence(text):
		return false
	}
	return !endsSentence(text) || p.last.Right > p.column.Left+shortLine*p.column.width()
}

// flush completes all that is open.
func (w *writer) flush() {
	w.flushParagraph()
	w.flushLines()
}

func (w *writer) flushLines() {
	w.flushCode()
	w.flushContents()
}

func (w *writer) flushParagraph() {
	p := w.open
	if p == nil {
		return
	}
	w.notePosition()
	w.open = nil
	texts := make([]string, len(p.parts))
	for i, lines := range p.parts {
		texts[i] = joinLines(lines, w.known)
	}
	b := block.Block{Kind: block.Paragraph, Text: texts[0], Positions: p.positions}
	switch {
	case p.isList:
		b.Kind, b.Text = block.List, strings.Join(texts, "\n")
	case p.formula:
		b.Mark = block.Formula
	case w.joinDivided(&b, &p.look):
		return
	}
	w.out, w.looks = append(w.out, b), append(w.looks, p.look)
}

// joinDivided joins a paragraph to one that ends inside a word, with tables and images between
// them.
func (w *writer) joinDivided(b *block.Block, l *look) bool {
	if first, _ := utf8.DecodeRuneInString(b.Text); !unicode.IsLower(first) {
		return false
	}
	for i := len(w.out) - 1; i >= max(0, len(w.out)-lookBack); i-- {
		before := &w.out[i]
		if before.Kind == block.Table || before.Kind == block.Image {
			continue
		}
		size := w.looks[i].size
		if before.Kind != block.Paragraph || len(before.Text) > longestJoined || !isDivided(before.Text) ||
			math.Abs(size-l.size) > sameSize*size {
			return false
		}
		before.Text = joinLines([]string{before.Text, b.Text}, w.known)
		before.Positions = append(before.Positions, b.Positions...)
		w.looks[i].lines += l.lines
		return true
	}
	return false
}

// flushCode completes lines in fixed pitch. A single one is a paragraph.
func (w *writer) flushCode() {
	list := w.code
	if w.code = nil; len(list) == 0 {
		return
	}
	box := list[0].Box
	for i := range list {
		box = box.union(list[i].Box)
	}
	l := look{size: list[0].size, bold: list[0].bold, mono: true, lines: len(list)}
	if len(list) < codeLines {
		w.add(block.Block{Kind: block.Paragraph, Text: list[0].text}, box, l)
		return
	}
	w.add(block.Block{Kind: block.Code, Text: codeText(list)}, box, l)
}

func (w *writer) flushContents() {
	list := w.contents
	if w.contents = nil; len(list) == 0 {
		return
	}
	box := list[0].Box
	texts := make([]string, len(list))
	for i := range list {
		box, texts[i] = box.union(list[i].Box), list[i].text
	}
	b := block.Block{Kind: block.Paragraph, Mark: block.Contents, Text: strings.Join(texts, "\n")}
	w.add(b, box, look{size: list[0].size, lines: len(list)})
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
			rows, dropped := t.rows, 0
			for dropped < min(last.Header, len(rows)-1) && slices.Equal(rows[dropped], last.Rows[dropped]) {
				dropped++
			}
			for _, s := range t.spans {
				if s.Row >= dropped {
					s.Row += len(last.Rows) - dropped
					last.Spans = append(last.Spans, s)
				}
			}
			rows = rows[dropped:]
			last.Rows = append(last.Rows, rows...)
			last.Positions = append(last.Positions, w.position(t.Box))
			return
		}
	}
	w.add(block.Block{Kind: block.Table, Rows: t.rows, Spans: t.spans, Header: t.header}, t.Box, look{})
}

func (w *writer) continuesTable(b *block.Block, t *table) bool {
	at := b.Positions[len(b.Positions)-1]
	return at.Page == w.page-1 && len(b.Rows[0]) == len(t.rows[0]) &&
		math.Abs(at.Left-t.Left) < movedTable && math.Abs(at.Right-t.Right) < 2*movedTable
}
