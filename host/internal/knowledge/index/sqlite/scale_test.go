package sqlite

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/testing/indextest"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

const benchDims = 384

// TestScale compares searches with plain FTS5 on the same texts. It runs when EASEL_SCALE_CHUNKS
// sets the number of chunks; EASEL_SCALE_VECTORS=off leaves out vectors.
func TestScale(t *testing.T) {
	n, dims := indextest.ScaleChunks(t), benchDims
	if os.Getenv("EASEL_SCALE_VECTORS") == "off" {
		dims = 0
	}
	dir := t.TempDir()
	file, plain := filepath.Join(dir, "own.db"), filepath.Join(dir, "fts5.db")
	fts, err := connect(plain, 1)
	require.NoError(t, err)
	defer fts.Close()
	_, err = fts.ExecContext(t.Context(), `CREATE VIRTUAL TABLE chunks USING fts5(content, tokenize = 'porter')`)
	require.NoError(t, err)
	fill(t, file, fts, n, dims)

	debug.FreeOSMemory()
	before, used, began := resident(t), servertest.ProcessorTime(), time.Now()
	x := open(t, file)
	_, err = x.Search(t.Context(), &index.Query{Datasets: []string{ds}, Text: "x"})
	require.NoError(t, err)
	t.Logf("opened in %v, %v of the processor, %d segments", time.Since(began).Round(time.Millisecond),
		(servertest.ProcessorTime() - used).Round(time.Millisecond), len(x.loaded[ds].segments))
	debug.FreeOSMemory()
	t.Logf("memory: %d MB resident, %d before", resident(t), before)
	// FTS5 takes seconds for common words among many chunks.
	indextest.Searches(t, &indextest.Scale{
		Index: x, Dataset: ds, Chunks: n, Dims: dims,
		Plain: func(q string) { searchFTS(t, fts, q) }, PlainQueries: max(5, min(40, 4_000_000/n)),
	})
	t.Logf("memory after the searches: %d MB resident", resident(t))
	debug.FreeOSMemory()
	t.Logf("of which %d MB are in use", resident(t))
}

// resident is the memory of this process in megabytes.
func resident(t *testing.T) int64 { return servertest.Memory(t, os.Getpid()) >> 20 }

// fill writes the same texts into both files.
func fill(t *testing.T, file string, fts *sql.DB, n, dims int) {
	x, err := Open(t.Context(), file)
	require.NoError(t, err)
	require.NoError(t, x.Create(t.Context(), ds, index.Settings{}))
	var ours, theirs span
	bytes := 0
	for d := range indextest.NewCorpus(1).Documents(n, dims) {
		ours.add(func() { require.NoError(t, x.Replace(t.Context(), ds, d)) })
		theirs.add(func() { bytes += insertFTS(t, fts, &d) })
	}
	require.NoError(t, x.Close())
	info, err := os.Stat(file)
	require.NoError(t, err)
	var pages, size int
	require.NoError(t, fts.QueryRowContext(t.Context(),
		`SELECT page_count, page_size FROM pragma_page_count, pragma_page_size`).Scan(&pages, &size))
	t.Logf("%d chunks, %d MB of text: written in %v (FTS5 %v), %.1f MB a processor second; file %d MB (FTS5 %d MB)", n,
		bytes>>20, ours, theirs, float64(bytes)/1e6/ours.processor.Seconds(), info.Size()>>20, pages*size>>20)
}

// span is time on the clock and of the processor.
type span struct{ clock, processor time.Duration }

func (s *span) add(f func()) {
	began, used := time.Now(), servertest.ProcessorTime()
	f()
	s.clock, s.processor = s.clock+time.Since(began), s.processor+servertest.ProcessorTime()-used
}

func (s span) String() string {
	return s.clock.Round(time.Millisecond).String() + ", " + s.processor.Round(time.Millisecond).String() +
		" of the processor"
}

// insertFTS inserts the chunks of a document, and returns their bytes.
func insertFTS(t *testing.T, fts *sql.DB, d *index.Document) (bytes int) {
	tx, err := fts.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	stmt, err := tx.PrepareContext(t.Context(), `INSERT INTO chunks (content) VALUES (?)`)
	require.NoError(t, err)
	for c, err := range d.Chunks {
		require.NoError(t, err)
		_, err = stmt.ExecContext(context.Background(), c.Content) // without a goroutine for each
		require.NoError(t, err)
		bytes += len(c.Content)
	}
	require.NoError(t, tx.Commit())
	return bytes
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
