package index

import (
	"cmp"
	"math"
	"slices"

	"github.com/easel-canvas/easel/host/internal/knowledge/terms"
)

// Counter counts the terms of chunks. It is for one goroutine at a time.
type Counter struct {
	analyzer *terms.Analyzer
	found    []terms.Term   // buffer
	counts   map[string]int // of the last chunk
}

// NewCounter returns a counter with the language of a dataset.
func NewCounter(s Settings) (*Counter, error) {
	a, err := terms.New(s.Settings)
	if err != nil {
		return nil, err
	}
	return &Counter{analyzer: a, counts: map[string]int{}}, nil
}

// keptCounts is the number of terms up to which the counts of a chunk are used for the next one.
const keptCounts = 4096

// Count returns the number of words of a chunk and, until the next call, how often each of its
// terms counts. name is that of its document.
func (c *Counter) Count(name string, chunk *Chunk) (length int, counts map[string]int) {
	if len(c.counts) > keptCounts {
		c.counts = map[string]int{} // an emptied map keeps its size
	}
	counts = c.counts
	clear(counts)
	take := func(text string, weight int) (words int) {
		c.found = c.analyzer.Append(c.found[:0], text)
		for _, t := range c.found {
			counts[t.Text] += weight
			if !t.Stop && !t.Single {
				words++
			}
		}
		return words
	}
	length = take(chunk.Searched(), 1)
	take(name, NameWeight)
	for _, k := range chunk.Keywords {
		take(k, KeywordWeight)
	}
	for _, q := range chunk.Questions {
		take(q, QuestionWeight)
	}
	return length, counts
}

// QueryTerms returns the terms of a question in a dataset and how often each occurs.
func QueryTerms(s Settings, text string) (map[string]int, error) {
	a, err := terms.New(s.Settings)
	if err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for _, t := range a.Query(text) {
		counts[t]++
	}
	return counts, nil
}

// FullWeight is the weight of a chunk of average length that has each word of a question once, by
// which similarities are divided. Words of asking, such as how, count only when there are no
// others: chunks that answer a question seldom have them, and unknown words weigh most.
func FullWeight(s Settings, counts map[string]int, idf map[string]float64) float64 {
	asking := s.Asking()
	var full, aside float64
	for term, n := range counts {
		if asking[term] {
			aside += float64(n) * idf[term]
		} else {
			full += float64(n) * idf[term]
		}
	}
	if full == 0 {
		return aside
	}
	return full
}

// InverseFrequency is the weight of a term that holding of all chunks have.
func InverseFrequency(all, holding int) float64 {
	return math.Log(1 + (float64(all-holding)+0.5)/(float64(holding)+0.5))
}

// LengthNorm is the part of BM25's divisor that depends on the length of a chunk.
func (s Settings) LengthNorm(length int, average float64) float64 {
	k1, b := max(0, s.K1), max(0, s.B)
	return k1 * (1 - b + b*float64(length)/max(1, average))
}

// CountDocuments counts the hits of each document, those with most hits first. document names the
// document of a hit, without its count.
func CountDocuments(ranked []Ranked, document func(id int64) DocumentCount) []DocumentCount {
	at := map[int64]int{}
	var out []DocumentCount
	for _, r := range ranked {
		i, known := at[r.Document]
		if !known {
			i = len(out)
			at[r.Document] = i
			out = append(out, document(r.Document))
		}
		out[i].Count++
	}
	slices.SortStableFunc(out, func(a, b DocumentCount) int { return cmp.Compare(b.Count, a.Count) })
	return out
}
