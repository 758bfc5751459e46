package layout

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// line is the words of one line, from left to right.
type line struct {
	Box
	base   float64
	words  []word
	blanks []interval // between them
}

// Limits of lines.
const (
	baseShift = 0.2  // heights between the bases of the words of a line
	scriptFar = 0.65 // heights between the bases of a word and its index or exponent
	scriptGap = 0.35 // heights between their sides
	smaller   = 0.95 // height of an index or exponent, in those of the word
)

// lines groups words into lines by where their letters stand, and each line into segments. Boxes do
// not decide: those of signs of mathematics are much higher than letters and reach into the lines
// above and below.
func lines(words []word) [][]segment {
	words = slices.Clone(words)
	slices.SortStableFunc(words, func(a, b word) int { return cmp.Compare(a.Base, b.Base) })
	var groups [][]word
	for start := 0; start < len(words); {
		first := &words[start]
		end := start + 1
		for end < len(words) && words[end].Base-first.Base <= baseShift*min(first.height(), words[end].height()) {
			end++
		}
		groups = append(groups, words[start:end:end])
		slices.SortStableFunc(words[start:end], func(a, b word) int { return cmp.Compare(a.Left, b.Left) })
		start = end
	}
	groups = moveScripts(groups)
	list := make([]line, len(groups))
	for i, g := range groups {
		list[i] = newLine(g)
	}
	out := make([][]segment, len(list))
	for i := range list {
		out[i] = segments(&list[i], func(blank interval) bool { return inText(list, i, blank) })
	}
	return out
}

