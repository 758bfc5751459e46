package sqlite

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/testing/indextest"
)

// The newest chunks of datasets have a bound together: memory does not grow with the number of
// datasets that are written to.
func TestTailsHaveABoundTogether(t *testing.T) {
	x := open(t, "")
	x.flushSize = 20_000
	const datasets = 12
	chunk := func(d, round int) index.Chunk {
		var b strings.Builder
		for w := range 40 {
			b.WriteString(indextest.Word(uint64(round*40+w)) + " ")
		}
		return index.Chunk{ID: "c", Content: b.String() + fmt.Sprintf("only%dx%d", d, round)}
	}
	for round := range 4 {
		for d := range datasets {
			key := fmt.Sprint("d", d)
			if round == 0 {
				require.NoError(t, x.Create(t.Context(), key, index.Settings{}))
			}
			require.NoError(t, x.Replace(t.Context(), key, index.Document{
				ID: fmt.Sprint(round), Name: "n", Chunks: indextest.Chunks(chunk(d, round)),
			}))
		}
	}
	size := 0
	for _, d := range x.loaded {
		size += d.tail.tail.size
	}
	require.Less(t, size, 3*x.flushSize)
	for d := range datasets {
		for round := range 4 {
			r, err := x.Search(t.Context(), &index.Query{
				Datasets: []string{fmt.Sprint("d", d)}, Text: fmt.Sprintf("only%dx%d", d, round),
			})
			require.NoError(t, err)
			require.Equal(t, 1, r.Total)
		}
	}
}

// A merge reads the postings of segments in the order of the terms without sorting them, which
// would take memory for all.
func TestMergeReadsWithoutSorting(t *testing.T) {
	x := open(t, "")
	query, args := postingsOf([]*segment{{id: 1}, {id: 2}, {id: 3}})
	rows, err := x.write.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, args...)
	require.NoError(t, err)
	defer rows.Close()
	var plan []string
	for rows.Next() {
		var id, parent, unused int
		var detail string
		require.NoError(t, rows.Scan(&id, &parent, &unused, &detail))
		plan = append(plan, detail)
	}
	require.NoError(t, rows.Err())
	require.NotContains(t, strings.Join(plan, "\n"), "TEMP B-TREE")
	require.Contains(t, strings.Join(plan, "\n"), "MERGE")
}
