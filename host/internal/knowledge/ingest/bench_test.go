package ingest_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/datasettest"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// markdown is a document of about n bytes: headings, paragraphs, lists and tables of words whose
// frequencies fall as in a language.
func markdown(rng *rand.Rand, n int) string {
	zipf := rand.NewZipf(rng, 1.2, 8, 30_000)
	var b strings.Builder
	words := func(n int) {
		for i := range n {
			if i > 0 {
				b.WriteByte(' ')
			}
			fmt.Fprintf(&b, "%s", word(zipf.Uint64()))
		}
	}
	for b.Len() < n {
		b.WriteString("## ")
		words(4)
		for range 3 + rng.IntN(4) {
			b.WriteString("\n\n")
			for range 3 + rng.IntN(5) {
				words(8 + rng.IntN(12))
				b.WriteString(". ")
			}
		}
		b.WriteString("\n\n")
		for range rng.IntN(5) {
			b.WriteString("- ")
			words(6)
			b.WriteByte('\n')
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// word is the n-th word of a vocabulary: frequent words are short.
func word(n uint64) string {
	const syllables = "rotanilesumekadobifugape"
	var b strings.Builder
	for n += 3; n > 0; n /= 12 {
		at := 2 * (n % 12)
		b.WriteString(syllables[at : at+2])
	}
	return b.String()
}

// BenchmarkMarkdown parses documents of 100 KB, and small ones, into a dataset without vectors,
// with one worker, and inserts the same chunks into a plain FTS5 table.
func BenchmarkMarkdown(b *testing.B) {
	for _, c := range []struct{ size, documents int }{{100 << 10, 200}, {4 << 10, 1000}} {
		b.Run(fmt.Sprint(c.size>>10, "KB"), func(b *testing.B) { benchmarkMarkdown(b, c.size, c.documents) })
	}
}

func benchmarkMarkdown(b *testing.B, size, documents int) {
	rng := rand.New(rand.NewPCG(1, 2))
	texts := make([]string, documents)
	total := 0
	for i := range texts {
		texts[i] = markdown(rng, size)
		total += len(texts[i])
	}
	for b.Loop() {
		f := datasettest.New(b, datasettest.Options{Idle: true, Workers: 1})
		ds := f.Dataset(dataset.Dataset{Name: "shop"})
		var ids []string
		for i, text := range texts {
			ids = append(ids, f.Add(ds.ID, fmt.Sprint(i, ".md"), text).ID)
		}
		require.NoError(b, f.Parse(b.Context(), datasettest.Owner, ds.ID, ids...))
		began := servertest.ProcessorTime()
		done := f.Run()
		awaitDone(b, f, ds.ID, len(ids))
		_, err := f.Replica.Sync(b.Context(), ds.ID) // as a search does
		require.NoError(b, err)
		took := servertest.ProcessorTime() - began
		done()
		b.ReportMetric(float64(total)/1e6/took.Seconds(), "MB/cpu-s")
		plain := insertPlain(b, f, ds.ID)
		b.ReportMetric(float64(total)/1e6/plain.Seconds(), "FTS5-MB/cpu-s")
		b.ReportMetric(took.Seconds()/plain.Seconds(), "times-FTS5")
	}
}

// awaitDone waits until all documents are parsed. It polls seldom, because that takes processor
// time.
func awaitDone(b *testing.B, f *datasettest.Fixture, ds string, documents int) {
	for range time.Tick(100 * time.Millisecond) {
		_, n, err := f.Documents(b.Context(), datasettest.Owner, ds, app.DocumentList{
			States: []dataset.State{dataset.Done}, Page: 1, Size: 1,
		})
		require.NoError(b, err)
		if n == documents {
			return
		}
	}
}

// insertPlain inserts all chunks of a dataset into a table of FTS5.
func insertPlain(b *testing.B, f *datasettest.Fixture, ds string) time.Duration {
	list, _, err := f.Store.Documents.List(b.Context(), store.DocumentFilter{Tenant: "t", Dataset: ds}, store.Page{})
	require.NoError(b, err)
	var chunks []string
	for _, d := range list {
		chunks = append(chunks, f.Contents(ds, d.ID)...)
	}
	db, err := sql.Open("sqlite", filepath.Join(b.TempDir(),
		"plain.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)")
	require.NoError(b, err)
	defer db.Close()
	_, err = db.Exec(`CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'porter unicode61')`)
	require.NoError(b, err)
	began := servertest.ProcessorTime()
	tx, err := db.Begin()
	require.NoError(b, err)
	insert, err := tx.Prepare(`INSERT INTO words (text) VALUES (?)`)
	require.NoError(b, err)
	for _, c := range chunks {
		_, err := insert.Exec(c)
		require.NoError(b, err)
	}
	require.NoError(b, tx.Commit())
	return servertest.ProcessorTime() - began
}
