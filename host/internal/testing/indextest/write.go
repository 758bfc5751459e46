package indextest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
)

var writeTests = []test{
	{"ReplaceIsWhatIsFound", func(f *fixture) {
		f.replace(doc("a", "red apples", "green pears"), doc("b", "red cherries"))
		require.Equal(f, "a/0 b/0", f.words("red"))
		f.replace(doc("a", "blue plums"))
		require.Equal(f, "b/0", f.words("red"))
		require.Equal(f, "a/0", f.words("plum"))
		require.Empty(f, f.words("pears"))
		require.Equal(f, index.Stats{Documents: 2, Chunks: 2}, f.stats())
	}},
	{"ReplaceFailsAsAWhole", func(f *fixture) {
		f.replace(doc("a", "red apples"))
		broken := errors.New("the disk is on fire")
		failing := index.Document{ID: "b", Chunks: func(yield func(index.Chunk, error) bool) {
			_ = yield(index.Chunk{ID: "0", Content: "red cherries"}, nil) && yield(index.Chunk{}, broken)
		}}
		require.ErrorIs(f, f.Replace(f.Context(), ds, doc("a", "blue plums"), failing), broken)
		require.Equal(f, "a/0", f.words("red"))
		require.Empty(f, f.words("plums"))
		require.Equal(f, index.Stats{Documents: 1, Chunks: 1}, f.stats())
	}},
	{"DocumentGivenTwice", func(f *fixture) {
		require.ErrorContains(f, f.Replace(f.Context(), ds, doc("a", "x"), doc("a", "y")),
			`document "a": it is given twice`)
	}},
	{"EqualChunkIDsAreStoredOnce", func(f *fixture) {
		f.replace(index.Document{ID: "a", Chunks: Chunks(
			index.Chunk{ID: "same", Content: "red"}, index.Chunk{ID: "same", Content: "red"})})
		require.Equal(f, 1, f.stats().Chunks)
		require.Equal(f, "a/same", f.words("red"))
	}},
	{"Delete", func(f *fixture) {
		f.replace(doc("a", "red"), doc("b", "red"), doc("c", "red"))
		require.NoError(f, f.Delete(f.Context(), ds, "a", "c", "unknown"))
		require.Equal(f, "b/0", f.words("red"))
		require.Equal(f, index.Stats{Documents: 1, Chunks: 1}, f.stats())
	}},
	{"DescribeKeepsChunks", func(f *fixture) {
		apples := doc("a", "red apples")
		apples.Version, apples.Meta = 1, map[string]any{"year": "2024"}
		f.replace(apples)
		f.replace(doc("b", "red cherries"))
		require.NoError(f, f.Describe(f.Context(), ds,
			index.Document{ID: "a", Version: 7, Meta: map[string]any{"year": "2025"}},
			index.Document{ID: "unknown", Version: 7}))
		versions, err := f.Versions(f.Context(), ds)
		require.NoError(f, err)
		require.Equal(f, map[string]int64{"a": 7, "b": 0}, versions)
		versions, err = f.Versions(f.Context(), ds, "a", "unknown")
		require.NoError(f, err)
		require.Equal(f, map[string]int64{"a": 7}, versions)
		meta, err := f.Metadata(f.Context(), ds)
		require.NoError(f, err)
		require.Equal(f, map[string]map[string]int{"year": {"2025": 1}}, meta)
		require.Equal(f, "a/0 b/0", f.words("red"))
		require.Equal(f, "a.md", f.search(index.Query{Text: "apples"}).Hits[0].DocumentName, "the name stays")
	}},
	{"Datasets", func(f *fixture) {
		require.NoError(f, f.Create(f.Context(), "other", index.Settings{}))
		keys, err := f.Index.Datasets(f.Context())
		require.NoError(f, err)
		require.ElementsMatch(f, []string{ds, "other"}, keys)
		_, err = f.Versions(f.Context(), "unknown")
		require.ErrorIs(f, err, index.ErrNoDataset)
	}},
	{"PutAndRemoveChunks", func(f *fixture) {
		f.replace(doc("a", "red", "green"))
		require.NoError(f, f.Put(f.Context(), ds, "a", index.Chunk{ID: "1", Content: "blue"}, index.Chunk{
			ID:      "x",
			Content: "red",
		}))
		require.Equal(f, "a/0 a/x", f.words("red"))
		require.NoError(f, f.Put(f.Context(), ds, "a", index.Chunk{ID: "1", Content: "white"}, index.Chunk{
			ID:      "1",
			Content: "blue",
		}))
		require.Empty(f, f.words("white"), "of chunks with one id the last stays")
		require.Equal(f, "a/1", f.words("blue"))
		require.Empty(f, f.words("green"))
		n, err := f.Remove(f.Context(), ds, "a", "x", "0", "unknown")
		require.NoError(f, err)
		require.Equal(f, 2, n)
		require.Empty(f, f.words("red"))
		require.Equal(f, index.Stats{Documents: 1, Chunks: 1}, f.stats())
		n, err = f.Remove(f.Context(), ds, "a")
		require.NoError(f, err)
		require.Zero(f, n, "no ids mean no chunks")
		require.ErrorIs(f, f.Put(f.Context(), ds, "unknown", index.Chunk{ID: "1"}), index.ErrNoDocument)
	}},
	{"EnableChunks", func(f *fixture) {
		f.replace(doc("a", "red", "red"), index.Document{ID: "b", Chunks: Chunks(index.Chunk{
			ID:      "0",
			Content: "red", Disabled: true,
		})})
		n, err := f.Enable(f.Context(), ds, "a", false, "0")
		require.NoError(f, err)
		require.Equal(f, 1, n)
		require.Equal(f, "a/1", f.words("red"))
		require.Len(f, f.find(index.Query{Text: "red", Hidden: true}), 3)
		n, err = f.Enable(f.Context(), ds, "a", false)
		require.NoError(f, err)
		require.Equal(f, 2, n)
		require.Empty(f, f.words("red"))
		_, err = f.Enable(f.Context(), ds, "a", true)
		require.NoError(f, err)
		_, err = f.Enable(f.Context(), ds, "b", true)
		require.NoError(f, err)
		require.Equal(f, "a/0 a/1 b/0", f.words("red"))
	}},
	{"DatasetsAreApart", func(f *fixture) {
		require.NoError(f, f.Create(f.Context(), "other/shop", index.Settings{}))
		f.replace(doc("a", "red"))
		require.NoError(f, f.Replace(f.Context(), "other/shop", doc("a", "red")))
		require.Equal(f, "a/0", f.words("red"))
		require.Len(f, f.find(index.Query{Text: "red", Datasets: []string{ds, "other/shop", ds}}), 2)
		require.NoError(f, f.Drop(f.Context(), "other/shop"))
		require.NoError(f, f.Drop(f.Context(), "other/shop"))
		require.Equal(f, "a/0", f.words("red"))
		_, err := f.Search(f.Context(), &index.Query{Datasets: []string{"other/shop"}, Text: "red"})
		require.ErrorIs(f, err, index.ErrNoDataset)
		require.ErrorIs(f, f.Replace(f.Context(), "other/shop", doc("a", "red")), index.ErrNoDataset)
	}},
	{"SettingsOfAFilledDataset", func(f *fixture) {
		var german index.Settings
		german.Language = "german"
		require.NoError(f, f.Create(f.Context(), ds, german))
		f.replace(doc("a", "viele Häuser"))
		require.Equal(f, "a/0", f.words("Haus"))
		require.NoError(f, f.Create(f.Context(), ds, german))
		require.ErrorContains(f, f.Create(f.Context(), ds, index.Settings{}), "it has 1 chunks under other settings")
		german.Language = "klingon"
		require.ErrorContains(f, f.Create(f.Context(), "new", german), `unknown language "klingon"`)
	}},
	{"VectorsOfOneSize", func(f *fixture) {
		f.replace(index.Document{ID: "a", Chunks: Chunks(index.Chunk{ID: "0", Vector: []float32{1, 0}})})
		require.Equal(f, index.Stats{Documents: 1, Chunks: 1, Vectors: 1, Dims: 2}, f.stats())
		three := index.Document{ID: "b", Chunks: Chunks(index.Chunk{ID: "0", Vector: []float32{1, 0, 0}})}
		require.ErrorContains(f, f.Replace(f.Context(), ds, three),
			"vector has 3 dimensions, those of the dataset have 2")
		zero := index.Document{ID: "b", Chunks: Chunks(index.Chunk{ID: "0", Vector: []float32{0, 0}})}
		require.ErrorContains(f, f.Replace(f.Context(), ds, zero), "it has no direction")
		_, err := f.Search(f.Context(), &index.Query{Datasets: []string{ds}, Vector: []float32{1, 0, 0}})
		require.ErrorContains(f, err, "query has a vector of 3 dimensions")
	}},
	{"ReadersSeeOldOrNew", readersSeeOldOrNew},
}

// readersSeeOldOrNew searches while a document of 40 chunks is replaced again and again.
func readersSeeOldOrNew(f *fixture) {
	const chunks = 40
	version := func(n int) index.Document {
		texts := make([]string, chunks)
		for i := range texts {
			texts[i] = fmt.Sprintf("red part%d version%d", i, n%2)
		}
		return doc("a", texts...)
	}
	f.replace(version(0))
	done := make(chan error, 1)
	go func() {
		for n := 1; n <= 20; n++ {
			if err := f.Replace(f.Context(), ds, version(n)); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for running := true; running; {
		select {
		case err := <-done:
			require.NoError(f, err)
			running = false
		default:
		}
		r := f.search(index.Query{Text: "red", Limit: 2 * chunks})
		require.Len(f, r.Hits, chunks)
		_, first, _ := strings.Cut(r.Hits[0].Chunk.Content, "version")
		for _, h := range r.Hits {
			require.True(f, strings.HasSuffix(h.Chunk.Content, "version"+first), h.Chunk.Content)
		}
	}
	require.Equal(f, chunks, f.stats().Chunks)
}
