package layout

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// tolerance is how far rules that meet may be apart, in points.
const tolerance = 2.5

// maxRules bounds the rules of a page of which tables are made. Drawings have more.
const maxRules = 4000

// ruledTables makes tables of rules that form a grid, and returns the words outside of them.
func ruledTables(rules []Box, words []word, known *Compounds) ([]table, []word) {
	if len(rules) == 0 || len(rules) > maxRules {
		return nil, words
	}
	var out []table
	for _, group := range connected(rules) {
		g := newGrid(group)
		if g == nil {
			continue
		}
		var inside, outside []word
		for _, w := range words {
			if g.contains(w.Box) {
				inside = append(inside, w)
			} else {
				outside = append(outside, w)
			}
		}
		if t, ok := g.table(inside, known); ok {
			out, words = append(out, t), outside
		}
	}
	return out, words
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
	xs, ys   []float64
	vertical []Box
	divides  [][]bool // by row and column: there is a rule at the left of the cell
}

// maxGrid bounds the work for one grid: its cells times its rules.
const maxGrid = 20_000_000

// newGrid returns nil if the rules divide nothing into columns.
func newGrid(rules []Box) *grid {
	g := &grid{}
	for _, r := range rules {
		if r.width() > r.height() {
			g.ys = append(g.ys, r.middle())
		} else {
			g.xs = append(g.xs, (r.Left+r.Right)/2)
			g.vertical = append(g.vertical, r)
		}
	}
	g.xs, g.ys = distinct(g.xs), distinct(g.ys)
	if len(g.xs) < 3 || len(g.ys) < 2 || len(g.xs)*len(g.ys)*len(g.vertical) > maxGrid {
		return nil
	}
	g.divides = make([][]bool, len(g.ys)-1)
	for row := range g.divides {
		g.divides[row] = make([]bool, len(g.xs)-1)
		for column := range g.divides[row] {
			g.divides[row][column] = g.divided(column, (g.ys[row]+g.ys[row+1])/2)
		}
	}
	return g
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

// table puts words into cells. A cell reaches over the next column where no rule is between them.
func (g *grid) table(words []word, known *Compounds) (table, bool) {
	cells := make([][][]word, len(g.ys)-1)
	for i := range cells {
		cells[i] = make([][]word, len(g.xs)-1)
	}
	for _, w := range words {
		row := upTo(g.ys, w.middle())
		column := upTo(g.xs, (w.Left+w.Right)/2)
		for column > 0 && !g.divides[row][column] {
			column--
		}
		cells[row][column] = append(cells[row][column], w)
	}
	t := table{Box: Box{g.xs[0], g.xs[len(g.xs)-1], g.ys[0], g.ys[len(g.ys)-1]}, header: 1}
	if len(words) > 0 {
		t.from = words[0].order
	}
	filled := 0
	for _, row := range cells {
		texts, empty := make([]string, len(row)), true
		for i, cell := range row {
			if texts[i] = cellText(cell, known); texts[i] != "" {
				empty = false
				filled++
			}
		}
		if !empty {
			t.rows = append(t.rows, texts)
		}
	}
	t.turnRightToLeft()
	return t, filled > 1
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
		if at := (r.Left + r.Right) / 2; at > x-2*tolerance && at < x+2*tolerance && r.Top <= y && y <= r.Bottom {
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

// horizontal returns the horizontal rules of a page from top to bottom, as far as tables are made of
// them.
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
	}
}
