package store

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// BenchmarkDocumentLists reads pages of a dataset of 100,000 documents. The processor time excludes
// the server of PostgreSQL.
func BenchmarkDocumentLists(b *testing.B) {
	const n = 100_000
	for _, engine := range []string{"sqlite", "postgres"} {
		s := openTest(b, engineConfig(b, engine))
		ds := newDataset(b, s, "t", "d", "many")
		fillDocuments(b, s, ds, n)
		filter := DocumentFilter{Tenant: "t", Dataset: "d"}
		words := filter
		words.Words = "number 7777"
		state := filter
		state.States = []dataset.State{dataset.Done}
		for name, list := range map[string]func() error{
			"first":  func() error { return pageOfDocuments(b, s, filter, Page{Limit: 30}) },
			"middle": func() error { return pageOfDocuments(b, s, filter, Page{Limit: 30, Offset: n / 2}) },
			"updated": func() error {
				return pageOfDocuments(b, s, filter, Page{
					Limit: 30, Offset: 900,
					Order: "update_time",
				})
			},
			"words": func() error { return pageOfDocuments(b, s, words, Page{Limit: 30}) },
			"state": func() error { return pageOfDocuments(b, s, state, Page{Limit: 30}) },
			"datasets": func() error {
				_, _, err := s.Datasets.List(b.Context(), DatasetFilter{Viewer: access.All("t")}, Page{Limit: 30})
				return err
			},
		} {
			b.Run(engine+"/"+name, func(b *testing.B) {
				used := servertest.ProcessorTime()
				for b.Loop() {
					require.NoError(b, list())
				}
				b.ReportMetric((servertest.ProcessorTime()-used).Seconds()*1000/float64(b.N), "cpu-ms/op")
			})
		}
	}
}

func pageOfDocuments(b *testing.B, s *Store, f DocumentFilter, p Page) error {
	_, _, err := s.Documents.List(b.Context(), f, p)
	return err
}

// fillDocuments adds n parsed documents in one transaction.
func fillDocuments(b *testing.B, s *Store, ds Dataset, n int) {
	b.Helper()
	require.NoError(b, s.write(b.Context(), "fill", func(ctx context.Context, q querier) error {
		for i := range n {
			v := Document{Tenant: "t", Document: dataset.Document{
				ID: fmt.Sprintf("%032x", i), Dataset: ds.ID, Name: fmt.Sprintf("number %d.md", i), State: dataset.Done,
				Chunks: 10, Tokens: 1000, Size: 4000, Messages: "10:00:00 Task done (0.1s).\n", Created: int64(i),
				Updated: int64(i),
			}}
			values, err := v.values()
			if err != nil {
				return err
			}
			const insert = `INSERT INTO documents (` + documentColumns + `) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9,
				$10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30,
				$31, $32, $33)`
			if _, err := q.ExecContext(ctx, insert, values...); err != nil {
				return err
			}
		}
		_, err := q.ExecContext(ctx, `UPDATE datasets SET document_count = $1 WHERE id = $2`, n, ds.ID)
		return err
	}))
}
