package layout

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/easel-canvas/easel/engine/block"
)

// tolerance bounds the distance of rules that count as touching, in points.
const tolerance = 2.5

// maxRules bounds the rules of a page of which tables are made. Drawings have more.
const maxRules = 4000

// ruledTables makes tables of rules that form a grid, and returns the words outside of them.
func ruledTables(rules []Box, words []word, known *Compounds) ([]table, []word) {
	if len(rules) == 0 || len(rules) > maxRules {
		return nil, words
	}
	var out []table
	taken := make([]bool, len(words))
	for _, group := range connected(rules) {
		g := newGrid(group)
		if g == nil {
			continue
		}
		var inside []word
		var at []int
		for i := range words {
			if !taken[i] && g.contains(words[i].Box) {
				inside, at = append(inside, words[i]), append(at, i)
			}
		}
		if len(inside) == 0 {
			continue
		}
		if t, ok := g.table(inside, known); ok {
			out = append(out, t)
			for _, i := range at {
				taken[i] = true
			}
		}
	}
	if len(out) == 0 {
		return nil, words
	}
	rest := words[:0]
	for i := range words {
		if !taken[i] {
			rest = append(rest, words[i])
		}
	}
	return out, rest
}

// connected groups rules that touch.
func connected(rules []Box) [][]Box {
	rules = slices.Clone(rules)
	slices.SortFunc(rules, func(a, b Box) int { return cmp.Compare(a.Top, b.Top) })
	parent := make([]int, len(rules))
	for i := range parent {
		parent[i] = i
	}
	root := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for i, a := range rules {
		for k := i + 1; k < len(rules) && rules[k].Top <= a.Bottom+tolerance; k++ {
			if b := rules[k]; b.Left <= a.Right+tolerance && a.Left <= b.Right+tolerance {
				parent[root(k)] = root(i)
			}
		}
	}
	groups := map[int][]Box{}
	var order []int
	for i, r := range rules {
		at := root(i)
		if groups[at] == nil {
			order = append(order, at)
		}
		groups[at] = append(groups[at], r)
	}
	out := make([][]Box, 0, len(order))
	for _, at := range order {
		out = append(out, groups[at])
	}
	return out
}

// grid is the positions of the rules of a table.
type grid struct {
	xs, ys               []float64
	vertical, horizontal []Box
	left, above          [][]bool // by row and column: there is a rule at this side of the cell
}

// maxGrid bounds the work for one grid: its cells times its rules.
const maxGrid = 20_000_000

// newGrid returns nil if the rules divide nothing into columns.
func newGrid(rules []Box) *grid {
	g := &grid{}
	for _, r := range rules {
		if r.width() > r.height() {
			g.ys = append(g.ys, r.middle())
			g.horizontal = append(g.horizontal, r)
		} else {
			g.xs = append(g.xs, (r.Left+r.Right)/2)
			g.vertical = append(g.vertical, r)
		}
	}
	left, right := ends(g.horizontal, func(r Box) (from, to float64) { return r.Left, r.Right })
	top, bottom := ends(g.vertical, func(r Box) (from, to float64) { return r.Top, r.Bottom })
	g.xs, g.ys = distinct(append(g.xs, left, right)), distinct(append(g.ys, top, bottom))
	if len(g.vertical) == 0 || len(g.horizontal) == 0 || len(g.xs) < 3 || len(g.ys) < 2 ||
		len(g.xs)*len(g.ys)*len(rules) > maxGrid {
		return nil
	}
	g.left, g.above = make([][]bool, len(g.ys)-1), make([][]bool, len(g.ys)-1)
	for row := range g.left {
		g.left[row], g.above[row] = make([]bool, len(g.xs)-1), make([]bool, len(g.xs)-1)
		for column := range g.left[row] {
			g.left[row][column] = g.divided(column, (g.ys[row]+g.ys[row+1])/2)
			g.above[row][column] = g.isCovered(row, (g.xs[column]+g.xs[column+1])/2)
		}
	}
	return g
}

