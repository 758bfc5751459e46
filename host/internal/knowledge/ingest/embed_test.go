package ingest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/knowledge/ingest"
	"github.com/easel-canvas/easel/host/internal/knowledge/models/embed"
	"github.com/easel-canvas/easel/host/internal/knowledge/models/rerank"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/testing/datasettest"
)

// models have an embedder for each name.
type models map[string]*model

func (m models) Embedder(_ context.Context, _, name string) (embed.Embedder, error) {
	if m[name] == nil {
		return nil, fmt.Errorf("model %q: %w", name, embed.ErrUnknown)
	}
	return m[name], nil
}

func (m models) DefaultEmbedding(_, _ string) string { return "small" }

func (m models) Reranker(_ context.Context, _, name string) (rerank.Reranker, error) {
	return nil, fmt.Errorf("model %q: %w", name, embed.ErrUnknown)
}

// model returns the same vector for all texts, when it may.
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

// A dataset whose model changes is searched by the former one until all documents have vectors of
// the new one, including those that are edited, parsed or uploaded during the change.
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

	alias := "BAAI/bge-small-en-v1.5@Local@Builtin"
	same, err := f.Update(ctx, datasettest.Owner, ds.ID, app.DatasetPatch{EmbeddingModel: &alias})
	require.NoError(t, err)
	require.Equal(t, "small", same.EmbeddingModel, "a name of RAGFlow's own models is the default")
	large := "large"
	_, err = f.Update(ctx, datasettest.Owner, ds.ID, app.DatasetPatch{EmbeddingModel: &large})
	require.NoError(t, err)
	unknown := "unknown"
	_, err = f.Update(ctx, datasettest.Owner, ds.ID, app.DatasetPatch{EmbeddingModel: &unknown})
	require.ErrorContains(t, err, "Unsupported model")
	byVector(4)
	changing, err := f.Get(ctx, datasettest.Owner, ds.ID)
	require.NoError(t, err)
	require.Equal(t, &dataset.EmbeddingProgress{Model: "small", Chunks: 4}, changing.Embedding)
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
	require.Nil(t, now.Embedding)
	require.NoError(t, f.Ingester.Sweep(ctx))
	files, err := f.Files.List(ctx)
	require.NoError(t, err)
	require.Len(t, files, 5, "three originals and the chunks of two documents")
}

// A weight of vectors that a dataset lacks is a diagnostic; datasets with and without a model are
// searched together.
func TestWeightWithoutVectors(t *testing.T) {
	f := datasettest.New(t, datasettest.Options{Cutter: cutter(ready), Models: models{"small": {"small", 2, nil}}})
	words := f.Dataset(dataset.Dataset{Name: "words", EmbeddingModel: app.NoEmbedding})
	both := f.Dataset(dataset.Dataset{Name: "both"})
	f.Parsed(words.ID, "a.txt", "red apples")
	f.Parsed(both.ID, "b.txt", "red pears")
	search := func(wants bool, ids ...string) (hits int, diagnostics []string) {
		t.Helper()
		r, err := f.Search(t.Context(), datasettest.Owner, app.SearchQuery{
			Datasets: ids, Question: "red", VectorWeight: 0.3, WantsVectors: wants,
		})
		require.NoError(t, err)
		return len(r.Hits), r.Diagnostics
	}
	_, told := search(true, both.ID)
	require.Empty(t, told)
	_, told = search(false, words.ID)
	require.Empty(t, told)
	hits, told := search(true, words.ID)
	require.Equal(t, 1, hits)
	require.Len(t, told, 1)
	require.Contains(t, told[0], "no_vectors: ")
	for _, ids := range [][]string{{words.ID, both.ID}, {both.ID, words.ID}} {
		hits, told = search(false, ids...)
		require.Equal(t, 2, hits)
		require.Equal(t, []string{`no_vectors: dataset "words" has none; it was searched by words only`}, told)
	}
}

func TestChunksWithoutVectorDoNotTakeThatOfTheName(t *testing.T) {
	mixed, err := ingest.Mix([]float32{1, 0}, []float32{0, 0})
	require.NoError(t, err)
	require.Nil(t, mixed)
}

// A search that finds nothing corrects words that no chunk has, then ignores the threshold; texts
// in quotes must stand in the hits.
func TestSearchThatForgives(t *testing.T) {
	f := datasettest.New(t, datasettest.Options{Cutter: cutter(ready), Models: models{"small": {"small", 2, nil}}})
	ds := f.Dataset(dataset.Dataset{Name: "pumps", EmbeddingModel: app.NoEmbedding})
	a := f.Parsed(ds.ID, "a.txt", "Cleaning of the filters\nThe pump must  be off\nOverpressure of the pump")
	search := func(question string, threshold float64, forgive app.Forgiveness) *app.SearchResult {
		t.Helper()
		r, err := f.Search(t.Context(), datasettest.Owner, app.SearchQuery{
			Datasets: []string{ds.ID}, Question: question, Threshold: threshold, Forgive: forgive,
		})
		require.NoError(t, err)
		require.Len(t, r.Hits, r.Total)
		return r
	}
	require.Zero(t, search("fliter", 0.2, app.Strict).Total)
	r := search("fliter", 0.2, app.Correcting)
	require.Equal(t, 1, r.Total)
	require.Equal(t, "filters", r.Suggestion)
	require.Equal(t, []string{app.UsedCorrection}, r.Used)

	r = search("pump ovrepressure", 0.05, app.Forgiving)
	require.Equal(t, "pump overpressure", r.Suggestion, "offered, as the other word is found")
	require.Equal(t, 2, r.Total)
	require.Empty(t, r.Used)
	r = search("pump", 0.2, app.Forgiving)
	require.Empty(t, r.Suggestion)

	require.Zero(t, search("pump of unheard aircraft manuals anywhere", 0.5, app.Correcting).Total)
	r = search("pump of unheard aircraft manuals anywhere", 0.5, app.Forgiving)
	require.Equal(t, 2, r.Total)
	require.Equal(t, []string{app.UsedAnyWord}, r.Used)

	r = search(`"Pump must be"`, 0.2, app.Strict)
	require.Equal(t, 1, r.Total)
	require.Equal(t, 1, r.Documents[0].Count)
	require.Equal(t, []string{app.UsedPhrase}, r.Used)
	require.Zero(t, search("“must pump”", 0.2, app.Strict).Total)
	require.Equal(t, 2, search(`2" pump`, 0.1, app.Strict).Total, "a mark without its partner")
	require.Zero(t, search("xqzt wvkp", 0.2, app.Forgiving).Total)

	f.Parsed(ds.ID, "b.txt", "Clandestine rooms")
	require.Equal(t, "clandestine", search("clandestime", 0.2, app.Correcting).Suggestion)
	one, err := f.Search(t.Context(), datasettest.Owner, app.SearchQuery{
		Datasets: []string{ds.ID}, Documents: []string{a.ID}, Question: "clandestime", Threshold: 0.2,
		Forgive: app.Correcting,
	})
	require.NoError(t, err)
	require.Empty(t, one.Suggestion, "a word of a document outside of the search")

	require.Zero(t, search("compressor", 0.2, app.Strict).Total)
	_, err = f.Update(t.Context(), datasettest.Owner, ds.ID, app.DatasetPatch{
		Synonyms: &[][]string{{"compressors", "pump"}},
	})
	require.NoError(t, err)
	r = search("compressor", 0.2, app.Strict)
	require.Equal(t, 2, r.Total)
	require.Equal(t, []string{app.UsedSynonyms}, r.Used)
}
