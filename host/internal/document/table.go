package document

import (
	"slices"
	"strings"
)

// table is the state of a table. A table inside a cell becomes text of the cell.
type table struct {
	rows  []string // of a table inside a cell, until it ends
	shown bool     // the first row was written
	inRow bool     // a row is open
	named bool     // the open row names columns

	held      []cell // a first row of one wide cell, until the width of the table is known
	heldNamed bool

	cells             []cell         // of the open row
	down              map[int]*reach // cells that may reach into the next row, by their column
	cell              []string       // blocks of the open cell
	open              bool           // a cell is open
	columns, rowsDown int            // that the open cell reaches over
	continues         bool           // the open cell continues the one above
	covered           bool           // the open cell is part of the one to its left
}

// cell is a stored cell of a row.
type cell struct {
	text          string
	columns, rows int // that it reaches over, at least 1
	continues     bool
}

// reach is a cell that reaches into rows below.
type reach struct {
	text          string
	columns, rows int // that are left
}

// merge is a cell of a row that reaches over columns to its right, or continues the cell above.
type merge struct {
	column, columns int
	continues       bool
}

// openEnded is the height of a cell that the cells below may continue.
const openEnded = 1

// maxSpan bounds the columns and rows that a cell reaches over; HTML allows 1,000 and 65,534.
const maxSpan = 1000

func (t *table) endCell() {
	if t.open && !t.covered {
		t.cells = append(t.cells, cell{
			strings.Join(t.cell, "\n"), min(t.columns, maxSpan), min(t.rowsDown, maxSpan), t.continues,
		})
	}
	t.cell, t.open, t.covered = nil, false, false
}

// joined returns the open row as text.
func (t *table) joined() string {
	var texts []string
	for _, c := range t.cells {
		if !c.continues && c.text != "" {
			texts = append(texts, c.text)
		}
	}
	return strings.Join(texts, " ")
}

// layOut returns the open row by columns: a cell stands in each column that it reaches over, and so
// does a cell of a row above that reaches into this one.
func (t *table) layOut() (row []string, merges []merge) {
	below := map[int]*reach{}
	place := func(text string, columns, rows int, continues bool) {
		columns = max(min(columns, maxColumns-len(row)), 1)
		if at := len(row); columns > 1 || continues {
			merges = append(merges, merge{at, columns, continues})
		}
		below[len(row)] = &reach{text, columns, rows - 1}
		row = append(row, repeated(text, columns)...)
	}
	fromAbove := func() { // places the cells that reach down to the next column
		for {
			r := t.down[len(row)]
			if r == nil || r.rows == 0 {
				return
			}
			place(r.text, r.columns, r.rows, true)
		}
	}
	taken := t.taken()
	for _, c := range t.cells {
		fromAbove()
		at, text, columns := len(row), c.text, c.columns
		above := t.down[at]
		continues := c.continues && above != nil
		if continues {
			text = above.text
		}
		if i, _ := slices.BinarySearch(taken, at+1); i < len(taken) {
			columns = min(columns, taken[i]-at)
		}
		place(text, columns, c.rows, continues)
	}
	for _, at := range taken {
		if own := len(t.cells) > 0; at >= len(row) {
			for own && len(row) < at {
				row = append(row, "")
			}
			if own {
				fromAbove()
			} else { // a row without starting cells is not shown
				r := t.down[at]
				below[at] = &reach{r.text, r.columns, r.rows - 1}
			}
		}
	}
	t.cells, t.down = nil, below
	return row, merges
}

// taken returns the columns of cells above that reach into the open row, in order.
func (t *table) taken() (columns []int) {
	for at, r := range t.down {
		if r.rows > 0 {
			columns = append(columns, at)
		}
	}
	slices.Sort(columns)
	return columns
}

func repeated(text string, n int) []string { return slices.Repeat([]string{text}, n) }

// maxHead bounds the rows of a head.
const maxHead = 8

// head finds the rows of a table that name its columns.
type head struct {
	open    bool // the rows so far are all part of it
	named   bool // the document marks its rows
	wide    bool // the first row has a cell over several columns
	rows    int
	columns int // of its last row, while the line below it is due
}

// takes reports whether the next row is part of the head: the first row, rows that the document
// marks, and rows that cells of the first row reach into, if it has wide cells too.
func (h *head) takes(merges []merge, first, named bool) bool {
	if first {
		*h = head{open: true, named: named, columns: h.columns, rows: 1}
		for _, m := range merges {
			h.wide = h.wide || m.columns > 1
		}
		return true
	}
	continued := false
	for _, m := range merges {
		continued = continued || m.continues
	}
	h.rows++
	h.open = h.open && h.rows <= maxHead && (h.named && named || !h.named && h.wide && continued)
	return h.open
}