// ends returns where rules begin and end: many tables have no rules at their sides.
func ends(rules []Box, of func(Box) (from, to float64)) (first, last float64) {
	for i, r := range rules {
		from, to := of(r)
		if i == 0 {
			first, last = from, to
		}
		first, last = min(first, from), max(last, to)
	}
	return first, last
}

// distinct sorts positions and drops those that are nearly equal to the one before.
func distinct(list []float64) []float64 {
	slices.Sort(list)
	var out []float64
	for _, v := range list {
		if len(out) == 0 || v-out[len(out)-1] > 2*tolerance {
			out = append(out, v)
		}
	}
	return out
}

func (g *grid) contains(w Box) bool {
	x, y := (w.Left+w.Right)/2, w.middle()
	return x > g.xs[0] && x < g.xs[len(g.xs)-1] && y > g.ys[0] && y < g.ys[len(g.ys)-1]
}

// table puts words into cells. A cell reaches over the next column or row where no rule is between
// them; then all of them have its text. A frame around text is no table: a row has one cell.
func (g *grid) table(words []word, known *Compounds) (table, bool) {
	rows, columns := len(g.ys)-1, len(g.xs)-1
	cells := make([][]word, rows*columns)
	owners := g.owners()
	for _, w := range words {
		at := owners[upTo(g.ys, w.middle())*columns+upTo(g.xs, (w.Left+w.Right)/2)]
		cells[at] = append(cells[at], w)
	}
	texts := make([]string, len(cells))
	for i := range cells {
		texts[i] = cellText(cells[i], known)
	}
	t := table{Box: Box{g.xs[0], g.xs[columns], g.ys[0], g.ys[rows]}, header: 1}
	if len(words) > 0 {
		t.from = words[0].order
	}
	kept := g.filled(owners, texts)
	beside := false
	spans := map[int]*block.Span{} // by owner
	for row := range rows {
		var list []string
		var cells []int // owners
		own, filled := 0, 0
		for column := range columns {
			at := row*columns + column
			if !kept[column] {
				continue
			}
			owner := owners[at]
			if owner == at && texts[owner] != "" {
				own++
			}
			if texts[owner] != "" && (len(list) == 0 || owner != owners[at-1]) {
				filled++
			}
			list, cells = append(list, texts[owner]), append(cells, owner)
		}
		if beside = beside || filled > 1; own == 0 {
			continue // no span reaches over a row that is left out
		}
		for column, owner := range cells {
			extend(spans, owner, len(t.rows), column)
		}
		t.rows = append(t.rows, list)
	}
	for _, owner := range slices.Sorted(maps.Keys(spans)) {
		s := spans[owner]
		s.Rows = min(s.Rows, len(t.rows)-s.Row)
		if s.Rows > 0 && s.Rows*s.Columns > 1 && texts[owner] != "" {
			t.spans = append(t.spans, *s)
			if s.Row == 0 && s.Rows < len(t.rows) {
				t.header = max(t.header, s.Rows)
			}
		}
	}
	t.dropHead()
	t.turnRightToLeft()
	return t, beside && 2*g.single(owners) >= len(owners)
}

// extend makes the span of an owner reach a cell.
func extend(spans map[int]*block.Span, owner, row, column int) {
	s := spans[owner]
	if s == nil {
		spans[owner] = &block.Span{Row: row, Column: column, Rows: 1, Columns: 1}
		return
	}
	s.Rows, s.Columns = max(s.Rows, row-s.Row+1), max(s.Columns, column-s.Column+1)
}

// single counts the cells that no other one is a part of. Drawings of boxes have few.
func (g *grid) single(owners []int) (n int) {
	size := make([]int, len(owners))
	for _, owner := range owners {
		size[owner]++
	}
	for _, k := range size {
		if k == 1 {
			n++
		}
	}
	return n
}

// filled reports the columns whose cells have a text: rules drawn twice make empty ones.
func (g *grid) filled(owners []int, texts []string) []bool {
	columns := len(g.xs) - 1
	out := make([]bool, columns)
	for i, owner := range owners {
		if owner%columns == i%columns && texts[owner] != "" {
			out[i%columns] = true
		}
	}
	return out
}

