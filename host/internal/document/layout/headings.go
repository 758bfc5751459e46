package layout

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/easel-canvas/easel/engine/block"
)

// finish completes the document: it finds the headings.
func (w *writer) finish(o outline) []block.Block {
	w.flush()
	w.captions()
	if o.rules {
		w.belowOutline(o.deepest)
	} else {
		w.bySize()
	}
	var path block.Outline
	for i := range w.out {
		w.out[i] = path.Place(w.out[i])
	}
	return w.out
}

// captions makes the captions below images their text.
func (w *writer) captions() {
	n := 0
	for i := range w.out {
		b := &w.out[i]
		if n > 0 && b.Kind == block.Paragraph && len(b.Text) <= headingBytes && isCaption(b.Text, figureWords) {
			image := &w.out[n-1]
			if image.Kind == block.Image && image.Text == "" && image.Page() == b.Page() {
				image.Text, image.Positions = block.Line(b.Text), []block.Position{around(image.Positions[0],
					b.Positions[0])}
				continue
			}
		}
		w.out[n], w.looks[n] = *b, w.looks[i]
		n++
	}
	w.out, w.looks = w.out[:n], w.looks[:n]
}

// around returns the box around two boxes of a page.
func around(a, b block.Position) block.Position {
	return block.Position{
		Page: a.Page, Left: min(a.Left, b.Left), Right: max(a.Right, b.Right), Top: min(a.Top, b.Top),
		Bottom: max(a.Bottom, b.Bottom),
	}
}

// belowOutline makes headings, one level below the outline, of lines that look like one and are not
// in it.
func (w *writer) belowOutline(deepest int) {
	under := false
	for i := range w.out {
		b, l := &w.out[i], &w.looks[i]
		if under = under || l.heading; !under || !w.mayBeHeading(i) {
			continue
		}
		if i+1 < len(w.looks) && w.looks[i+1].heading {
			continue // the label of a heading, as in Part II
		}
		if l.size >= larger*w.body || l.bold {
			b.Kind, b.Level = block.Heading, min(deepest+1, block.DeepestHeading)
		}
	}
}

// mayBeHeading reports whether a block is a short paragraph of letters that ends no sentence.
func (w *writer) mayBeHeading(i int) bool {
	b, l := &w.out[i], &w.looks[i]
	return b.Kind == block.Paragraph && b.Mark == "" && !l.mono && l.lines <= boldLines && len(b.Text) <= boldBytes &&
		looksLikeTitle(b.Text) && !isCodeLike(b.Text)
}

// isCodeLike reports whether a text begins with a small letter or has signs of programs, as the
// names and arguments of functions in manuals.
func isCodeLike(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLower(first) || strings.ContainsAny(s, "=;{}[]\\<>_")
}

// bySize makes headings of paragraphs that are larger than the text or bold, or that are numbered.
func (w *writer) bySize() {
	candidates := w.candidates()
	w.dropTitlePage(&candidates)
	if len(candidates) == 0 {
		return
	}
	title := -1
	if first := candidates[0]; w.isTitle(first, candidates) {
		title, candidates = first, candidates[1:]
		w.out[title].Kind, w.out[title].Level = block.Heading, 1
	}
	above := 0
	if title >= 0 {
		above = 1
	}
	depths := w.numbered(candidates)
	sizes := w.headingSizes(candidates)
	byLook := map[look]int{} // depth of numbered headings
	for i, depth := range depths {
		if k := w.looks[i].key(); byLook[k] == 0 || depth < byLook[k] {
			byLook[k] = depth
		}
	}
	for _, i := range candidates {
		level := depths[i]
		if level == 0 {
			level = byLook[w.looks[i].key()]
		}
		if level == 0 {
			if level = levelOf(sizes, w.looks[i].size); level == 0 {
				level = len(sizes) + 1
			}
		}
		w.out[i].Kind, w.out[i].Level = block.Heading, min(above+min(level, maxLevels), block.DeepestHeading)
	}
}

// Limits of headings without an outline.
const (
	maxLevels     = 4    // by size
	smallest      = 0.95 // size of bold headings, in that of the text: the words of drawings are smaller
	leastNumbered = 5    // headings that count up, of which the depths of numbers are levels
)

// key returns the properties that headings of one level share.
func (l *look) key() look { return look{size: math.Round(2 * l.size), bold: l.bold} }

// candidates returns the blocks that may be headings.
func (w *writer) candidates() (out []int) {
	bold := 0
	for i := range w.looks {
		if w.looks[i].bold {
			bold++
		}
	}
	for i := range w.out {
		b, l := &w.out[i], &w.looks[i]
		if b.Kind != block.Paragraph || b.Mark != "" || l.mono {
			continue
		}
		isLarge := l.size >= larger*w.body && len(b.Text) <= headingBytes
		isBold := l.bold && l.size >= smallest*w.body && 2*bold < len(w.out) && l.lines <= boldLines &&
			len(b.Text) <= boldBytes &&
			!endsSentence(b.Text)
		if (isLarge || isBold) && strings.ContainsFunc(b.Text, unicode.IsLetter) && !isCaption(b.Text, figureWords) &&
			!isCaption(b.Text, tableWords) {
			out = append(out, i)
		}
	}
	return out
}

