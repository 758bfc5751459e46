// Package fidelity measures how well the blocks of a document agree with a known truth: the order
// of its words ([Pairs], [Indel]), its tables ([Tables]) and its headings ([Headings]). All results
// are between 0 and 1, where 1 is full agreement. The package has no state.
package fidelity

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/easel-canvas/easel/engine/block"
)

// Words returns the words of a text: letters and digits in lower case. A hyphen at the end of a
// line is removed and the word joined, and ligatures are their letters, since writers differ in
// that.
func Words(text string) (out []string) {
	text = strings.NewReplacer("-\n", "", "\u2010\n", "", "\u00ad\n", "", "\u00ad", "").Replace(text)
	for field := range strings.FieldsSeq(norm.NFKC.String(text)) {
		word := strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return unicode.ToLower(r)
			}
			return -1
		}, field)
		if word != "" {
			out = append(out, word)
		}
	}
	return out
}

// Pairs returns the share of neighbouring words in got that are neighbours in one of the truths.
func Pairs(got []string, truths ...[]string) float64 {
	best := 0.0
	for _, truth := range truths {
		known := map[[2]string]bool{}
		for i := range max(len(truth)-1, 0) {
			known[[2]string{truth[i], truth[i+1]}] = true
		}
		same, all := 0, max(len(got)-1, 0)
		for i := range all {
			if known[[2]string{got[i], got[i+1]}] {
				same++
			}
		}
		if all > 0 {
			best = max(best, float64(same)/float64(all))
		}
	}
	return best
}

// Indel returns 1 minus the number of words to insert and delete, as a part of all words: twice the
// longest common subsequence by the sum of both lengths. Two empty lists are equal.
func Indel(got, want []string) float64 {
	if len(got)+len(want) == 0 {
		return 1
	}
	before, row := make([]int, len(want)+1), make([]int, len(want)+1)
	for _, g := range got {
		for i, w := range want {
			if g == w {
				row[i+1] = before[i] + 1
			} else {
				row[i+1] = max(row[i], before[i+1])
			}
		}
		before, row = row, before
	}
	return 2 * float64(before[len(want)]) / float64(len(got)+len(want))
}

// Tables returns the similarity of two tables by the distance of their trees (TEDS): a table of
// rows of cells, where a cell that differs counts by the edit distance of its text.
func Tables(got, want [][]string) float64 {
	tree := func(rows [][]string) *node {
		table := &node{kind: "table"}
		for _, row := range rows {
			r := &node{kind: "row"}
			for _, cell := range row {
				r.children = append(r.children, &node{kind: "cell", text: block.Line(cell)})
			}
			table.children = append(table.children, r)
		}
		return table
	}
	return similarity(tree(got), tree(want))
}

// Heading is a heading of a document.
type Heading struct {
	Level int // from 1
	Title string
}

// Headings returns the similarity of two lists of headings by the distance of the trees that their
// levels make (MHS).
func Headings(got, want []Heading) float64 {
	tree := func(list []Heading) *node {
		root := &node{kind: "root"}
		open, levels := []*node{root}, []int{0}
		for _, h := range list {
			for len(levels) > 1 && levels[len(levels)-1] >= h.Level {
				open, levels = open[:len(open)-1], levels[:len(levels)-1]
			}
			n := &node{kind: "heading", text: strings.ToLower(block.Line(h.Title))}
			above := open[len(open)-1]
			above.children = append(above.children, n)
			open, levels = append(open, n), append(levels, h.Level)
		}
		return root
	}
	return similarity(tree(got), tree(want))
}

// HeadingsOf returns the headings of blocks.
func HeadingsOf(list []block.Block) (out []Heading) {
	for i := range list {
		if b := &list[i]; b.Kind == block.Heading {
			out = append(out, Heading{Level: b.Level, Title: block.Line(b.Text)})
		}
	}
	return out
}
