package index

import (
	"math"

	"github.com/easel-canvas/easel/host/internal/knowledge/terms"
)

// Counter counts the terms of chunks. It is for one goroutine at a time.
type Counter struct {
	analyzer *terms.Analyzer
	found    []terms.Number // buffer
	counts   []int32        // of the chunk, by the indexes of terms
	list     []TermCount    // of the last chunk
}

// TermCount is the weighted frequency of a term in a chunk.
type TermCount struct {
	// Index is the number of the term in the counter until its next [Counter.Trim].
	Index int
	Count int
}

// NewCounter returns a counter with the language of a dataset.
func NewCounter(s Settings) (*Counter, error) {
	a, err := terms.New(s.Settings)
	if err != nil {
		return nil, err
	}
	return &Counter{analyzer: a}, nil
}

// keptTerms is the number of terms of a chunk up to which the buffers for them are used again.
const keptTerms = 1 << 16

// Trim bounds the memory of a counter: call it now and then. It forgets the numbers of terms when
// there are many, and reports whether it did.
func (c *Counter) Trim() bool {
	if cap(c.found) > keptTerms {
		c.found, c.list = nil, nil
	}
	if !c.analyzer.Trim() {
		return false
	}
	c.counts = nil
	return true
}

// Term returns the term with an index.
func (c *Counter) Term(index int) string { return c.analyzer.Text(index) }

// Count returns the number of words of a chunk and, until the next call, its terms in the order in
// which they first occur. name is the name of its document.
func (c *Counter) Count(name string, chunk *Chunk) (length int, list []TermCount) {
	c.list = c.list[:0]
	length = c.take(chunk.Searched(), 1)
	c.take(name, NameWeight)
	for _, k := range chunk.Keywords {
		c.take(k, KeywordWeight)
	}
	for _, q := range chunk.Questions {
		c.take(q, QuestionWeight)
	}
	for i := range c.list {
		t := &c.list[i]
		t.Count, c.counts[t.Index] = int(c.counts[t.Index]), 0
	}
	return length, c.list
}

// take adds the terms of a text to the counts, and returns the number of its words.
func (c *Counter) take(text string, weight int32) (words int) {
	c.found = c.analyzer.AppendNumbers(c.found[:0], text)
	if more := c.analyzer.Terms() - len(c.counts); more > 0 {
		c.counts = append(c.counts, make([]int32, more)...)
	}
	for _, n := range c.found {
		i := n.Index()
		if c.counts[i] == 0 {
			c.list = append(c.list, TermCount{Index: i})
		}
		c.counts[i] += weight
		if n.IsWord() {
			words++
		}
	}
	return words
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

// FullWeight returns the weight of a chunk of average length that has each word of a question once,
// by which similarities are divided. Question words, such as how, count only when there are no
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

// InverseFrequency returns the weight of a term that occurs in holding of all chunks.
func InverseFrequency(all, holding int) float64 {
	return math.Log(1 + (float64(all-holding)+0.5)/(float64(holding)+0.5))
}

// LengthNorm returns the part of BM25's divisor that depends on the length of a chunk.
func (s Settings) LengthNorm(length int, average float64) float64 {
	k1, b := max(0, s.K1), max(0, s.B)
	return k1 * (1 - b + b*float64(length)/max(1, average))
}
