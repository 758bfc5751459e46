package sqlite

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/testing/indextest"
)

// More words than a counter remembers, in one change and over several, in the tail and in segments:
// each is found where it is and nowhere else.
func TestManyWords(t *testing.T) {
	const perChunk, chunks, documents = 400, 60, 4
	for _, flush := range []int{1 << 18, 16 << 20} {
		x := open(t, "")
		x.flushSize = flush
		require.NoError(t, x.Create(t.Context(), ds, index.Settings{}))
		most := 0
		for d := range documents {
			var list []index.Chunk
			for c := range chunks {
				var b strings.Builder
				for w := range perChunk {
					b.WriteString(indextest.Word(uint64((d*chunks+c)*perChunk+w)) + " ")
				}
				list = append(list, index.Chunk{ID: fmt.Sprint(c), Content: b.String() + "everywhere"})
			}
			require.NoError(t, x.Replace(t.Context(), ds,
				index.Document{ID: fmt.Sprint(d), Name: "n", Chunks: indextest.Chunks(list...)}))
			require.Len(t, x.appenders, 1)
			for _, a := range x.appenders {
				most = max(most, len(a.places))
			}
		}
		require.Less(t, most, documents*chunks*perChunk, "numbers are forgotten")
		for i := 0; i < documents*chunks; i += 7 {
			text := indextest.Word(uint64(i*perChunk + i))
			r, err := x.Search(t.Context(), &index.Query{Datasets: []string{ds}, Text: text})
			require.NoError(t, err)
			require.Equal(t, 1, r.Total, i)
			require.Equal(t, fmt.Sprint(i/chunks), r.Hits[0].Document)
			require.Equal(t, fmt.Sprint(i%chunks), r.Hits[0].Chunk.ID)
		}
		r, err := x.Search(t.Context(), &index.Query{Datasets: []string{ds}, Text: "everywhere"})
		require.NoError(t, err)
		require.Equal(t, documents*chunks, r.Total)
	}
}

// Datasets share the words of their language, not what is found in them: memory for words does not
// grow with the number of datasets.
func TestDatasetsShareWords(t *testing.T) {
	x := open(t, "")
	settings := map[string]index.Settings{"a": {K1: 2}, "b": {}, "c": {}}
	german := index.Settings{}
	german.Language = "german"
	settings["d"] = german
	for key, s := range settings {
		require.NoError(t, x.Create(t.Context(), key, s))
	}
	for round := range 3 {
		for key := range settings {
			text := fmt.Sprintf("Verträge everywhere only%s round%d", key, round)
			require.NoError(t, x.Replace(t.Context(), key, index.Document{
				ID: fmt.Sprint(round), Name: "n", Chunks: indextest.Chunks(index.Chunk{ID: "1", Content: text}),
			}))
		}
	}
	require.Len(t, x.appenders, 2)
	for key := range settings {
		for text, want := range map[string]int{
			"everywhere": 3, "only" + key: 3, "onlyz": 0, "round1": 1, "vertrag": map[bool]int{true: 3}[key == "d"],
		} {
			r, err := x.Search(t.Context(), &index.Query{Datasets: []string{key}, Text: text})
			require.NoError(t, err)
			require.Equal(t, want, r.Total, "%q in %s", text, key)
		}
	}
}
