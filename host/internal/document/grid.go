package document

import (
	"slices"
	"strings"
)

// gridTable is a table whose cells are known by their right edges, as Word stores them: the columns
// are known at its end only.
type gridTable struct {
	rows []gridRow
	row  gridRow // the open one
	size int     // bytes in rows and row
}

type gridRow struct {
	cells []string // texts, at most as many as edges count
	edges []gridEdge
}

// gridEdge is the definition of a cell.
type gridEdge struct {
	right     int  // in twips
	joins     bool // continues the cell to its left
	continues bool // the cell above
}

// gridSlop is the distance of edges that are the same column.
const gridSlop = 30

// maxRowCells bounds the cells of a row; Word has 63.
const maxRowCells = 1000

// addCell adds a cell to the open row of g.
func (f *flow) addCell(g *gridTable, text string) {
	if g.size += len(text) + entry; g.size > f.page.maxText && f.page.err == nil {
		f.page.err = exceeded(LimitBlock, f.page.maxText, "bytes in one table")
	}
	if err := f.page.countCell(); err != nil && f.page.err == nil {
		f.page.err = err
	}
	if f.page.err == nil {
		g.row.cells = append(g.row.cells, text)
	}
}

// endGridRow ends the open row, whose cells have the given edges.
func (f *flow) endGridRow(g *gridTable, edges []gridEdge) {
	g.row.edges = slices.Clone(edges[:min(len(edges), len(g.row.cells))])
	if g.size += len(edges) * entry; len(g.row.cells) > 0 {
		g.rows = append(g.rows, g.row)
	}
	g.row = gridRow{}
}

// endGrid writes the table, if there is one.
func (f *flow) endGrid(g *gridTable) {
	if len(g.row.cells) > 0 {
		f.endGridRow(g, nil)
	}
	if len(g.rows) == 0 {
		return
	}
	columns := g.columns()
	f.beginTable()
	for _, row := range g.rows {
		at := -1
		for i, text := range row.cells {
			width := 1
			if i < len(row.edges) {
				e := row.edges[i]
				to := columnAt(columns, e.right)
				width = max(to-at, 1)
				at = max(to, at+1)
				if e.joins && i > 0 {
					f.widen(width, text)
					continue
				}
			}
			f.beginCell(width, openEnded)
			if t := f.table(); t != nil && i < len(row.edges) {
				t.continues = row.edges[i].continues
			}
			f.add(paragraph, "", strings.TrimSpace(text))
			f.endCell()
		}
		f.endRow()
	}
	f.endTable()
	*g = gridTable{}
}

// widen adds a cell to the one to its left.
func (f *flow) widen(columns int, text string) {
	t := f.table()
	if t == nil || len(t.cells) == 0 {
		return
	}
	last := &t.cells[len(t.cells)-1]
	last.columns = min(last.columns+columns, maxSpan)
	if text = strings.TrimSpace(text); text != "" {
		last.text = strings.TrimSpace(last.text + "\n" + text)
	}
}

// columns returns the right edges of all columns in order.
func (g *gridTable) columns() (edges []int) {
	for _, row := range g.rows {
		for _, e := range row.edges {
			edges = append(edges, e.right)
		}
	}
	slices.Sort(edges)
	last := 0
	return slices.DeleteFunc(slices.Compact(edges), func(e int) bool {
		near := e != edges[0] && e-last <= gridSlop
		if !near {
			last = e
		}
		return near
	})
}

// columnAt returns the column that ends at an edge.
func columnAt(columns []int, edge int) int {
	i, exact := slices.BinarySearch(columns, edge)
	if !exact && i > 0 {
		i--
	}
	return i
}
