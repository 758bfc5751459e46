// Package nearest finds the known word closest to a misspelled one, for messages that end in "did
// you mean ...?".
package nearest

import "unicode"

// maxLength bounds the words that are compared, in runes: the cost of a comparison is the product
// of the lengths.
const maxLength = 100

// Match returns the candidate with the fewest typing errors relative to word, the first of equals.
// It reports false if none is close enough: at most one error per three letters. An error is an
// omitted, added or replaced letter, or two adjacent letters swapped; case is ignored.
func Match(word string, candidates []string) (string, bool) {
	w := fold(word)
	best, found := "", false
	limit := min(max(1, len(w)/3), len(w)-1)
	if len(w) > maxLength {
		return best, found
	}
	for _, candidate := range candidates {
		c := fold(candidate)
		if len(c) > len(w)+limit || len(w) > len(c)+limit {
			continue
		}
		if d := distance(w, c); d <= limit {
			best, found, limit = candidate, true, d-1
		}
	}
	return best, found
}

func fold(s string) []rune {
	runes := []rune(s)
	for i, r := range runes {
		runes[i] = unicode.ToLower(r)
	}
	return runes
}

// distance counts the typing errors between two words (optimal string alignment distance).
func distance(a, b []rune) int {
	above, previous, current := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := range a {
		current[0] = i + 1
		for j := range b {
			replaced := previous[j]
			if a[i] != b[j] {
				replaced++
			}
			current[j+1] = min(replaced, previous[j+1]+1, current[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				current[j+1] = min(current[j+1], above[j-1]+1)
			}
		}
		above, previous, current = previous, current, above
	}
	return previous[len(b)]
}
