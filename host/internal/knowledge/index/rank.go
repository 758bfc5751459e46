package index

import (
	"cmp"
	"slices"
)

// Candidate is a chunk that may become a hit, with both its similarities.
type Candidate struct {
	Key          int64   // of the adapter
	Document     int64   // of the adapter
	Term, Vector float64 // 0 where it was not found; Term may be above 1
}

// Ranked is a candidate that became a hit.
type Ranked struct {
	Candidate
	Similarity, Score float64
}

// rrfOffset keeps the first ranks from outweighing everything else; 60 is the value of the paper.
const rrfOffset = 60

// Rank orders candidates by their similarity to a query, and leaves out those below its threshold.
// Equal ones keep the order of their keys, so that pages do not overlap.
func Rank(q *Query, candidates []Candidate) []Ranked {
	out := make([]Ranked, 0, len(candidates))
	for _, c := range candidates {
		if s := q.similarity(c.Term, c.Vector); min(1, s) >= q.Threshold {
			out = append(out, Ranked{c, min(1, s), s})
		}
	}
	if q.Fusion == RRF && q.Vector != nil && q.Text != "" {
		reciprocal(out)
	}
	slices.SortFunc(out, func(a, b Ranked) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Key, b.Key))
	})
	return out
}

// similarity combines both similarities for a query.
func (q *Query) similarity(term, vector float64) float64 {
	switch {
	case q.Vector == nil:
		return term
	case q.Text == "":
		return vector
	}
	return (1-q.VectorWeight)*term + q.VectorWeight*vector
}

// reciprocal scores hits by their ranks in the two orders.
func reciprocal(hits []Ranked) {
	for i := range hits {
		hits[i].Score = 0
	}
	for _, by := range []func(*Ranked) float64{
		func(r *Ranked) float64 { return r.Term },
		func(r *Ranked) float64 { return r.Vector },
	} {
		slices.SortFunc(hits, func(a, b Ranked) int {
			return cmp.Or(cmp.Compare(by(&b), by(&a)), cmp.Compare(a.Key, b.Key))
		})
		for i := range hits {
			if by(&hits[i]) > 0 {
				hits[i].Score += 1 / float64(rrfOffset+i+1)
			}
		}
	}
}
