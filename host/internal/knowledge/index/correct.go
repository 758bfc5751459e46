package index

import (
	"context"
	"unicode/utf8"
)

// Corrector is implemented by indexes that know words near a misspelt one.
type Corrector interface {
	// Correct returns the text of a query in which words that no chunk of its datasets has are
	// replaced by the nearest ones of chunks that it may find; "" if there is nothing to correct.
	Correct(ctx context.Context, q *Query) (string, error)
}

// Bounds of corrections, in characters of a term.
const (
	shortestCorrected = 4
	longCorrected     = 8 // from here on two changes are allowed
)

// Correctable returns how many changes a term may be away from its correction; 0 corrects none:
// short words are near too many others.
func Correctable(term string) int {
	switch n := utf8.RuneCountInString(term); {
	case n < shortestCorrected:
		return 0
	case n < longCorrected:
		return 1
	}
	return 2
}

// Nearest collects the best correction of a term: the fewest changes, then the same first letter,
// then the most chunks.
type Nearest struct {
	term     []rune
	limit    int
	distance int
	same     bool
	weight   int
	best     string
}

// NewNearest starts a search for the correction of a term.
func NewNearest(term string) *Nearest {
	limit := Correctable(term)
	return &Nearest{term: []rune(term), limit: limit, distance: limit + 1}
}

// Add offers a term of the index; weight grows with the number of its chunks.
func (n *Nearest) Add(term string, weight int) {
	if d := len(n.term) - utf8.RuneCountInString(term); d > n.limit || -d > n.limit {
		return
	}
	other := []rune(term)
	distance := damerau(n.term, other, min(n.limit, n.distance))
	same := len(other) > 0 && other[0] == n.term[0]
	switch {
	case distance > n.limit || distance > n.distance:
		return
	case distance == n.distance && (n.same && !same || n.same == same && weight <= n.weight):
		return
	}
	n.distance, n.same, n.weight, n.best = distance, same, weight, term
}

// Near reports whether a term is near enough to be a correction.
func (n *Nearest) Near(term string) bool {
	if d := len(n.term) - utf8.RuneCountInString(term); d > n.limit || -d > n.limit {
		return false
	}
	return damerau(n.term, []rune(term), n.limit) <= n.limit
}

// Best returns the correction, "" if none is near enough.
func (n *Nearest) Best() string { return n.best }

// damerau returns the number of insertions, deletions, replacements and swaps of neighbours between
// two words, or more than limit.
func damerau(a, b []rune, limit int) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > limit {
			return limit + 1
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
