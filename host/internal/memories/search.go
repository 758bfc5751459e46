package memories

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/terms"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Bounds of searches.
const (
	MostMemories = 100
	MostHits     = 1000
	mostBytes    = 64 << 20 // of the memories that are searched at once
)

// Query is a search for messages.
type Query struct {
	Memories             []string
	Agent, Session, User string // "" is any
	Visitor              store.Visitor
	Text                 string
	// Threshold is the least similarity of a hit, 0 to 1.
	Threshold float64
	// WordWeight is the share of the similarity by words, 0 to 1; the rest is by meaning.
	WordWeight float64
	Limit      int
}

// Hit is a message that was found.
type Hit struct {
	Message
	Similarity, Term, Vector float64
}

// Search finds the messages of memories that match a text, best first. Without an embedding model,
// or for a message without a vector, only words count.
//
// Errors: [ErrUnknown], [ErrQuery], those of models.
func (s *Store) Search(ctx context.Context, who Principal, q Query) ([]Hit, error) {
	switch {
	case len(q.Memories) > MostMemories:
		return nil, fmt.Errorf("%w: %d memories, at most %d at once", ErrQuery, len(q.Memories), MostMemories)
	case !(q.WordWeight >= 0 && q.WordWeight <= 1):
		return nil, fmt.Errorf("%w: weight of words is %v (0 to 1)", ErrQuery, q.WordWeight)
	}
	if err := s.checkSize(ctx, who, q.Memories); err != nil {
		return nil, err
	}
	f := store.MemoryFilter{Memories: q.Memories, Session: q.Session, User: q.User, Live: true, Enabled: true}
	f.Visitor = q.Visitor
	if q.Agent != "" {
		f.Agents = []string{q.Agent}
	}
	list, _, err := s.Messages(ctx, who, f, store.Page{})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	name, vector, err := embedQuery(ctx, s.Models(who.Tenant, who.Caller), q)
	if err != nil {
		return nil, err
	}
	similar, err := byWords(q.Text, list)
	if err != nil {
		return nil, err
	}
	var hits []Hit
	for i, m := range list {
		h := Hit{Message: m, Term: similar[i], Similarity: similar[i]}
		if name != "" && m.Model == name && len(m.Vector) == len(vector) {
			h.Vector = cosine(vector, m.Vector)
			h.Similarity = q.WordWeight*h.Term + (1-q.WordWeight)*h.Vector
		}
		if h.Similarity > 0 && h.Similarity >= q.Threshold {
			hits = append(hits, h)
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Similarity, a.Similarity) })
	return hits[:min(len(hits), max(0, q.Limit), MostHits)], nil
}

// checkSize refuses searches above the bounds.
func (s *Store) checkSize(ctx context.Context, who Principal, ids []string) error {
	var bytes int64
	for _, id := range ids {
		m, err := s.Get(ctx, who, id)
		if err != nil {
			return err
		}
		bytes += m.Size
	}
	if bytes > mostBytes {
		return fmt.Errorf("%w: memories of %d bytes, at most %d at once", ErrQuery, bytes, mostBytes)
	}
	return nil
}

// embedQuery returns the vector of a query; the name is empty if there is no model, or if only
// words count.
func embedQuery(ctx context.Context, models Models, q Query) (name string, vector []float32, err error) {
	if q.WordWeight == 1 {
		return "", nil, nil
	}
	name, err = models.EmbeddingModel(ctx)
	if err != nil || name == "" {
		return "", nil, err
	}
	vectors, err := models.Embed(ctx, []string{q.Text})
	if err != nil {
		return "", nil, fmt.Errorf("embedding: %w", err)
	}
	if vector, err = index.Unit(vectors[0]); err != nil {
		return "", nil, nil // no direction: a text without any word
	}
	return name, vector, nil
}

// cosine returns the similarity of a vector of length 1 with any other, 0 when they point apart.
func cosine(unit, v []float32) float64 {
	var product, squares float64
	for i, x := range v {
		product += float64(unit[i]) * float64(x)
		squares += float64(x) * float64(x)
	}
	if squares == 0 {
		return 0
	}
	return max(0, product/math.Sqrt(squares))
}

// byWords is, for each message, the share of the query's words that it has; a word counts the more,
// the fewer messages have it.
func byWords(text string, list []Message) ([]float64, error) {
	analyzer, err := terms.New(terms.Settings{})
	if err != nil {
		return nil, err
	}
	words := analyzer.Query(text)
	slices.Sort(words)
	words = slices.Compact(words)
	number := make(map[string]int, len(words))
	for i, w := range words {
		number[w] = i
	}
	has, count := make([][]bool, len(list)), make([]int, len(words))
	var buffer []terms.Term
	for i := range list {
		has[i] = make([]bool, len(words))
		buffer = analyzer.Append(buffer[:0], list[i].Content)
		for _, t := range buffer {
			if n, ok := number[t.Text]; ok && !has[i][n] {
				has[i][n] = true
				count[n]++
			}
		}
	}
	weights, all := make([]float64, len(words)), 0.0
	for n := range words {
		weights[n] = math.Log(1 + float64(1+len(list))/float64(1+count[n]))
		all += weights[n]
	}
	out := make([]float64, len(list))
	for i := range list {
		for n, yes := range has[i] {
			if yes {
				out[i] += weights[n] / all
			}
		}
	}
	return out, nil
}
