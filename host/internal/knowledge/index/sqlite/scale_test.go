package sqlite

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
)

// corpus makes texts whose words are as unevenly frequent as those of a language.
type corpus struct {
	rng  *rand.Rand
	zipf *rand.Zipf
}

const vocabulary = 200_000

func newCorpus(seed uint64) *corpus {
	rng := rand.New(rand.NewPCG(seed, 1))
	return &corpus{rng, rand.NewZipf(rng, 1.07, 4, vocabulary-1)}
}

// word is the word of a rank; no two share a stem.
func word(rank uint64) string {
	const syllables = "bacedofugahikolumenapirosatuvowexizo"
	var b strings.Builder
	for n := rank + 18; n > 0; n /= 18 {
		at := n % 18 * 2
		b.WriteString(syllables[at : at+2])
	}
	return b.String() + "k"
}

func (c *corpus) text(words int) string {
	var b strings.Builder
	for range words {
		b.WriteString(word(c.zipf.Uint64()))
		b.WriteByte(' ')
	}
	return b.String()
}

// vector is one near one of 200 topics.
func (c *corpus) vector(dims int) []float32 {
	topic := rand.New(rand.NewPCG(uint64(c.rng.IntN(200)), 2))
	v := make([]float32, dims)
	for i := range v {
		v[i] = float32(topic.NormFloat64() + 1.2*c.rng.NormFloat64())
	}
	return v
}

// Queries of common words, of rare ones and of both, by ranks in the vocabulary.
func (c *corpus) queries(kind string, n int) (out []string) {
	pick := func(from, to int) string { return word(uint64(from + c.rng.IntN(to-from))) }
	for range n {
		switch kind {
		case "common":
			out = append(out, pick(0, 100)+" "+pick(0, 100)+" "+pick(0, 100))
		case "rare":
			out = append(out, pick(5_000, 50_000)+" "+pick(5_000, 50_000))
		default:
			out = append(out, strings.Join([]string{
				pick(0, 100), pick(0, 1000), pick(100, 5000), pick(100, 5000), pick(1000, 50_000),
			}, " "))
		}
	}
	return out
}

const benchDims = 384

// TestScale measures searches beside plain FTS5 on the same texts. It runs when EASEL_SCALE_CHUNKS
// says how many chunks there are; EASEL_SCALE_VECTORS=off leaves out vectors.
func TestScale(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("EASEL_SCALE_CHUNKS"))
	if err != nil {
		t.Skip("EASEL_SCALE_CHUNKS is not set")
	}
	vectors := os.Getenv("EASEL_SCALE_VECTORS") != "off"
	dir := t.TempDir()
	file, plain := filepath.Join(dir, "own.db"), filepath.Join(dir, "fts5.db")
	fts, err := connect(plain, 1)
	require.NoError(t, err)
	defer fts.Close()
	_, err = fts.ExecContext(t.Context(), `CREATE VIRTUAL TABLE chunks USING fts5(content, tokenize = 'porter')`)
	require.NoError(t, err)
	fill(t, file, fts, n, vectors)

	began := time.Now()
	x := open(t, file)
	_, err = x.Search(t.Context(), &index.Query{Datasets: []string{ds}, Text: "x"})
	require.NoError(t, err)
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Logf("opened in %v, heap %d MB, %d segments", time.Since(began).Round(time.Millisecond), m.HeapAlloc>>20,
		len(x.loaded[ds].segments))

	for _, kind := range []string{"common", "rare", "mixed"} {
		queries := newCorpus(3).queries(kind, 200)
		ours := measure(t, queries, func(q string) {
			r, err := x.Search(t.Context(), &index.Query{Datasets: []string{ds}, Text: q, Limit: 10})
			require.NoError(t, err)
			_ = r
		})
		theirs := measure(t, queries[:40], func(q string) { searchFTS(t, fts, q) })
		t.Logf("%-7s p50 %v p99 %v, FTS5 p50 %v p99 %v, ratio of p50 %.2f", kind, ours[0], ours[1], theirs[0],
			theirs[1], float64(ours[0])/float64(theirs[0]))
	}
	if !vectors {
		return
	}
	c := newCorpus(4)
	queries := c.queries("mixed", 100)
	for _, topK := range []int{1024, 128} {
		got := measure(t, queries, func(q string) {
			_, err := x.Search(t.Context(), &index.Query{
				Datasets: []string{ds}, Text: q, Vector: c.vector(benchDims), VectorWeight: 0.5, Limit: 10, TopK: topK,
			})
			require.NoError(t, err)
		})
		t.Logf("hybrid, top_k %d: p50 %v p99 %v", topK, got[0], got[1])
	}
	runtime.ReadMemStats(&m)
	t.Logf("heap in use by Go %d MB", m.HeapSys>>20)
}

