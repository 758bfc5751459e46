package index

import (
	"errors"
	"fmt"
	"math"

	"github.com/easel-canvas/easel/host/internal/access"
)

// Query is a search for chunks. Without Vector it is a search by words, without Text one by
// meaning, with both a hybrid one.
type Query struct {
	Datasets  []string
	Documents []string // unless nil, the ids of documents that count
	// Gates are, by dataset, for one reader: only documents that it opens are part of the search,
	// for hits, counts, statistics, filters and corrections. Datasets without one are read whole.
	Gates  map[string]access.Gate
	Filter *Filter // of metadata; nil is none
	Text   string
	Vector []float32
	// VectorWeight is the share of the vector's similarity in a hybrid search, 0 to 1.
	VectorWeight float64
	Fusion       Fusion
	// Threshold is the least similarity of a hit. With RRF it applies to the weighted similarity.
	Threshold float64
	// TopK bounds the candidates by vector; 0 means 1024. There are at least 1024 by words.
	TopK int
	// Offset and Limit choose a page of the hits; a Limit of 0 means 30.
	Offset, Limit int
	Highlight     bool // fill Hit.Highlight
	// Hidden finds chunks that are not enabled, too.
	Hidden bool
}

// Fusion is the rule that combines similarities by words and by vectors into one order.
type Fusion string

// Fusions.
const (
	// Weighted orders by (1-w)*term + w*vector. It is the default.
	Weighted Fusion = "weighted"
	// RRF orders by the sum of 1/(60+rank) in both orders.
	RRF Fusion = "rrf"
)

// Defaults and bounds of a query.
const (
	DefaultTopK    = 1024
	DefaultLimit   = 30
	WordCandidates = 1024
	MostCandidates = 100_000
)

// Hit is a chunk that was found.
type Hit struct {
	Chunk        Chunk // without its vector
	Dataset      string
	Document     string
	DocumentName string
	Meta         map[string]any
	Similarity   float64 // the weighted sum, or the only one of the two
	// Term is the similarity by words: BM25 relative to that of a chunk of average length that
	// has every word of the query once, cut at 1.
	Term      float64
	Vector    float64 // cosine
	Score     float64 // what hits are ordered by
	Highlight string  // the content with <em> around found words; only when asked for
	// NameOnly reports that no word of the query stands in the chunk, but in the name of its
	// document or nowhere. Only queries with Highlight fill it.
	NameOnly bool
}

// DocumentCount is the number of hits of a document.
type DocumentCount struct {
	Document, Name string
	Count          int
}

// Result is the result of a search.
type Result struct {
	Total     int // hits on all pages
	Hits      []Hit
	Documents []DocumentCount // of all pages, those with most hits first
	// Diagnostics name the parts of the query that a source does not support.
	Diagnostics []string
}

// Normal checks a query and fills in its defaults.
func (q *Query) Normal() (*Query, error) {
	n := *q
	if n.Fusion == "" {
		n.Fusion = Weighted
	}
	if n.TopK == 0 {
		n.TopK = DefaultTopK
	}
	if n.Limit == 0 {
		n.Limit = DefaultLimit
	}
	switch {
	case n.Text == "" && n.Vector == nil:
		return nil, errors.New("query has neither text nor vector")
	case n.VectorWeight < 0 || n.VectorWeight > 1 || math.IsNaN(n.VectorWeight):
		return nil, fmt.Errorf("vector weight %v is not between 0 and 1", n.VectorWeight)
	case n.Fusion != Weighted && n.Fusion != RRF:
		return nil, fmt.Errorf("unknown fusion %q (one of %s, %s)", n.Fusion, Weighted, RRF)
	case n.TopK < 0 || n.TopK > MostCandidates:
		return nil, fmt.Errorf("top_k %d is not between 1 and %d", n.TopK, MostCandidates)
	case n.Offset < 0 || n.Limit < 0 || n.Offset+n.Limit > MostCandidates:
		return nil, fmt.Errorf("page from %d to %d is not between 0 and %d", n.Offset, n.Offset+n.Limit, MostCandidates)
	}
	if n.Vector != nil {
		v, err := Unit(n.Vector)
		if err != nil {
			return nil, err
		}
		n.Vector = v
	}
	return &n, nil
}

// Ungated refuses a query with gates, for indexes that do not support them.
func (q *Query) Ungated() error {
	if len(q.Gates) > 0 {
		return ErrGated
	}
	return nil
}

// Words returns the number of candidates by words that a search considers.
func (q *Query) Words() int { return max(WordCandidates, q.TopK, q.Offset+q.Limit) }

// Unit returns a vector of length 1 in the direction of v.
func Unit(v []float32) ([]float32, error) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return nil, fmt.Errorf("vector of %d dimensions has length %v; it has no direction", len(v), math.Sqrt(sum))
	}
	scale := float32(1 / math.Sqrt(sum))
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = x * scale
	}
	return out, nil
}
