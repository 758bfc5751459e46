package document

import "strings"

// page collects the text of a document, block by block.
type page struct {
	most      int // bytes of text
	block     int // bytes of a paragraph or a row of an Office document
	mostCells int // of all tables of an Office document
	cells     int // that were read, empty ones too
	text      strings.Builder
	last      blockKind
	sheet     func(name string) error                   // begins a sheet of a workbook, if not nil
	rows      func(cells []string, number []bool) error // takes its rows in place of the text, if not nil
	err       error                                     // a limit that was exceeded: what follows is dropped
}

func newPage(limits *Limits) *page {
	return &page{most: limits.Text, block: limits.Block, mostCells: limits.Cells}
}

type blockKind int

const (
	noBlock blockKind = iota
	paragraph
	item  // of a list
	tuple // a row of a table
)

// countCell counts a cell of an Office document.
func (p *page) countCell() error {
	if p.cells++; p.cells > p.mostCells {
		return exceeded(LimitCells, p.mostCells, "cells")
	}
	return nil
}

// add appends a block, which begins with mark. Items and rows follow each other without a blank
// line; other blocks have one between them.
func (p *page) add(kind blockKind, mark, text string) {
	if p.err != nil || text == "" {
		return
	}
	if p.text.Len()+len(mark)+len(text)+2 > p.most {
		p.err = exceeded(LimitText, p.most, "bytes of text")
		return
	}
	switch {
	case p.last == noBlock:
	case kind == p.last && kind != paragraph:
		p.text.WriteByte('\n')
	default:
		p.text.WriteString("\n\n")
	}
	p.text.WriteString(mark)
	p.text.WriteString(text)
	p.last = kind
}

// row appends a row of a table; after the first one comes the line that makes it the head.
func (p *page) row(cells []string, head bool) {
	var b strings.Builder
	for _, c := range cells {
		b.WriteString("| ")
		b.WriteString(cell(c))
		b.WriteByte(' ')
	}
	b.WriteByte('|')
	if head {
		b.WriteByte('\n')
		b.WriteString(strings.Repeat("| --- ", len(cells)))
		b.WriteByte('|')
	}
	p.add(tuple, "", b.String())
}

// gap ends a list or a table, so that the next one is not taken for its continuation.
func (p *page) gap() {
	if p.last != noBlock {
		p.last = paragraph
	}
}

func (p *page) result() (string, error) {
	if p.err != nil {
		return "", p.err
	}
	return p.text.String(), nil
}

// cell brings a text onto one line that holds no end of a cell.
func cell(s string) string {
	if strings.ContainsAny(s, "\n|") {
		s = strings.ReplaceAll(words(s), "|", `\|`)
	}
	return strings.TrimSpace(s)
}

// words is a text on one line, with single blanks.
func words(s string) string {
	var b strings.Builder
	for word := range strings.FieldsSeq(s) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
	}
	return b.String()
}

// table is one whose cells are being read. A table inside a cell becomes words of the cell.
type table struct {
	rows  [][]string // of a table inside a cell, until it ends
	shown bool       // the first row is on the page
	cells []string   // of the open row
	cell  []string   // blocks of the open cell
	open  bool       // a cell is open
}

func (t *table) endCell() {
	if t.open {
		t.cells = append(t.cells, strings.Join(t.cell, "\n"))
	}
	t.cell, t.open = nil, false
}

// flow puts blocks onto a page, or into the innermost open cell. A row of a table goes to the page
// when it ends.
type flow struct {
	page   *page
	tables []*table
	held   int // bytes of blocks and cells that are not on the page yet
}

func newFlow(out *page) flow { return flow{page: out} }

// entry is what a block or a cell takes beside its text.
const entry = 48

// hold counts n bytes that are not on the page yet, and reports whether they may be there.
func (f *flow) hold(n int) bool {
	if f.held += n + entry; f.held > f.page.most && f.page.err == nil {
		f.page.err = exceeded(LimitBlock, f.page.most, "bytes in one row of a table")
	}
	return f.page.err == nil
}

func (f *flow) add(kind blockKind, mark, text string) {
	if text == "" {
		return
	}
	if t := f.openCell(); t == nil {
		f.page.add(kind, mark, text)
	} else if f.hold(len(mark) + len(text)) {
		t.cell = append(t.cell, mark+text)
	}
}

// table is the innermost one, nil outside of tables.
func (f *flow) table() *table {
	if n := len(f.tables); n > 0 {
		return f.tables[n-1]
	}
	return nil
}

func (f *flow) openCell() *table {
	for i := len(f.tables) - 1; i >= 0; i-- {
		if f.tables[i].open {
			return f.tables[i]
		}
	}
	return nil
}

func (f *flow) beginTable() { f.tables = append(f.tables, &table{}) }

func (f *flow) beginCell() {
	if t := f.table(); t != nil && f.hold(0) {
		t.endCell()
		t.open = true
	}
}

func (f *flow) endCell() {
	if t := f.table(); t != nil {
		t.endCell()
	}
}

func (f *flow) endRow() {
	t := f.table()
	if t == nil {
		return
	}
	t.endCell()
	cells := t.cells
	t.cells = nil
	if strings.Join(cells, "") == "" {
		cells = nil
	}
	switch {
	case f.openCell() != nil:
		if cells != nil {
			t.rows = append(t.rows, cells)
		}
		return
	case cells != nil:
		if !t.shown {
			f.page.gap()
		}
		f.page.row(cells, !t.shown)
		t.shown = true
	}
	f.held = 0
}

func (f *flow) endTable() {
	t := f.table()
	if t == nil {
		return
	}
	f.endRow()
	f.tables = f.tables[:len(f.tables)-1]
	if f.openCell() == nil {
		f.page.gap()
	}
	for _, cells := range t.rows {
		f.add(paragraph, "", strings.Join(cells, " "))
	}
}
