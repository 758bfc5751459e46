package sqlite

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/testing/indextest"
)

func open(t testing.TB, file string) *Index {
	t.Helper()
	x, err := Open(t.Context(), file)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, x.Close()) })
	return x
}

func TestSuite(t *testing.T) {
	indextest.Run(t, func(t *testing.T) index.Index { return open(t, "") })
}

// The same suite with a segment for nearly every chunk, so that all paths of flushes, merges and
// deletions in segments are taken.
func TestSuiteInSmallSegments(t *testing.T) {
	indextest.Run(t, func(t *testing.T) index.Index {
		x := open(t, "")
		x.flushSize = 300
		return x
	})
}

const ds = "shop"

// randomDocument is one with random chunks.
func randomDocument(rng *rand.Rand, id string) index.Document {
	var chunks []index.Chunk
	for i := range 1 + rng.IntN(8) {
		var words []string
		for range 1 + rng.IntN(12) {
			words = append(words, fmt.Sprintf("w%d", rng.IntN(30)))
		}
		c := index.Chunk{ID: fmt.Sprint(i), Content: strings.Join(words, " "), Disabled: rng.IntN(10) == 0}
		if rng.IntN(4) > 0 {
			c.Vector = []float32{rng.Float32() - 0.5, rng.Float32() - 0.5, rng.Float32() - 0.5, rng.Float32()}
		}
		chunks = append(chunks, c)
	}
	return index.Document{ID: id, Name: id, Chunks: indextest.Chunks(chunks...)}
}

// answers are the results of some queries, by what is seen from outside.
func answers(t *testing.T, x index.Index) string {
	t.Helper()
	var out strings.Builder
	for i := range 12 {
		q := &index.Query{
			Datasets: []string{ds}, Text: fmt.Sprintf("w%d w%d", i, i+7), Limit: 50,
			Vector: []float32{1, float32(i), -1, 2}, VectorWeight: 0.4, Hidden: i%3 == 0,
		}
		r, err := x.Search(t.Context(), q)
		require.NoError(t, err)
		fmt.Fprintln(&out, "query", i, r.Total, len(r.Documents))
		for _, h := range r.Hits {
			fmt.Fprintf(&out, "%s/%s %.4f %.4f %.4f\n", h.Document, h.Chunk.ID, h.Score, h.Term, h.Vector)
		}
	}
	s, err := x.Stats(t.Context(), ds)
	require.NoError(t, err)
	return out.String() + fmt.Sprint(s)
}

// Random changes give the same answers whether chunks lie in a tail or in segments of any size, and
// after the file was opened again.
func TestSegmentsDoNotShow(t *testing.T) {
	file := filepath.Join(t.TempDir(), "i.db")
	small, err := Open(t.Context(), file)
	require.NoError(t, err)
	small.flushSize = 2000
	large := open(t, "")
	both := []*Index{small, large}
	for _, x := range both {
		require.NoError(t, x.Create(t.Context(), ds, index.Settings{}))
	}
	for step := range 300 {
		for _, x := range both {
			rng := rand.New(rand.NewPCG(7, uint64(step)))
			id := fmt.Sprint("d", rng.IntN(60))
			switch rng.IntN(6) {
			case 0:
				require.NoError(t, x.Delete(t.Context(), ds, id))
			case 1:
				if _, err := x.Enable(t.Context(), ds, id, rng.IntN(2) == 0, "0", "2"); err != nil {
					require.ErrorIs(t, err, index.ErrNoDocument)
				}
			case 2:
				if _, err := x.Remove(t.Context(), ds, id, "1", "3"); err != nil {
					require.ErrorIs(t, err, index.ErrNoDocument)
				}
			default:
				require.NoError(t, x.Replace(t.Context(), ds, randomDocument(rng, id), randomDocument(rng, id+"b")))
			}
		}
		if step%50 == 49 {
			require.Equal(t, answers(t, large), answers(t, small), "step %d", step)
		}
	}
	require.Greater(t, len(small.loaded[ds].segments), 1)
	require.Less(t, len(small.loaded[ds].segments), 40, "segments are merged")
	want := answers(t, small)
	require.NoError(t, small.Close())
	again, err := Open(t.Context(), file)
	require.NoError(t, err)
	defer again.Close()
	require.Equal(t, want, answers(t, again))
}

