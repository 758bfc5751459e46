package layout

import (
	"cmp"
	"slices"
)

// Limits of the search for columns.
const (
	maxItems     = 5000 // of a page with columns; one with more is read from top to bottom
	maxColumns   = 8    // columns inside each other
	leastItems   = 3    // on each side of a gutter
	mostCrossing = 0.4  // of all items that cross a gutter
	leastGutter  = 5.0  // points
)

// columns divides items, which are sorted from top to bottom, into columns in reading order. What
// reaches over several columns stands between those above and below it.
func columns(items []item, depth int) [][]item {
	if len(items) < 2*leastItems || len(items) > maxItems || depth > maxColumns {
		return [][]item{items}
	}
	x, ok := gutter(items)
	if !ok {
		return [][]item{items}
	}
	var out [][]item
	var left, right []item
	flush := func() {
		for _, side := range [][]item{left, right} {
			if len(side) > 0 {
				out = append(out, columns(side, depth+1)...)
			}
		}
		left, right = nil, nil
	}
	for _, it := range items {
		switch {
		case it.Right <= x:
			left = append(left, it)
		case it.Left >= x:
			right = append(right, it)
		default:
			flush()
			out = append(out, []item{it})
		}
	}
	flush()
	return joinSingles(out)
}

// joinSingles joins neighbouring columns of one item, so that lines of one paragraph stay together.
func joinSingles(list [][]item) [][]item {
	var out [][]item
	open := false
	for _, column := range list {
		single := len(column) == 1
		if single && open {
			out[len(out)-1] = append(out[len(out)-1], column[0])
			continue
		}
		out, open = append(out, column), single
	}
	return out
}

// gutter finds the vertical gap that fewest items cross. Both sides need lines at the same height.
func gutter(items []item) (x float64, ok bool) {
	lefts := make([]float64, 0, len(items))
	for _, it := range items {
		lefts = append(lefts, it.Left)
	}
	slices.SortFunc(lefts, cmp.Compare)
	fewest := int(mostCrossing*float64(len(items))) + 1
	for i, at := range lefts {
		if i > 0 && at-lefts[i-1] < 1 {
			continue // nearly the same
		}
		if crossing, fits := crossed(items, at); fits && crossing < fewest {
			fewest, x, ok = crossing, at, true
		}
	}
	return x - 0.01, ok
}

// crossed counts the items that cross the gap before x, and reports whether it can be a gutter.
func crossed(items []item, x float64) (crossing int, fits bool) {
	var left, right, starts int
	var leftBox, rightBox Box
	for _, it := range items {
		switch {
		case it.Right <= x-leastGutter:
			if left++; left == 1 {
				leftBox = it.Box
			}
			leftBox = leftBox.union(it.Box)
		case it.Left >= x-0.01:
			if right++; right == 1 {
				rightBox = it.Box
			}
			rightBox = rightBox.union(it.Box)
			if it.Left < x+2*tolerance {
				starts++
			}
		default:
			crossing++
		}
	}
	overlap := min(leftBox.Bottom, rightBox.Bottom) - max(leftBox.Top, rightBox.Top)
	beside := overlap > min(leftBox.height(), rightBox.height())/2
	return crossing, left >= leastItems && right >= leastItems && 3*starts >= right && beside
}