// fill writes the same texts into both files.
func fill(t *testing.T, file string, fts *sql.DB, n int, vectors bool) {
	c, v := newCorpus(1), newCorpus(2)
	x, err := Open(t.Context(), file)
	require.NoError(t, err)
	require.NoError(t, x.Create(t.Context(), ds, index.Settings{}))
	var ours, theirs time.Duration
	bytes := 0
	const documentChunks = 100
	for from := 0; from < n; from += documentChunks {
		texts := make([]string, documentChunks)
		chunks := make([]index.Chunk, documentChunks)
		for i := range texts {
			texts[i] = c.text(60 + c.rng.IntN(80))
			bytes += len(texts[i])
			chunks[i] = index.Chunk{ID: fmt.Sprint(i), Content: texts[i]}
			if vectors {
				chunks[i].Vector = v.vector(benchDims)
			}
		}
		began := time.Now()
		d := index.Document{ID: fmt.Sprint(from), Chunks: func(yield func(index.Chunk, error) bool) {
			for _, c := range chunks {
				if !yield(c, nil) {
					return
				}
			}
		}}
		require.NoError(t, x.Replace(t.Context(), ds, d))
		ours += time.Since(began)
		began = time.Now()
		tx, err := fts.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		stmt, err := tx.PrepareContext(t.Context(), `INSERT INTO chunks (content) VALUES (?)`)
		require.NoError(t, err)
		for _, text := range texts {
			_, err := stmt.ExecContext(t.Context(), text)
			require.NoError(t, err)
		}
		require.NoError(t, tx.Commit())
		theirs += time.Since(began)
	}
	require.NoError(t, x.Close())
	info, err := os.Stat(file)
	require.NoError(t, err)
	var pages, size int
	require.NoError(t, fts.QueryRowContext(t.Context(),
		`SELECT page_count, page_size FROM pragma_page_count, pragma_page_size`).Scan(&pages, &size))
	t.Logf("%d chunks, %d MB of text: written in %v (FTS5 %v), %.1f MB/s; file %d MB (FTS5 %d MB)", n, bytes>>20,
		ours.Round(time.Millisecond), theirs.Round(time.Millisecond), float64(bytes)/1e6/ours.Seconds(),
		info.Size()>>20, pages*size>>20)
}

func searchFTS(t *testing.T, fts *sql.DB, q string) {
	rows, err := fts.QueryContext(t.Context(), `SELECT content FROM chunks WHERE chunks MATCH ? ORDER BY rank LIMIT 10`,
		strings.ReplaceAll(q, " ", " OR "))
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var content string
		require.NoError(t, rows.Scan(&content))
	}
	require.NoError(t, rows.Err())
}

// measure returns the median and the 99th percentile.
func measure(t *testing.T, queries []string, search func(string)) [2]time.Duration {
	t.Helper()
	times := make([]time.Duration, len(queries))
	for i, q := range queries {
		began := time.Now()
		search(q)
		times[i] = time.Since(began).Round(10 * time.Microsecond)
	}
	slices.Sort(times)
	return [2]time.Duration{times[len(times)/2], times[len(times)*99/100]}
}
