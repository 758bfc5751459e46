package eval

import (
	"cmp"
	"math"
	"slices"
)

// Found is a document that was found for a query.
type Found struct {
	Document string
	Score    float64
}

// Measures say how good an order of documents is. All lie between 0 and 1; more is better.
type Measures struct {
	// NDCG is the discounted gain of the first 10, where the gain is the grade, relative to that of
	// the best order.
	NDCG float64 `json:"ndcg@10"`
	// MRR is 1 divided by the rank of the first relevant document.
	MRR float64 `json:"mrr"`
	// Recall is the share of relevant documents among the first k, by k.
	Recall map[int]float64 `json:"recall"`
}

// ndcgDepth is the number of documents that count for the discounted gain.
const ndcgDepth = 10

// measure compares the results of a query, best first, with its grades. ok is false when no
// document is relevant.
func measure(found []Found, grades map[string]int, depths []int) (m Measures, ok bool) {
	var ideal []int
	for _, g := range grades {
		if g > 0 {
			ideal = append(ideal, g)
		}
	}
	if len(ideal) == 0 {
		return m, false
	}
	slices.SortFunc(ideal, func(a, b int) int { return cmp.Compare(b, a) })
	m.Recall = map[int]float64{}
	var gain, best float64
	for i, g := range ideal[:min(len(ideal), ndcgDepth)] {
		best += float64(g) * discount(i)
	}
	hits := 0
	for i, f := range found {
		g := grades[f.Document]
		if g <= 0 {
			continue
		}
		if hits++; hits == 1 {
			m.MRR = 1 / float64(i+1)
		}
		if i < ndcgDepth {
			gain += float64(g) * discount(i)
		}
		for _, k := range depths {
			if i < k {
				m.Recall[k] += 1 / float64(len(ideal))
			}
		}
	}
	for _, k := range depths {
		m.Recall[k] += 0 // so that a depth without a hit is there, too
	}
	m.NDCG = gain / best
	return m, true
}

func discount(rank int) float64 { return 1 / math.Log2(float64(rank)+2) }

// mean returns the mean of measures.
func mean(all []Measures, depths []int) Measures {
	out := Measures{Recall: map[int]float64{}}
	n := float64(max(1, len(all)))
	for _, m := range all {
		out.NDCG += m.NDCG / n
		out.MRR += m.MRR / n
		for _, k := range depths {
			out.Recall[k] += m.Recall[k] / n
		}
	}
	return out
}
