package indextest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
)

var changeTests = []test{{"ManyChanges", manyChanges}}

// manyChanges makes small changes of all kinds to a dataset and compares searches of it with those
// of one that was written at once.
func manyChanges(f *fixture) {
	const fresh = "tenant/fresh"
	rng := rand.New(rand.NewPCG(5, 6))
	documents := map[string]map[string]index.Chunk{}
	number := 0
	chunk := func(id string) index.Chunk {
		number++
		return index.Chunk{
			ID:      id,
			Content: fmt.Sprintf("%s %s %s n%d", Word(rng.Uint64N(5)), Word(rng.Uint64N(9)), Word(rng.Uint64N(20)), number),
		}
	}
	pick := func() (string, map[string]index.Chunk) {
		ids := slices.Sorted(maps.Keys(documents))
		id := ids[rng.IntN(len(ids))]
		return id, documents[id]
	}
	document := func(id string) index.Document {
		chunks := documents[id]
		list := make([]index.Chunk, 0, len(chunks))
		for _, key := range slices.Sorted(maps.Keys(chunks)) {
			list = append(list, chunks[key])
		}
		return index.Document{ID: id, Name: id + ".md", Chunks: Chunks(list...)}
	}
	compare := func() {
		require.NoError(f, f.Drop(f.Context(), fresh))
		require.NoError(f, f.Create(f.Context(), fresh, index.Settings{}))
		var all []index.Document
		for _, id := range slices.Sorted(maps.Keys(documents)) {
			all = append(all, document(id))
		}
		require.NoError(f, f.Replace(f.Context(), fresh, all...))
		for range 5 {
			q := index.Query{
				Text: Word(rng.Uint64N(5)) + " " + Word(rng.Uint64N(20)), Limit: 1000, Hidden: rng.IntN(2) == 0,
			}
			found, want := map[string]float64{}, map[string]float64{}
			for _, h := range f.search(q).Hits {
				found[h.Document+"/"+h.Chunk.ID] = h.Score
			}
			q.Datasets = []string{fresh}
			for _, h := range f.search(q).Hits {
				want[h.Document+"/"+h.Chunk.ID] = h.Score
			}
			require.InDeltaMapValues(f, want, found, 1e-5, "%+v", q)
		}
	}
	for step := range 240 {
		switch id := fmt.Sprint("d", rng.IntN(30)); {
		case step < 10 || rng.IntN(10) < 4:
			documents[id] = map[string]index.Chunk{}
			for i := range 1 + rng.IntN(8) {
				key := fmt.Sprint(i)
				documents[id][key] = chunk(key)
			}
			f.replace(document(id))
		case rng.IntN(10) < 2 && len(documents) > 5:
			id, _ := pick()
			delete(documents, id)
			require.NoError(f, f.Delete(f.Context(), ds, id))
		case rng.IntN(10) < 5:
			id, chunks := pick()
			a, b := chunk(fmt.Sprint(rng.IntN(10))), chunk(fmt.Sprint(rng.IntN(10)))
			chunks[a.ID] = a
			chunks[b.ID] = b
			require.NoError(f, f.Put(f.Context(), ds, id, a, b))
		case rng.IntN(10) < 5:
			id, chunks := pick()
			key := fmt.Sprint(rng.IntN(6))
			delete(chunks, key)
			_, err := f.Remove(f.Context(), ds, id, key)
			require.NoError(f, err)
		default:
			id, chunks := pick()
			key, on := fmt.Sprint(rng.IntN(6)), rng.IntN(2) == 0
			if c, ok := chunks[key]; ok {
				c.Disabled = !on
				chunks[key] = c
			}
			_, err := f.Enable(f.Context(), ds, id, on, key)
			require.NoError(f, err)
		}
		if step%40 == 39 {
			compare()
		}
	}
}
