package offline

import (
	"cmp"
	"math"
	"slices"
)

// Match is a passage that shares words with a query.
type Match struct {
	Index int     // of the passage, 0-based
	Score float64 // weight of the query's words it holds, 0 to 1; rare words weigh more
}

// Rank finds the passages that share words with a query, best first; equal ones keep their order.
func Rank(query string, passages []string) []Match {
	want := uniqueWords(query)
	frequency := map[string]int{}
	held := make([]map[string]bool, len(passages))
	for i, p := range passages {
		held[i] = wordSet(p)
		for _, w := range want {
			if held[i][w] {
				frequency[w]++
			}
		}
	}
	total := 0.0
	weight := func(w string) float64 { return math.Log(1 + float64(1+len(passages))/float64(1+frequency[w])) }
	for _, w := range want {
		total += weight(w)
	}
	var out []Match
	for i := range passages {
		score := 0.0
		for _, w := range want {
			if held[i][w] {
				score += weight(w)
			}
		}
		if score > 0 {
			out = append(out, Match{Index: i, Score: score / total})
		}
	}
	slices.SortStableFunc(out, func(a, b Match) int { return cmp.Compare(b.Score, a.Score) })
	return out
}
