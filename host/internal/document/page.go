package document

import (
	"strings"

	"github.com/easel-canvas/easel/engine/block"
)

// page collects a document, block by block: its text, or the blocks if there is a collector.
type page struct {
	blocks   *collector // receives the blocks instead of the text; may be nil
	drawn    *thumbnail // receives the first page of a PDF instead of the text; may be nil
	deeper   int        // levels by which headings of the text are deeper
	maxText  int        // bytes of text allowed
	block    int        // bytes of a paragraph or a row of an Office document
	maxCells int        // of all tables
	cells    int        // read so far, including empty ones
	head     head       // of the open table
	text     strings.Builder
	whole    string // the text of a format that is not converted
	last     blockKind
	language string                                    // of the next code
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

// countCovered counts the cells of a row that others reach over: a few bytes declare thousands.
func (p *page) countCovered(n int) {
	if p.cells += max(n, 0); p.cells > p.maxCells && p.err == nil {
		p.err = exceeded(LimitCells, p.maxCells, "cells")
	}
}

// add appends a block with the prefix mark. Consecutive items and rows are separated by a line end,
// other blocks by a blank line.
func (p *page) add(kind blockKind, mark, text string) {
	if p.err != nil || text == "" {
		return
	}
	if kind != tuple {
		p.endHead()
	}
	if kind == heading && p.deeper > 0 && p.blocks == nil {
		level := min(strings.Count(mark, "#")+p.deeper, block.DeepestHeading)
		mark = strings.Repeat("#", level) + " "
	}
	p.added++
	if p.blocks != nil {
		p.blocks.language, p.language = p.language, ""
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

// row appends a row of a table, which first begins. named reports that the document marks the row
// as one that names columns.
func (p *page) row(cells []string, merges []merge, first, named bool) {
	if first {
		p.endHead()
	}
	isHead := p.head.takes(merges, first, named)
	if p.blocks != nil && p.err == nil {
		p.added++
		p.err = p.blocks.row(cells, merges, first, isHead)
		p.last = tuple
		return
	}
	if !isHead {
		p.endHead()
	}
	var b strings.Builder
	block.WriteRow(&b, cells, false)
	p.add(tuple, "", b.String())
	if isHead {
		p.head.columns = len(cells)
	}
}

// endHead writes the line below the head of a table. It is due when the row after the head is
// known.
func (p *page) endHead() {
	if n := p.head.columns; n > 0 {
		p.head.columns = 0
		p.add(tuple, "", strings.Repeat("| --- ", n)+"|")
	}
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
	p.endHead()
	if p.last != noBlock {
		p.last = paragraph
	}
}

func (p *page) result() (string, error) {
	p.endHead()
	if p.err != nil {
		return "", p.err
	}
	if p.whole != "" {
		return p.whole, nil
	}
	return p.text.String(), nil
}

// flow adds blocks to a page, or to the innermost open cell. A table row is written when it ends.
type flow struct {
	page     *page
	tables   []*table
	buffered int      // bytes of blocks and cells that are not written yet
	code     []string // paragraphs of code that are not written yet
	codeSize int      // bytes in code
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

// beginCell begins a cell that reaches over columns and rows; with [openEnded] the cells below
// declare whether they continue it.
func (f *flow) beginCell(columns, rows int) {
	if t := f.table(); t != nil && f.buffer(0) {
		t.endCell()
		t.open, t.inRow = true, true
		t.columns, t.rowsDown, t.continues = max(columns, 1), max(rows, 1), false
	}
}

func (f *flow) endCell() {
	if t := f.table(); t != nil {
		t.endCell()
	}
}

func (f *flow) endRow() {
	t := f.table()
	if t == nil || !t.inRow {
		return
	}
	t.endCell()
	named := t.named
	t.named, t.inRow = false, false
	if f.openCell() != nil {
		if text := t.joined(); text != "" {
			t.rows = append(t.rows, text)
		}
		t.cells = nil
		return
	}
	if !t.shown && t.held == nil && len(t.cells) == 1 && t.cells[0].columns > 1 {
		t.held, t.heldNamed, t.cells = t.cells, named, nil
		return
	}
	own := len(t.cells)
	cells, merges := t.layOut()
	f.page.countCovered(len(cells) - own)
	if held := t.held; held != nil {
		// A lone cell may claim any number of columns; the table is as wide as its next row.
		t.held = nil
		f.show(t, repeated(held[0].text, min(held[0].columns, max(len(cells), 1))), t.heldNamed)
	}
	if strings.Join(cells, "") == "" {
		cells = nil
	}
	if cells != nil {
		f.showRow(t, cells, merges, named)
	}
	f.buffered = 0
}

// show writes a row of one cell that is repeated.
func (f *flow) show(t *table, cells []string, named bool) {
	var merges []merge
	if len(cells) > 1 {
		merges = []merge{{0, len(cells), false}}
	}
	if strings.Join(cells, "") != "" {
		f.showRow(t, cells, merges, named)
	}
}

func (f *flow) showRow(t *table, cells []string, merges []merge, named bool) {
	size := 0
	for _, cell := range cells {
		size += len(cell) + entry
	}
	if size > f.page.maxText && f.page.err == nil {
		f.page.err = exceeded(LimitBlock, f.page.maxText, "bytes in one row of a table")
		return
	}
	if !t.shown {
		f.page.gap()
	}
	f.page.row(cells, merges, !t.shown, named)
	t.shown = true
}

func (f *flow) endTable() {
	t := f.table()
	if t == nil {
		return
	}
	f.endRow()
	if held := t.held; held != nil {
		t.held = nil
		f.show(t, []string{held[0].text}, t.heldNamed)
	}
	f.tables = f.tables[:len(f.tables)-1]
	if f.openCell() == nil {
		f.page.gap()
	}
	for _, row := range t.rows {
		f.add(paragraph, "", row)
	}
}

// addCode adds a paragraph of code; consecutive ones are one block.
func (f *flow) addCode(text string) {
	text = strings.Trim(text, "\n")
	if len(f.code) > 0 || text != "" {
		f.code = append(f.code, text)
	}
	if f.codeSize += len(text) + entry; f.codeSize > f.page.maxText && f.page.err == nil {
		f.page.err = exceeded(LimitText, f.page.maxText, "bytes of text")
	}
}

// flushCode writes the open code.
func (f *flow) flushCode() {
	if len(f.code) > 0 {
		f.add(code, "", strings.Trim(strings.Join(f.code, "\n"), "\n"))
		f.code, f.codeSize = nil, 0
	}
}