func TestFileOfAnotherVersion(t *testing.T) {
	file := filepath.Join(t.TempDir(), "i.db")
	x, err := Open(t.Context(), file)
	require.NoError(t, err)
	_, err = x.write.ExecContext(t.Context(), `PRAGMA user_version = 99`)
	require.NoError(t, err)
	require.NoError(t, x.Close())
	_, err = Open(t.Context(), file)
	require.ErrorIs(t, err, ErrVersion)
}

// A damaged file is an error and never a crash.
func TestDamagedSegments(t *testing.T) {
	for _, damage := range []string{
		`UPDATE postings SET data = x'FFFFFF7F01'`, `UPDATE segments SET data = x'05'`,
		`UPDATE codes SET data = x'0007'`, `UPDATE vectors SET data = x'00'`,
	} {
		file := filepath.Join(t.TempDir(), "i.db")
		x, err := Open(t.Context(), file)
		require.NoError(t, err)
		x.flushSize = 100
		require.NoError(t, x.Create(t.Context(), ds, index.Settings{}))
		rng := rand.New(rand.NewPCG(1, 1))
		for i := range 3 {
			require.NoError(t, x.Replace(t.Context(), ds, randomDocument(rng, fmt.Sprint(i))))
		}
		_, err = x.write.ExecContext(t.Context(), damage)
		require.NoError(t, err)
		require.NoError(t, x.Close())
		x, err = Open(t.Context(), file)
		require.NoError(t, err)
		_, err = x.Search(t.Context(), &index.Query{
			Datasets: []string{ds}, Text: "w1 w2 w3 w4 w5 w6 w7", Vector: []float32{1, 2, 3, 4}, Hidden: true,
		})
		require.ErrorIs(t, err, errCorrupt, damage)
		require.NoError(t, x.Close())
	}
}

// A text that repeats the content is found by its other words, also after the file is opened again,
// and comes back.
func TestTextsThatRepeatTheContent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "index.db")
	x, err := Open(t.Context(), file)
	require.NoError(t, err)
	require.NoError(t, x.Create(t.Context(), ds, index.Settings{}))
	old := index.Chunk{ID: "1", Content: "shoes", Text: "elsewhere"}
	require.NoError(t, x.Replace(t.Context(), ds, index.Document{ID: "a", Chunks: indextest.Chunks(old)}))
	repeats := index.Chunk{ID: "2", Content: "boots", Text: "winter > boots"}
	same := index.Chunk{ID: "3", Content: "socks", Text: "socks"}
	require.NoError(t, x.Replace(t.Context(), ds, index.Document{ID: "b", Chunks: indextest.Chunks(repeats, same)}))
	require.NoError(t, x.Close())
	x = open(t, file)
	for word, want := range map[string]index.Chunk{
		"elsewhere": old, "winter": repeats, "boots": repeats, "socks": same,
	} {
		out, err := x.Search(t.Context(), &index.Query{Datasets: []string{ds}, Text: word, Limit: 10})
		require.NoError(t, err)
		require.Len(t, out.Hits, 1, word)
		require.Equal(t, want.Text, out.Hits[0].Chunk.Text)
		require.Equal(t, want.Content, out.Hits[0].Chunk.Content)
	}
	var stored int
	require.NoError(t, x.read.QueryRowContext(t.Context(),
		`SELECT SUM(length(searched) + length(lead)) FROM chunks WHERE key = '2'`).Scan(&stored))
	require.Equal(t, len("winter > "), stored)
}