// isTitle reports whether a candidate is the title of the document: the only one of its size, which
// is the largest, on the first page.
func (w *writer) isTitle(i int, candidates []int) bool {
	for _, o := range candidates {
		if o != i && w.looks[o].size > w.looks[i].size*(1-sameSize/2) {
			return false
		}
	}
	return w.out[i].Page() <= 1 && w.looks[i].size >= larger*w.body
}

// dropTitlePage removes the names and dates below a title: candidates one after another on the
// first page, up to the last one before text, whose look occurs nowhere else.
func (w *writer) dropTitlePage(candidates *[]int) {
	list := *candidates
	end := 1
	for end < len(list) && w.out[list[end]].Page() <= 1 && w.isShort(list[end-1]+1, list[end]) {
		end++
	}
	if end < 3 || !w.isTitle(list[0], list) {
		return
	}
	elsewhere := map[look]bool{}
	for _, i := range list[end:] {
		elsewhere[w.looks[i].key()] = true
	}
	kept := list[:1:1]
	for _, i := range list[1 : end-1] {
		if elsewhere[w.looks[i].key()] {
			kept = append(kept, i)
		}
	}
	*candidates = append(kept, list[end-1:]...)
}

// isShort reports whether blocks are a line or two each, and no sentences.
func (w *writer) isShort(from, to int) bool {
	for i := from; i < to; i++ {
		if w.looks[i].lines > boldLines || endsSentence(w.out[i].Text) {
			return false
		}
	}
	return true
}

// numbered returns the depths of candidates with numbers that count up; nil for few.
func (w *writer) numbered(candidates []int) map[int]int {
	out := map[int]int{}
	var last []int
	for _, i := range candidates {
		number := numberOf(w.out[i].Text)
		if n := len(number); n > 0 && n <= block.DeepestHeading && follows(last, number) {
			out[i], last = n, number
		}
	}
	if len(out) < leastNumbered {
		return nil
	}
	return out
}

// numberOf returns the parts of the number that a title begins with: 2.1, A.1, 第三章, 一、 and （一）.
func numberOf(text string) (out []int) {
	if level, n := chineseNumber(text); level > 0 {
		return append(make([]int, level-1), n)
	}
	first, rest, _ := strings.Cut(text, " ")
	first = strings.TrimRight(first, ".)")
	if rest == "" || first == "" {
		return nil
	}
	for part := range strings.SplitSeq(first, ".") {
		n, err := strconv.Atoi(part)
		switch {
		case err == nil && n >= 0 && n < 1000:
			out = append(out, n)
		case len(out) == 0 && len(part) == 1 && part[0] >= 'A' && part[0] <= 'Z' && strings.Contains(first, "."):
			out = append(out, int(part[0]))
		default:
			return nil
		}
	}
	return out
}

// chineseNumber returns the level and the number of a title in Chinese; level 0 for none.
func chineseNumber(text string) (level, n int) {
	const digits = "零一二三四五六七八九十"
	rest, ordinal := strings.CutPrefix(text, "第")
	rest, bracket := strings.CutPrefix(rest, "（")
	end := 0
	for i, r := range rest {
		at := strings.IndexRune(digits, r)
		if at < 0 {
			end = i
			break
		}
		n = 10*n + at/len("零")
	}
	if end == 0 {
		return 0, 0
	}
	mark, _ := utf8.DecodeRuneInString(rest[end:])
	switch {
	case ordinal && mark == '章', !ordinal && !bracket && mark == '、':
		return 1, n
	case ordinal && mark == '节', bracket && mark == '）':
		return 2, n
	}
	return 0, 0
}

// follows reports whether a number may come after another one: the next of its level or above, or
// the first below.
func follows(last, next []int) bool {
	for i := range next {
		switch {
		case i >= len(last):
			return next[i] <= 1 || i == 0
		case next[i] != last[i]:
			return next[i] > last[i] && next[i] <= last[i]+skipped
		}
	}
	return len(last) > len(next)
}

// skipped bounds the numbers that may be missing between two headings.
const skipped = 3

// headingSizes returns the sizes of headings, the largest first. Sizes that are nearly equal are
// one, and a look that occurs once counts only where no other occurs twice.
func (w *writer) headingSizes(candidates []int) []float64 {
	count := map[look]int{}
	most := 0
	for _, i := range candidates {
		k := w.looks[i].key()
		count[k]++
		most = max(most, count[k])
	}
	var all []float64
	for _, i := range candidates {
		if size := w.looks[i].size; size >= larger*w.body && count[w.looks[i].key()] >= min(most, 2) {
			all = append(all, size)
		}
	}
	slices.SortFunc(all, func(a, b float64) int { return cmp.Compare(b, a) })
	var out []float64
	for _, size := range all {
		if len(out) == 0 || size < out[len(out)-1]*(1-sameSize/2) {
			out = append(out, size)
		}
	}
	return out
}

// levelOf returns the level of a size, from 1; 0 for text.
func levelOf(sizes []float64, size float64) int {
	for i, s := range sizes {
		if size >= s*(1-sameSize/2) {
			return i + 1
		}
	}
	return 0
}
