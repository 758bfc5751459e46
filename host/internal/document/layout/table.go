package layout

import (
	"cmp"
	"slices"
	"strings"
)

// tolerance is how far rules that meet may be apart, in points.
const tolerance = 2.5

// maxRules bounds the rules of a page of which tables are made. Drawings have more.
const maxRules = 4000

// ruledTables makes tables of rules that form a grid, and returns the words outside of them.
func ruledTables(rules []Box, words []Word, known *Compounds) ([]table, []Word) {
	if len(rules) == 0 || len(rules) > maxRules {
		return nil, words
	}
	var out []table
	for _, group := range connected(rules) {
		g := newGrid(group)
		if g == nil {
			continue
		}
		var inside, outside []Word
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
func (g *grid) table(words []Word, known *Compounds) (table, bool) {
	cells := make([][][]Word, len(g.ys)-1)
	for i := range cells {
		cells[i] = make([][]Word, len(g.xs)-1)
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

func cellText(words []Word, known *Compounds) string {
	var parts []string
	for _, row := range lines(words) {
		for _, s := range row {
			parts = append(parts, s.text)
		}
	}
	return joinLines(parts, known)
}

// Limits of tables without rules.
const (
	farRow       = 1.5 // gap between rows, in heights
	narrowGap    = 0.5 // gap between columns, in heights
	fullColumn   = 0.8 // of its width that lines fill on average in a column of running text
	proseLetters = 25  // that a line of running text has at least on average

	proseLines     = 40  // above and below a line that are looked at for running text
	leastJustified = 4   // lines
	justifiedLines = 0.5 // of all lines that are full in justified text
	justifiedWords = 2   // of its lines on average
)

// alignedTables makes tables of neighbouring lines whose segments stand in the same columns. It
// returns the other lines.
func alignedTables(rows [][]segment, known *Compounds) ([]table, [][]segment) {
	var out []table
	var rest [][]segment
	for at := 0; at < len(rows); {
		end, cols := run(rows, at)
		if end-at < 2 || len(cols) < 2 || end-at < 3 && len(cols) < 3 || isProse(rows, at, end, cols) {
			rest = append(rest, rows[at])
			at++
			continue
		}
		out = append(out, alignedTable(rows[at:end], cols, known))
		at = end
	}
	return out, rest
}

// interval is a range of a page from left to right.
type interval struct{ left, right float64 }

// run finds how many lines from at on stand in the same columns.
func run(rows [][]segment, at int) (end int, cols []interval) {
	if len(rows[at]) < 2 {
		return at, nil
	}
	for end = at; end < len(rows); end++ {
		row := rows[end]
		if end > at && row[0].Top-rows[end-1][0].Bottom > farRow*row[0].height() {
			break
		}
		next := columnsWith(cols, row)
		fewer := len(next) < len(cols) || len(next) < 2
		if len(row) == 1 && (end == at || next == nil || len(next) > len(cols) || columnOf(cols, row[0]) < 1) || fewer {
			break
		}
		cols = next
	}
	for end > at+1 && len(rows[end-1]) == 1 && !follows(rows[end-2][0], rows[end-1][0]) {
		end-- // it continues no cell
	}
	return end, cols
}

// follows reports whether a line is close below another one.
func follows(above, line segment) bool { return line.Top-above.Bottom <= narrowGap*line.height() }

// columnsWith merges the segments of a line into columns.
func columnsWith(cols []interval, row []segment) []interval {
	out := slices.Clone(cols)
	gap := 0.0
	for _, s := range row {
		out = append(out, interval{s.Left, s.Right})
		gap = max(gap, narrowGap*s.height())
	}
	slices.SortFunc(out, func(a, b interval) int { return cmp.Compare(a.left, b.left) })
	merged := out[:1]
	for _, c := range out[1:] {
		if last := &merged[len(merged)-1]; c.left <= last.right+gap {
			last.right = max(last.right, c.right)
		} else {
			merged = append(merged, c)
		}
	}
	return merged
}

// columnOf returns the column of a segment, -1 for none.
func columnOf(cols []interval, s segment) int {
	for i, c := range cols {
		if s.Left >= c.left-tolerance && s.Right <= c.right+tolerance {
			return i
		}
	}
	return -1
}

// isProse reports whether columns are running text: their lines are long and end at the same place,
// or there is running text on both sides of a gap between them.
func isProse(rows [][]segment, at, end int, cols []interval) bool {
	fill, letters, n := 0.0, 0, 0
	for _, row := range rows[at:end] {
		for _, s := range row {
			if c := columnOf(cols, s); c >= 0 {
				fill += s.width() / max(cols[c].right-cols[c].left, 1)
			}
			letters += len([]rune(s.text))
			n++
		}
	}
	if fill/float64(n) > fullColumn && letters/n > proseLetters {
		return true
	}
	for c := range cols[1:] {
		// Lines of the left column may all be short here, as at its end.
		if x := cols[c+1].left; proseBeside(rows, at, interval{max(cols[c].right, x-2*leastGutter), x}) {
			return true
		}
	}
	return false
}

// proseBeside reports whether there is running text on both sides of a gap, in the lines from the
// one at as far up and down as none crosses the gap.
func proseBeside(rows [][]segment, at int, gap interval) bool {
	var left, right []segment
	add := func(row []segment) bool {
		before, behind, narrowed := -1, -1, gap
		for i, s := range row {
			switch middle := (gap.left + gap.right) / 2; {
			case s.Right <= middle:
				before, narrowed.left = i, max(narrowed.left, s.Right)
			case s.Left >= middle:
				if behind < 0 {
					behind, narrowed.right = i, min(narrowed.right, s.Left)
				}
			default:
				return false
			}
		}
		if narrowed.right-narrowed.left < leastGutter {
			return false
		}
		gap = narrowed
		if before >= 0 {
			left = append(left, row[before])
		}
		if behind >= 0 {
			right = append(right, row[behind])
		}
		return true
	}
	for i := at; i >= max(0, at-proseLines) && add(rows[i]); i-- {
		continue
	}
	for i := at + 1; i < min(len(rows), at+proseLines) && add(rows[i]); i++ {
		continue
	}
	return isJustified(left) && isJustified(right)
}

// isJustified reports whether lines are those of justified text: most begin and end at the same
// places, with a few words between.
func isJustified(lines []segment) bool {
	if len(lines) < leastJustified {
		return false
	}
	from := usual(lines, func(s segment) float64 { return s.Left })
	to := usual(lines, func(s segment) float64 { return s.Right })
	full, words := 0, 0
	for _, s := range lines {
		if near(s.Left, from) && near(s.Right, to) {
			full++
		}
		words += strings.Count(s.text, " ") + 1
	}
	return float64(full) > justifiedLines*float64(len(lines)) && words > justifiedWords*len(lines)
}

// near reports whether two places are the same for a reader.
func near(a, b float64) bool { return a-b < tolerance && b-a < tolerance }

// usual is the place where most lines have one.
func usual(lines []segment, of func(segment) float64) float64 {
	places := make([]float64, len(lines))
	for i, s := range lines {
		places[i] = of(s)
	}
	slices.Sort(places)
	best, most := 0.0, 0
	for from, to := 0, 0; to < len(places); to++ {
		for places[to]-places[from] > tolerance {
			from++
		}
		if to-from+1 > most {
			best, most = places[(from+to)/2], to-from+1
		}
	}
	return best
}

func alignedTable(rows [][]segment, cols []interval, known *Compounds) table {
	t := table{Box: rows[0][0].Box, header: 1}
	for _, row := range rows {
		cells := make([]string, len(cols))
		for _, s := range row {
			t.Box = t.union(s.Box)
			if c := columnOf(cols, s); c >= 0 {
				cells[c] = strings.TrimSpace(cells[c] + " " + s.text)
			}
		}
		if len(row) > 1 || len(t.rows) == 0 {
			t.rows = append(t.rows, cells)
			continue
		}
		last := t.rows[len(t.rows)-1] // a cell of more than one line
		for c := range cells {
			if cells[c] != "" {
				last[c] = joinLines([]string{last[c], cells[c]}, known)
			}
		}
	}
	return t
}
