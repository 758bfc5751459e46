package layout

import (
	"cmp"
	"slices"
	"strings"
)

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

	maxTableColumns = 64
	maxTableRows    = 500     // on a page
	maxTriedRows    = 500_000 // of a page: each line begins a search
)

// alignedTables makes tables of neighbouring lines whose segments stand in the same columns. It
// returns the other lines.
func alignedTables(rows [][]segment, rules []Box, known *Compounds) ([]table, [][]segment) {
	var out []table
	var rest [][]segment
	tried := 0
	for at := 0; at < len(rows); {
		if tried > maxTriedRows {
			return out, append(rest, rows[at:]...)
		}
		end, cols := run(rows, at)
		tried += end - at
		if !isTable(rows, at, end, cols, rules) {
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
	if len(rows[at]) < 2 || isLine(rows[at]) {
		return at, nil
	}
	for end = at; end < min(len(rows), at+maxTableRows); end++ {
		row := rows[end]
		if end > at && row[0].Top-rows[end-1][0].Bottom > farRow*row[0].height() || isLine(row) ||
			len(row) > maxTableColumns {
			break
		}
		next := columnsWith(cols, row)
		fewer := len(next) < len(cols) || len(next) < 2
		if len(row) == 1 && (end == at || next == nil || len(next) > len(cols) || columnOf(cols, row[0]) < 1) || fewer {
			break
		}
		cols = next
	}
	for end > at+1 && len(rows[end-1]) == 1 && !isCloseBelow(rows[end-2][0], rows[end-1][0]) {
		end-- // it continues no cell
	}
	return end, cols
}

// isLine reports whether a line is one of code, of a table of contents or at the edge of a page:
// not a row of a table.
func isLine(row []segment) bool {
	mono := true
	for i := range row {
		if row[i].contents || row[i].dropped {
			return true
		}
		mono = mono && row[i].mono
	}
	return mono
}

// isCloseBelow reports whether a line is close below another one.
func isCloseBelow(above, line segment) bool { return line.Top-above.Bottom <= narrowGap*line.height() }

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

// isJustified reports whether lines look like justified text: most begin and end at the same
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

// usual returns the place where most lines have one.
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
	t := table{Box: rows[0][0].Box, header: 1, from: rows[0][0].from}
	for _, row := range rows {
		cells := make([]string, len(cols))
		for _, s := range row {
			t.Box, t.from = t.union(s.Box), min(t.from, s.from)
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
	t.dropHead()
	t.turnRightToLeft()
	return t
}
