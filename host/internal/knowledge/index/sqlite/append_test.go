package sqlite

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/indextest"
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
					b.WriteString(word(uint64((d*chunks+c)*perChunk+w)) + " ")
				}
				list = append(list, index.Chunk{ID: fmt.Sprint(c), Content: b.String() + "everywhere"})
			}
			require.NoError(t, x.Replace(t.Context(), ds,
				index.Document{ID: fmt.Sprint(d), Name: "n", Chunks: indextest.Chunks(list...)}))
			most = max(most, len(x.loaded[ds].appender.places))
		}
		require.Less(t, most, documents*chunks*perChunk, "numbers are forgotten")
		for i := 0; i < documents*chunks; i += 7 {
			r, err := x.Search(t.Context(), &index.Query{Datasets: []string{ds}, Text: word(uint64(i*perChunk + i))})
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
