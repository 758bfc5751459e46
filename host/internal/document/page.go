package document

import "strings"

// page collects the text of a document, block by block.
type page struct {
	most int // bytes
	text strings.Builder
	last blockKind
	over bool // there is more than most: what follows is dropped
}

type blockKind int

const (
	noBlock blockKind = iota
	paragraph
	item  // of a list
	tuple // a row of a table
)

// add appends a block. Items and rows follow each other without a blank line; other blocks have one between them.
func (p *page) add(kind blockKind, text string) {
	if p.over || text == "" {
		return
	}
	if p.text.Len()+len(text)+2 > p.most {
		p.over = true
		return
	}
	switch {
	case p.last == noBlock:
	case kind == p.last && kind != paragraph:
		p.text.WriteByte('\n')
	default:
		p.text.WriteString("\n\n")
	}
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
	p.add(tuple, b.String())
}

// gap ends a list or a table, so that the next one is not taken for its continuation.
func (p *page) gap() {
	if p.last != noBlock {
		p.last = paragraph
	}
}

func (p *page) result() (string, error) {
	if p.over {
		return "", tooMuch("bytes of text", p.most)
	}
	return p.text.String(), nil
}

// cell brings a text onto one line that holds no end of a cell.
func cell(s string) string {
	if strings.ContainsAny(s, "\n|") {
		s = strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
	}
	return strings.TrimSpace(s)
}

// table is one whose cells are being read. Tables inside a cell become words of it.
type table struct {
	rows  [][]string
	cells []string
	cell  []string // blocks of the open cell
	open  bool     // a cell is open
}

func (t *table) beginCell() {
	t.endCell()
	t.open = true
}

func (t *table) endCell() {
	if t.open {
		t.cells = append(t.cells, strings.Join(t.cell, "\n"))
	}
	t.cell, t.open = nil, false
}

func (t *table) endRow() {
	t.endCell()
	if strings.Join(t.cells, "") != "" {
		t.rows = append(t.rows, t.cells)
	}
	t.cells = nil
}

// flow puts blocks onto a page, or into the innermost open cell.
type flow struct {
	page   *page
	tables []*table
	held   int // bytes in cells that are not yet on the page
}

func (f *flow) add(kind blockKind, text string) {
	if text == "" {
		return
	}
	if t := f.openCell(); t != nil {
		if f.held += len(text); f.held > f.page.most {
			f.page.over = true
			return
		}
		t.cell = append(t.cell, text)
		return
	}
	f.page.add(kind, text)
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

func (f *flow) endTable() {
	n := len(f.tables)
	if n == 0 {
		return
	}
	t := f.tables[n-1]
	t.endRow()
	f.tables = f.tables[:n-1]
	if f.openCell() == nil {
		f.held = 0
		f.page.gap()
		for i, cells := range t.rows {
			f.page.row(cells, i == 0)
		}
		f.page.gap()
		return
	}
	for _, cells := range t.rows {
		f.add(paragraph, strings.Join(cells, " "))
	}
}
