package ingest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/datasettest"
	"github.com/easel-canvas/easel/host/internal/knowledge/dataset"
	"github.com/easel-canvas/easel/host/internal/knowledge/embed"
	"github.com/easel-canvas/easel/host/internal/knowledge/rerank"
)

// models have an embedder for each name.
type models map[string]*model

func (m models) Embedder(_ context.Context, _, name string) (embed.Embedder, error) {
	if m[name] == nil {
		return nil, fmt.Errorf("model %q: %w", name, embed.ErrUnknown)
	}
	return m[name], nil
}

func (m models) DefaultEmbedding(string) string { return "small" }

func (m models) Reranker(_ context.Context, _, name string) (rerank.Reranker, error) {
	return nil, fmt.Errorf("model %q: %w", name, embed.ErrUnknown)
}

// model gives all texts the same vector, when it may.
type model struct {
	name string
	dims int
	may  <-chan struct{} // closed; nil means at once
}

func (m *model) Model() string { return m.name }

func (m *model) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if m.may != nil {
		select {
		case <-m.may:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	out := make([][]float32, len(texts))
	for i := range texts {
		out[i] = make([]float32, m.dims)
		out[i][0] = 1
	}
	return out, nil
}

// A dataset that gets another model is found by the former one until all documents have vectors of
// the new one, also those that were written by hand, parsed or uploaded meanwhile.
func TestChangeOfModel(t *testing.T) {
	may := make(chan struct{})
	f := datasettest.New(t, datasettest.Options{Cutter: cutter(ready), Models: models{
		"small": {"small", 2, nil}, "large": {"large", 3, may},
	}})
	ctx := t.Context()
	ds := f.Dataset(dataset.Dataset{Name: "shop"})
	require.Equal(t, "small", ds.EmbeddingModel)
	d := f.Parsed(ds.ID, "a.txt", "red apples\ngreen pears")
	_, err := f.AddChunk(ctx, datasettest.Owner, ds.ID, d.ID, dataset.Chunk{Content: "by hand"})
	require.NoError(t, err)
	virtual := f.Add(ds.ID, "virtual.txt", "")
	_, err = f.AddChunk(ctx, datasettest.Owner, ds.ID, virtual.ID, dataset.Chunk{Content: "of no file"})
	require.NoError(t, err)
	// byVector requires that all chunks are found by vectors alone.
	byVector := func(n int) {
		t.Helper()
		r, err := f.Search(ctx, datasettest.Owner, app.SearchQuery{
			Datasets: []string{ds.ID}, Question: "x",
			VectorWeight: 1,
		})
		require.NoError(t, err)
		require.Len(t, r.Hits, n)
		for _, h := range r.Hits {
			require.InDelta(t, 1, h.Vector, 0.001)
		}
	}
	byVector(4)

	large := "large"
	_, err = f.Update(ctx, datasettest.Owner, ds.ID, app.DatasetPatch{EmbeddingModel: &large})
	require.NoError(t, err)
	unknown := "unknown"
	_, err = f.Update(ctx, datasettest.Owner, ds.ID, app.DatasetPatch{EmbeddingModel: &unknown})
	require.ErrorContains(t, err, "Unsupported model")
	byVector(4)
	f.Parsed(ds.ID, "b.txt", "blue plums")
	byVector(5)
	close(may)
	require.Eventually(t, func() bool {
		now, err := f.Store.Datasets.Any(ctx, ds.ID)
		require.NoError(t, err)
		return now.Model == "large"
	}, datasettest.Patience, 5*time.Millisecond)
	byVector(5)
	require.Len(t, f.Contents(ds.ID, d.ID), 3)
	now, err := f.Get(ctx, datasettest.Owner, ds.ID)
	require.NoError(t, err)
	require.Equal(t, 5, now.Chunks)
	require.NoError(t, f.Ingester.Sweep(ctx))
	files, err := f.Files.List(ctx)
	require.NoError(t, err)
	require.Len(t, files, 5, "three originals and the chunks of two documents")
}
