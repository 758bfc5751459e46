package document

import (
	"strings"

	"github.com/easel-canvas/easel/engine/block"
)

// page collects a document, block by block: its text, or the blocks if there is a collector.
type page struct {
	blocks   *collector // receives the blocks in place of the text; may be nil
	drawn    *thumbnail // receives the first page of a PDF in place of the text; may be nil
	maxText  int        // bytes of text allowed
	block    int        // bytes of a paragraph or a row of an Office document
	maxCells int        // of all tables of an Office document
	cells    int        // read so far, including empty ones
	text     strings.Builder
	whole    string // the text of a format that is not converted
	last     blockKind
	added    int                                       // blocks and rows so far
	sheet    func(name string) error                   // starts a sheet of a workbook; may be nil
	rows     func(cells []string, number []bool) error // receives rows instead of the text; may be nil
	err      error                                     // the limit that was exceeded; later blocks are dropped
}

func newPage(limits *Limits) *page {
	return &page{maxText: limits.Text, block: limits.Block, maxCells: limits.Cells}
}

type blockKind int

const (
	noBlock blockKind = iota
	paragraph
	heading // with its marks as prefix
	code    // written without a fence
	item    // of a list
	tuple   // a row of a table
)

// joins reports whether consecutive blocks of a kind are separated by a line end only.
func (k blockKind) joins() bool { return k == item || k == tuple }

// countCell counts a cell of an Office document.
func (p *page) countCell() error {
	if p.cells++; p.cells > p.maxCells {
		return exceeded(LimitCells, p.maxCells, "cells")
	}
	return nil
}

// add appends a block with the prefix mark. Consecutive items and rows are separated by a line end,
// other blocks by a blank line.
func (p *page) add(kind blockKind, mark, text string) {
	if p.err != nil || text == "" {
		return
	}
	p.added++
	if p.blocks != nil {
		p.err = p.blocks.add(kind, mark, text, kind == p.last && kind.joins())
		p.last = kind
		return
	}
	if p.text.Len()+len(mark)+len(text)+2 > p.maxText {
		p.err = exceeded(LimitText, p.maxText, "bytes of text")
		return
	}
	switch {
	case p.last == noBlock:
	case kind == p.last && kind.joins():
		p.text.WriteByte('\n')
	default:
		p.text.WriteString("\n\n")
	}
	p.text.WriteString(mark)
	p.text.WriteString(text)
	p.last = kind
}

// row appends a table row. After the first row it writes the line that makes it the header.
func (p *page) row(cells []string, head bool) {
	if p.blocks != nil && p.err == nil {
		p.added++
		p.err = p.blocks.row(cells, head)
		p.last = tuple
		return
	}
	var b strings.Builder
	block.WriteRow(&b, cells, head)
	p.add(tuple, "", b.String())
}

// startPage makes n the page of the blocks that follow.
func (p *page) startPage(n int) {
	if p.blocks != nil {
		p.blocks.page = n
	}
}

// picture appends an image. The text omits it.
func (p *page) picture(source, description string) {
	if p.blocks != nil && p.err == nil {
		p.err = p.blocks.picture(source, description)
	}
}

// gap separates consecutive lists or tables.
func (p *page) gap() {
	if p.last != noBlock {
		p.last = paragraph
	}
}

func (p *page) result() (string, error) {
	if p.err != nil {
		return "", p.err
	}
	if p.whole != "" {
		return p.whole, nil
	}
	return p.text.String(), nil
}

// table is the state of a table. A table inside a cell becomes text of the cell.
type table struct {
	rows  [][]string // of a table inside a cell, until it ends
	shown bool       // the first row was written
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

// flow adds blocks to a page, or to the innermost open cell. A table row is written when it ends.
type flow struct {
	page     *page
	tables   []*table
	buffered int // bytes of blocks and cells that are not written yet
}

func newFlow(out *page) flow { return flow{page: out} }

// entry is the cost of a block or a cell beyond its text.
const entry = 48

// buffer counts n bytes that are not written yet, and reports whether they are within the limit.
func (f *flow) buffer(n int) bool {
	if f.buffered += n + entry; f.buffered > f.page.maxText && f.page.err == nil {
		f.page.err = exceeded(LimitBlock, f.page.maxText, "bytes in one row of a table")
	}
	return f.page.err == nil
}

func (f *flow) add(kind blockKind, mark, text string) {
	if text == "" {
		return
	}
	if t := f.openCell(); t == nil {
		f.page.add(kind, mark, text)
	} else if f.buffer(len(mark) + len(text)) {
		t.cell = append(t.cell, mark+text)
	}
}

// table returns the innermost open table, nil outside of tables.
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
	if t := f.table(); t != nil && f.buffer(0) {
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
	f.buffered = 0
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
