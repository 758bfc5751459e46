package folder

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/replica"
	"github.com/easel-canvas/easel/host/internal/knowledge/retrieval"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// retriever finds passages of the datasets that a tenant sees.
type retriever struct {
	folder *Folder
	tenant string
}

var (
	_ engine.Retriever      = retriever{}
	_ engine.MetadataLister = retriever{}
)

// Retriever searches the folder alone, as a tenant sees it. A host searches it through its service
// of datasets.
func (f *Folder) Retriever(tenant string) engine.Retriever { return retriever{f, tenant} }

// Retrieve implements [engine.Retriever]. Memories are not stored here and find nothing.
func (r retriever) Retrieve(ctx context.Context, q *engine.RetrievalQuery) (engine.Found, error) {
	if len(q.Datasets) == 0 {
		return engine.Found{}, nil
	}
	ids, keys, err := r.resolve(ctx, q.Datasets)
	if err != nil {
		return engine.Found{}, err
	}
	in := &index.Query{
		Datasets: keys, Text: q.Text, Filter: retrieval.Filter(q.Filter), Threshold: q.SimilarityThreshold,
		TopK: q.TopK, Limit: max(1, q.TopN),
	}
	if err := r.embed(ctx, in, 1-q.KeywordWeight); err != nil {
		return engine.Found{}, err
	}
	if in.Text == "" {
		return engine.Found{}, nil
	}
	result, err := r.folder.index.Search(ctx, in)
	if err != nil {
		return engine.Found{}, fmt.Errorf("knowledge folder: %w", err)
	}
	hits := make([]dataset.Hit, len(result.Hits))
	for i := range result.Hits {
		h := &result.Hits[i]
		c, err := replica.Chunk(&h.Chunk)
		if err != nil {
			return engine.Found{}, err
		}
		c.Dataset, c.Document, c.Name = ids[h.Dataset], h.Document, h.DocumentName
		hits[i] = dataset.Hit{Chunk: c, Similarity: h.Similarity, Term: h.Term, Vector: h.Vector, Meta: h.Meta}
	}
	out := retrieval.Found(hits)
	out.Diagnostics = append(result.Diagnostics, retrieval.Unsupported(q)...)
	if q.Rerank != "" {
		out.Diagnostics = append(out.Diagnostics, fmt.Sprintf("rerank_id: there is no reranking model %q here; "+
			"the order is that of the search", q.Rerank))
	}
	return out, nil
}

// embed sets the vector of a query.
func (r retriever) embed(ctx context.Context, q *index.Query, weight float64) error {
	if r.folder.cfg.Embedder == nil || weight <= 0 || strings.TrimSpace(q.Text) == "" {
		return nil
	}
	vectors, err := r.folder.cfg.Embedder.Embed(ctx, []string{q.Text})
	if err != nil {
		return fmt.Errorf("%w: %w", errModel, err)
	}
	if slices.ContainsFunc(vectors[0], func(v float32) bool { return v != 0 }) {
		q.Vector, q.VectorWeight = vectors[0], math.Min(1, weight)
	}
	return nil
}

// resolve finds datasets by their names or ids. ids are by the keys.
func (r retriever) resolve(ctx context.Context, names []string) (ids map[string]string, keys []string, err error) {
	if err := r.folder.Await(ctx); err != nil {
		return nil, nil, err
	}
	ids = map[string]string{}
	seen := r.folder.Datasets(r.tenant)
	for _, name := range names {
		found := false
		for _, d := range seen {
			if d.ID != name && d.Name != name {
				continue
			}
			if key, ok := r.folder.Key(r.tenant, d.ID); ok {
				found = true
				ids[key], keys = d.ID, append(keys, key)
			}
		}
		if !found && name != "." {
			return nil, nil, unknown(name, seen)
		}
	}
	return ids, keys, nil
}

// unknown returns the error of a dataset that the tenant does not see.
func unknown(name string, seen []dataset.Dataset) error {
	if len(seen) == 0 {
		return fmt.Errorf("dataset %q does not exist; there are no datasets", name)
	}
	known := make([]string, len(seen))
	for i := range seen {
		known[i] = seen[i].Name
	}
	return fmt.Errorf("dataset %q does not exist; there are %s", name, strings.Join(slices.Compact(known), ", "))
}

// Metadata implements [engine.MetadataLister].
func (r retriever) Metadata(ctx context.Context, datasets []string) (engine.Value, error) {
	_, keys, err := r.resolve(ctx, datasets)
	if err != nil {
		return engine.Null, err
	}
	all, err := r.folder.index.Metadata(ctx, keys...)
	if err != nil {
		return engine.Null, err
	}
	return retrieval.Metadata(all), nil
}
