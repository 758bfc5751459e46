package layout

import (
	"cmp"
	"slices"
)

// line is the words of one line, from left to right.
type line struct {
	Box
	words  []Word
	blanks []interval // between them
}

func newLine(words []Word, box Box) line {
	slices.SortStableFunc(words, func(a, b Word) int { return cmp.Compare(a.Left, b.Left) })
	l := line{Box: box, words: words}
	right := words[0].Right
	for _, w := range words[1:] {
		if w.Left > right {
			l.blanks = append(l.blanks, interval{right, w.Left})
		}
		right = max(right, w.Right)
	}
	return l
}

// Limits of wide blanks in justified text.
const (
	justifiedBlank = 3.0 // widest one, in heights
	nearLines      = 8   // above and below that are looked at
	columnLines    = 6   // near ones with the same gap: it is one between columns
	alignedLines   = 2   // near ones with the same gap and the same edge: it is one between columns
)

// inText reports whether a wide blank of line i is one of justified text, and not one between
// columns: words of lines near it stand where it is.
func inText(list []line, i int, blank interval) bool {
	if blank.right-blank.left > justifiedBlank*list[i].height() {
		return false
	}
	crossed, gap := false, blank
	lefts, rights := []float64{blank.right}, []float64{blank.left} // of the words beside the gap
	for _, step := range [...]int{-1, 1} {
		for n, last := 1, i; n <= nearLines; n++ {
			at := i + step*n
			if at < 0 || at >= len(list) || apart(list[last].Box, list[at].Box) > farRow*list[i].height() {
				break
			}
			last = at
			l := &list[at]
			if l.Left >= gap.left || l.Right <= gap.right {
				continue // it is on one side only
			}
			common, beside := l.widest(gap)
			if common.right-common.left < leastGutter {
				crossed = true
				break
			}
			gap = common
			lefts, rights = append(lefts, beside.right), append(rights, beside.left)
		}
	}
	n := len(lefts) - 1
	return crossed && n < columnLines && !(n >= alignedLines && (aligned(lefts) || aligned(rights)))
}

// aligned reports whether places are the same for a reader.
func aligned(places []float64) bool { return slices.Max(places)-slices.Min(places) < tolerance }

// apart is the height between two boxes.
func apart(a, b Box) float64 { return max(a.Top, b.Top) - min(a.Bottom, b.Bottom) }

// widest is the widest free part of a range, and the blank that it is a part of.
func (l *line) widest(in interval) (common, blank interval) {
	from, _ := slices.BinarySearchFunc(l.blanks, in.left, func(b interval, x float64) int {
		return cmp.Compare(b.right, x)
	})
	for _, b := range l.blanks[from:] {
		if b.left >= in.right {
			break
		}
		part := interval{max(b.left, in.left), min(b.right, in.right)}
		if part.right-part.left > common.right-common.left {
			common, blank = part, b
		}
	}
	return common, blank
}