// owners returns for each cell the first one of those that no rule divides from it, row by row.
func (g *grid) owners() []int {
	rows, columns := len(g.left), len(g.xs)-1
	out := make([]int, rows*columns)
	for row := range rows {
		for column := range columns {
			at := row*columns + column
			out[at] = at
			switch {
			case column > 0 && !g.left[row][column]:
				out[at] = out[at-1]
			case row > 0 && !g.above[row][column]:
				out[at] = out[at-columns]
			}
		}
	}
	g.divide(out)
	return out
}

// divide divides cells that are no rectangles into their rows: HTML has no others, and one around
// them would hide the text of its neighbours.
func (g *grid) divide(owners []int) {
	columns := len(g.xs) - 1
	size, far := make([]int, len(owners)), make([][2]int, len(owners)) // by owner; its last row and column
	near := make([]int, len(owners))                                   // its first column
	for at, owner := range owners {
		if size[owner]++; size[owner] == 1 {
			near[owner] = at % columns
		}
		near[owner] = min(near[owner], at%columns)
		far[owner] = [2]int{at / columns, max(far[owner][1], at%columns)}
	}
	for at, owner := range slices.Clone(owners) {
		if (far[owner][0]-owner/columns+1)*(far[owner][1]-near[owner]+1) == size[owner] {
			continue
		}
		if owners[at] = at; at%columns > 0 && !g.left[at/columns][at%columns] {
			owners[at] = owners[at-1]
		}
	}
}

// upTo returns the interval of sorted positions that holds v.
func upTo(list []float64, v float64) int {
	at, _ := slices.BinarySearch(list, v)
	return min(max(at-1, 0), len(list)-2)
}

// divided reports whether a rule is at the left of a column at a height.
func (g *grid) divided(column int, y float64) bool {
	x := g.xs[column]
	for _, r := range g.vertical {
		if at := (r.Left + r.Right) / 2; at > x-2*tolerance && at < x+2*tolerance && r.Top-tolerance <= y &&
			y <= r.Bottom+tolerance {
			return true
		}
	}
	return false
}

// isCovered reports whether a rule is above a row at a place.
func (g *grid) isCovered(row int, x float64) bool {
	y := g.ys[row]
	for _, r := range g.horizontal {
		if at := r.middle(); at > y-2*tolerance && at < y+2*tolerance && r.Left-tolerance <= x &&
			x <= r.Right+tolerance {
			return true
		}
	}
	return false
}

func cellText(words []word, known *Compounds) string {
	var parts []string
	for _, row := range lines(words) {
		for _, s := range row {
			parts = append(parts, s.text)
		}
	}
	return joinLines(parts, known)
}

// horizontal returns the horizontal rules of a page from top to bottom, as far as tables are made
// of them.
func horizontal(rules []Box) (out []Box) {
	if len(rules) > maxRules {
		return nil
	}
	for _, r := range rules {
		if r.width() > r.height() {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b Box) int { return cmp.Compare(a.Top, b.Top) })
	return out
}

// dropHead leaves a table without a head where its first column has labels of values, as in a form.
func (t *table) dropHead() {
	labels, cells := 0, 0
	for i, row := range t.rows {
		isLabel := strings.HasSuffix(row[0], ":") || strings.HasSuffix(row[0], "：")
		if i == 0 && !isLabel {
			return
		}
		if isLabel {
			labels++
		}
		if row[0] != "" {
			cells++
		}
	}
	if 2*labels > cells {
		t.header = 0
	}
}

// turnRightToLeft puts the columns of a table in the order of reading.
func (t *table) turnRightToLeft() {
	balance := 0
	for _, row := range t.rows {
		for _, cell := range row {
			switch {
			case strings.ContainsFunc(cell, IsRightToLeft):
				balance++
			case strings.ContainsFunc(cell, unicode.IsLetter):
				balance--
			}
		}
	}
	if balance > 0 {
		for _, row := range t.rows {
			slices.Reverse(row)
		}
		for i := range t.spans {
			s := &t.spans[i]
			s.Column = len(t.rows[s.Row]) - s.Column - s.Columns
		}
	}
}
