package index

import (
	"cmp"
	"slices"

	"github.com/easel-canvas/easel/host/internal/knowledge/terms"
)

// Origin is the document of hits.
type Origin struct {
	Dataset, Document, Name string
	Meta                    map[string]any
	Language                terms.Settings // of the dataset, for highlights
}

// ReadResult returns the page of ranked that a query requests. The functions read documents and
// chunks by the numbers of the adapter that are in their candidates.
func ReadResult(
	q *Query, ranked []Ranked,
	origins func(documents []int64) (map[int64]Origin, error), chunks func(keys []int64) (map[int64]Chunk, error),
) (*Result, error) {
	count := countHits(ranked)
	documents, err := origins(count.order)
	if err != nil {
		return nil, err
	}
	page := ranked[min(q.Offset, len(ranked)):min(q.Offset+q.Limit, len(ranked))]
	keys := make([]int64, len(page))
	for i, r := range page {
		keys[i] = r.Key
	}
	content, err := chunks(keys)
	if err != nil {
		return nil, err
	}
	out := &Result{Total: len(ranked), Documents: count.documents(documents)}
	marks := highlighters{query: q, byDataset: map[string]*highlighter{}}
	for _, r := range page {
		doc := documents[r.Document]
		hit := Hit{
			Chunk: content[r.Key], Dataset: doc.Dataset, Document: doc.Document, DocumentName: doc.Name, Meta: doc.Meta,
			Similarity: r.Similarity, Term: min(1, r.Term), Vector: r.Vector, Score: r.Score,
		}
		if err := marks.mark(&doc, &hit); err != nil {
			return nil, err
		}
		out.Hits = append(out.Hits, hit)
	}
	return out, nil
}

// hitCount counts the hits of each document.
type hitCount struct {
	order []int64 // documents by their first hit
	hits  map[int64]int
}

func countHits(ranked []Ranked) hitCount {
	c := hitCount{hits: map[int64]int{}}
	for _, r := range ranked {
		if c.hits[r.Document]++; c.hits[r.Document] == 1 {
			c.order = append(c.order, r.Document)
		}
	}
	return c
}

// documents lists those with most hits first.
func (c hitCount) documents(origins map[int64]Origin) []DocumentCount {
	var out []DocumentCount
	for _, id := range c.order {
		out = append(out, DocumentCount{
			Document: origins[id].Document, Name: origins[id].Name, Count: c.hits[id],
		})
	}
	slices.SortStableFunc(out, func(a, b DocumentCount) int { return cmp.Compare(b.Count, a.Count) })
	return out
}

// highlighters of a query, one for each dataset.
type highlighters struct {
	query     *Query
	byDataset map[string]*highlighter
}

// mark fills the fields of a hit that need its highlights, if the query requests them.
func (h highlighters) mark(doc *Origin, hit *Hit) error {
	if !h.query.Highlight {
		return nil
	}
	if h.byDataset[doc.Dataset] == nil {
		a, err := terms.New(doc.Language)
		if err != nil {
			return err
		}
		h.byDataset[doc.Dataset] = newHighlighter(a, h.query.Text)
	}
	words := h.byDataset[doc.Dataset]
	hit.Highlight = words.mark(hit.Chunk.Content)
	hit.NameOnly = hit.Highlight == hit.Chunk.Content && !words.standIn(hit.Chunk.Text) &&
		!slices.ContainsFunc(hit.Chunk.Keywords, words.standIn) &&
		!slices.ContainsFunc(hit.Chunk.Questions, words.standIn)
	return nil
}
