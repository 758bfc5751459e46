package postgres

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/codes"
	"github.com/easel-canvas/easel/host/internal/testing/indextest"
)

// Each vector has one code after changes and merges, groups of codes stay few, and searches find
// what a comparison with all vectors finds.
func TestCodesAfterMerges(t *testing.T) {
	const key, dims, topK, least = "tenant/shop", 128, 100, 0.95
	x := open(t, server(t))
	require.NoError(t, x.Create(t.Context(), key, index.Settings{}))
	rng, corpus := rand.New(rand.NewPCG(1, 2)), indextest.NewCorpus(2)
	vectors := map[string][]float32{}
	for step := range 120 {
		size, number := 1+rng.IntN(20), 0
		if step%20 == 10 {
			size = 900
		}
		id := fmt.Sprint(step)
		chunks := make([]index.Chunk, size)
		for i := range chunks {
			chunks[i] = index.Chunk{ID: fmt.Sprint(i), Content: "word"}
			if rng.IntN(10) > 0 {
				chunks[i].Vector = corpus.Vector(dims)
				unit, err := index.Unit(chunks[i].Vector)
				require.NoError(t, err)
				vectors[id+"/"+chunks[i].ID] = unit
			}
		}
		require.NoError(t, x.Replace(t.Context(), key, index.Document{ID: id, Chunks: indextest.Chunks(chunks...)}))
		for range 3 {
			old := fmt.Sprint(rng.IntN(step + 1))
			number += rng.IntN(6)
			_, err := x.Remove(t.Context(), key, old, fmt.Sprint(number))
			require.NoError(t, err)
			delete(vectors, old+"/"+fmt.Sprint(number))
		}
	}
	coded, groups, segments := codedChunks(t, x, key)
	require.ElementsMatch(t, slices.Collect(maps.Keys(vectors)), coded)
	require.LessOrEqual(t, groups, 2*segments+len(coded)/leastGroup)
	found := 0
	const queries = 40
	for range queries {
		q := corpus.Vector(dims)
		out, err := x.Search(t.Context(), &index.Query{Datasets: []string{key}, Vector: q, TopK: topK, Limit: 10})
		require.NoError(t, err)
		want := slices.SortedFunc(maps.Keys(vectors), func(a, b string) int {
			return cmp.Compare(codes.Dot(q, vectors[b]), codes.Dot(q, vectors[a]))
		})[:10]
		for _, h := range out.Hits {
			if slices.Contains(want, h.Document+"/"+h.Chunk.ID) {
				found++
			}
		}
	}
	require.Greater(t, float64(found), least*10*queries)
}

// codedChunks are the live chunks of a dataset that have a code, and how many groups and segments
// they are in.
func codedChunks(t *testing.T, x *Index, key string) (coded []string, groups, segments int) {
	require.NoError(t, x.snapshot(t.Context(), func(tx pgx.Tx) error {
		datasets, err := readDatasets(t.Context(), tx, key)
		require.NoError(t, err)
		d := datasets[0]
		s := &search{Tx: tx, ctx: t.Context(), x: x, q: &index.Query{}, segments: map[int64][]*segment{}}
		list, err := s.segmentsOf(d)
		require.NoError(t, err)
		byID, err := x.segmentCodes(t.Context(), tx, d, list)
		require.NoError(t, err)
		query := codes.NewQuery(make([]float32, d.dims))
		var rows []int64
		for _, seg := range list {
			groups += len(byID[seg.id])
			for i := range byID[seg.id] {
				query.Estimate(&byID[seg.id][i], func(local int, _ float32) {
					if !seg.dead.has(local) {
						rows = append(rows, seg.Rows[local])
					}
				})
			}
		}
		segments = len(list)
		for _, row := range rows {
			var id string
			err := tx.QueryRow(t.Context(), `SELECT d.key || '/' || c.key
				FROM chunks c JOIN documents d ON d.id = c.document WHERE c.id = $1`, row).Scan(&id)
			require.NoError(t, err)
			coded = append(coded, id)
		}
		return nil
	}))
	return coded, groups, segments
}
