package layout

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/easel-canvas/easel/engine/block"
)

// finish completes the document: it finds the headings.
func (w *writer) finish(o outline) []block.Block {
	w.flush()
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

// belowOutline makes headings one level below the outline of what looks like one and is not in it.
func (w *writer) belowOutline(deepest int) {
	sizes := w.headingSizes()
	under := false
	for i := range w.out {
		b, l := &w.out[i], &w.looks[i]
		if under = under || l.heading; !under || !w.mayBeHeading(i) {
			continue
		}
		if levelOf(sizes, l.size) > 0 || l.bold {
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

// isCodeLike reports whether a text begins with a small letter or has signs of programs, as the names
// and arguments of functions in manuals.
func isCodeLike(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLower(first) || strings.ContainsAny(s, "=;{}[]\\<>_")
}

// bySize makes headings of paragraphs that are larger than the text or bold.
func (w *writer) bySize() {
	sizes := w.headingSizes()
	bold := 0
	for _, l := range w.looks {
		if l.bold {
			bold++
		}
	}
	for i := range w.out {
		b, l := &w.out[i], w.looks[i]
		if b.Kind != block.Paragraph || b.Mark != "" || l.mono {
			continue
		}
		level := levelOf(sizes, l.size)
		isBold := l.bold && 2*bold < len(w.out) && l.lines <= boldLines && len(b.Text) <= boldBytes &&
			!endsSentence(b.Text)
		switch {
		case level > 0 && len(b.Text) <= headingBytes:
			b.Kind, b.Level = block.Heading, min(level, block.DeepestHeading)
		case isBold:
			b.Kind, b.Level = block.Heading, min(len(sizes)+1, block.DeepestHeading)
		}
	}
}

// headingSizes returns the heights of headings, the largest first. Heights that are nearly equal
// are one.
func (w *writer) headingSizes() []float64 {
	var all []float64
	for i, b := range w.out {
		if size := w.looks[i].size; b.Kind == block.Paragraph && size >= larger*w.body && len(b.Text) <= headingBytes {
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

// levelOf returns the level of a height, from 1; 0 for text.
func levelOf(sizes []float64, size float64) int {
	for i, s := range sizes {
		if size >= s*(1-sameSize/2) {
			return i + 1
		}
	}
	return 0
}
