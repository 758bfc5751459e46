package enginetest

import (
	"context"
	"slices"

	"github.com/easel-canvas/easel/engine"
)

// Retriever is a scripted engine.Retriever in which every dataset exists.
type Retriever struct {
	// Found holds the results: query text, or "*" for any other -> {chunks, doc_aggs}. Null finds
	// nothing.
	Found engine.Value
}

// Retrieve looks the query up.
func (r *Retriever) Retrieve(ctx context.Context, q *engine.RetrievalQuery) (engine.Found, error) {
	if err := ctx.Err(); err != nil {
		return engine.Found{}, err
	}
	hit, ok := r.Found.Lookup(q.Text)
	if !ok {
		hit = r.Found.Get("*")
	}
	return engine.Found{
		Chunks:  slices.Collect(elements(hit.Get("chunks"))),
		DocAggs: slices.Collect(elements(hit.Get("doc_aggs"))),
	}, nil
}