// moveScripts moves indexes and exponents to the lines of the words that they touch. Groups are
// sorted from top to bottom, their words from left to right.
func moveScripts(groups [][]word) [][]word {
	moved := make([][]word, len(groups))
	for i, g := range groups {
		var rest []word
		for k := range g {
			if to := scriptOf(groups, i, &g[k]); to >= 0 {
				moved[to] = append(moved[to], g[k])
			} else {
				rest = append(rest, g[k])
			}
		}
		groups[i] = rest
	}
	out := groups[:0]
	for i, g := range groups {
		if g = append(g, moved[i]...); len(g) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// scriptOf returns the line that a word of line i is an index or exponent in, or -1.
func scriptOf(groups [][]word, i int, w *word) int {
	for _, k := range [...]int{i + 1, i - 1, i + 2, i - 2} {
		if k < 0 || k >= len(groups) || len(groups[k]) < len(groups[i]) {
			continue
		}
		g := groups[k]
		at, _ := slices.BinarySearchFunc(g, w.Left, func(o word, x float64) int { return cmp.Compare(o.Left, x) })
		for n := max(0, at-2); n < min(len(g), at+2); n++ {
			if isScript(w, &g[n]) {
				return k
			}
		}
	}
	return -1
}

// isScript reports whether a word touches another one and stands a little above or below it.
func isScript(w, of *word) bool {
	h := of.height()
	far := max(w.Base-of.Base, of.Base-w.Base)
	if far > scriptFar*h || w.height() > h*1.02 && len(w.Text) >= len(of.Text) {
		return false
	}
	behind, before := w.Left-of.Right, of.Left-w.Right
	return behind > -scriptGap*h && behind < scriptGap*h ||
		before > -scriptGap*h && before < scriptGap*h && w.height() < smaller*h
}

func newLine(words []word) line {
	slices.SortStableFunc(words, func(a, b word) int { return cmp.Compare(a.Left, b.Left) })
	l := line{words: words}
	l.Box, l.base, _ = usualBox(words)
	right := words[0].Right
	for _, w := range words[1:] {
		if w.Left > right {
			l.blanks = append(l.blanks, interval{right, w.Left})
		}
		right = max(right, w.Right)
	}
	return l
}

// usualBox returns the box around words with the height of most letters, where those stand and
// their size.
func usualBox(words []word) (box Box, base, size float64) {
	count := map[int]int{} // letters by tenths of a point of their size
	for i := range words {
		count[int(words[i].Size*10+0.5)] += len(words[i].Text)
	}
	best, most := 0, -1
	box = words[0].Box
	for i := range words {
		box = box.union(words[i].Box)
		n := count[int(words[i].Size*10+0.5)]
		if n > most || n == most && !words[i].Math && words[best].Math {
			best, most = i, n
		}
	}
	box.Top, box.Bottom = words[best].Top, words[best].Bottom
	return box, words[best].Base, words[best].Size
}

// widestBlank is the widest gap between two words of a text, in heights of the text. A blank has a
// quarter, and justified text rarely twice of that, unless its column is narrow.
const widestBlank = 0.9

// segments joins the words of one line. inText reports whether a wide blank is one between words.
func segments(l *line, inText func(blank interval) bool) []segment {
	var out []segment
	start, right := 0, l.words[0].Right
	for i, w := range l.words[1:] {
		height := min(l.height(), max(w.height(), l.words[i].height()))
		if gap := w.Left - right; gap > widestBlank*height && !inText(interval{right, w.Left}) {
			out = append(out, newSegment(l.words[start:i+1]))
			start, right = i+1, w.Right
		}
		right = max(right, w.Right)
	}
	return append(out, newSegment(l.words[start:]))
}

// touching is the largest gap between characters of one word, in heights.
const touching = 0.1

// Shares of letters of a font in a segment.
const (
	mostMono = 0.8
	mostBold = 0.8 // a line with less begins with a title and continues in the text
	someMath = 1.0 / 3
)

// newSegment joins words from left to right, or from right to left where most letters are of such a
// script.
func newSegment(words []word) segment {
	s := segment{from: words[0].order, to: words[len(words)-1].order}
	s.Box, s.base, s.size = usualBox(words)
	if isRightToLeft(words) {
		words = rightToLeft(words)
	}
	var text strings.Builder
	bold, mono, signs, lead := 0, 0, 0, true
	for i := range words {
		w := &words[i]
		s.from, s.to = min(s.from, w.order), max(s.to, w.order)
		if i > 0 {
			before := &words[i-1]
			if !touches(before, w) || !wide(before.Text, w.Text) && !isRaised(before, w) {
				text.WriteByte(' ')
			}
		}
		if lead && !w.Bold {
			s.lead, lead = int32(text.Len()), false
		}
		text.WriteString(w.Text)
		n := len(w.Text)
		if w.Bold {
			bold += n
		}
		if w.Mono {
			mono += n
		}
		if w.Math {
			signs += n
		}
	}
	s.text = text.String()
	s.bold = float64(bold) >= mostBold*float64(len(s.text)-len(words)+1)
	s.mono = float64(mono) >= mostMono*float64(len(s.text)-len(words)+1)
	s.math = float64(signs) > someMath*float64(len(s.text)-len(words)+1)
	return s
}

// touches reports whether there is no blank between two words of a line.
func touches(before, w *word) bool {
	return max(w.Left-before.Right, before.Left-w.Right) <= touching*min(w.height(), before.height())
}

// isRaised reports whether a word is an index or exponent of a sign before it, or stands behind
// one: x2 has no blank, but the mark of a footnote does not become a part of a word.
func isRaised(before, w *word) bool {
	const shift, letters = 0.1, 3
	if math.Abs(before.Base-w.Base) < shift*min(w.height(), before.height()) {
		return false
	}
	n := 0
	for i := len(before.Text); i > 0; n++ {
		r, size := utf8.DecodeLastRuneInString(before.Text[:i])
		if !unicode.IsLetter(r) {
			break
		}
		i -= size
	}
	return n < letters
}

// IsRightToLeft reports whether a character is of a script that is written from right to left,
// marks of punctuation of those scripts included.
func IsRightToLeft(r rune) bool {
	return r >= 0x590 && r < 0x900 && !unicode.IsDigit(r) || r >= 0xFB1D && r <= 0xFDFF || r >= 0xFE70 && r <= 0xFEFC
}

func isRightToLeft(words []word) bool {
	balance := 0
	for i := range words {
		for _, r := range words[i].Text {
			switch {
			case IsRightToLeft(r):
				balance++
			case unicode.IsLetter(r):
				balance--
			}
		}
	}
	return balance > 0
}

// rightToLeft returns words of a line in the order of reading: from right to left, with numbers and
// words of other scripts among them from left to right.
func rightToLeft(words []word) []word {
	out := slices.Clone(words)
	slices.Reverse(out)
	for start := 0; start < len(out); {
		end := start
		for end < len(out) && isLeftToRight(out[end].Text) {
			end++
		}
		slices.Reverse(out[start:end])
		start = end + 1
	}
	return out
}

func isLeftToRight(text string) bool {
	strong := false
	for _, r := range text {
		if IsRightToLeft(r) {
			return false
		}
		strong = strong || unicode.IsLetter(r) || unicode.IsDigit(r)
	}
	return strong
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
	lefts, rights := []float64{blank.right}, []float64{blank.left} // of the words around the gap
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

// apart returns the height between two boxes.
func apart(a, b Box) float64 { return max(a.Top, b.Top) - min(a.Bottom, b.Bottom) }

// widest returns the widest free part of a range, and the blank that it is a part of.
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
