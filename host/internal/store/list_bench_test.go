package store

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fillLists adds 200,000 sessions and runs of one canvas, and one user per hundred of them.
// PostgreSQL does not vacuum them, so its index scans have to visit the rows.
func fillLists(b *testing.B, s *Store) {
	b.Helper()
	const rows = `WITH RECURSIVE c(g) AS (SELECT 1 UNION ALL SELECT g + 1 FROM c WHERE g < 200000) `
	err := s.write(b.Context(), "fill", func(ctx context.Context, q querier) error {
		for _, query := range []string{
			rows + `INSERT INTO sessions (` + sessionColumns + `, dsl, messages, reference, find)
				SELECT 's' || g, 't', 'c', 'u' || (g % 2000), '', '', '', g, 0, 1, 0, 1, '', '',
				1600000000000 + g, 1600000000000 + g, '', '', '', '', '', '', 0, '', '', '', '' FROM c`,
			rows + `INSERT INTO session_documents
				SELECT 's' || g, 't', '{}', '[]', '{}', 'what is the price of item ' || g FROM c`,
			rows + `INSERT INTO runs (` + runColumns + `) SELECT 'r' || g, 't', 'c', 's' || g, '', '', 'api',
				'succeeded', '', '', 0, 1600000000000 + g, 1600000000000 + g, 0, '', '', '', '' FROM c`,
		} {
			if s.engine == "postgres" {
				table := strings.Fields(query[strings.Index(query, "INTO "):])[1]
				if _, err := q.ExecContext(ctx, `ALTER TABLE `+table+` SET (autovacuum_enabled = false)`); err != nil {
					return err
				}
			}
			if _, err := q.ExecContext(ctx, query); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(b, err)
	if s.engine == "postgres" {
		_, err := s.read.ExecContext(b.Context(), `ANALYZE`)
		require.NoError(b, err)
	}
}

// BenchmarkLists measures a page of long lists for the first request after a start, and for later
// ones.
func BenchmarkLists(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		s := openTest(b, engineConfig(b, engine))
		fillLists(b, s)
		sessions := func(f SessionFilter, p Page) func() (int, error) {
			f.Tenant = "t"
			p.Limit, p.Documents = 30, NoDocuments
			return func() (int, error) { _, n, err := s.Sessions.List(b.Context(), f, p); return n, err }
		}
		runs := func(f RunFilter, p Page) func() (int, error) {
			f.Tenant = "t"
			p.Limit = 30
			return func() (int, error) { _, n, err := s.Runs.List(b.Context(), f, p); return n, err }
		}
		for _, list := range []struct {
			name string
			page func() (int, error)
		}{
			{"sessions", sessions(SessionFilter{Canvas: "c"}, Page{})},
			{"sessions by update", sessions(SessionFilter{Canvas: "c"}, Page{Order: "update_time"})},
			{"sessions, deep page", sessions(SessionFilter{Canvas: "c"}, Page{Offset: 100_000})},
			{"sessions of a user", sessions(SessionFilter{Canvas: "c", User: "u7"}, Page{})},
			{"sessions with words", sessions(SessionFilter{Canvas: "c", Keywords: "item 1234"}, Page{})},
			{"runs", runs(RunFilter{}, Page{})},
			{"runs, deep page", runs(RunFilter{}, Page{Offset: 100_000})},
			{"runs of a canvas", runs(RunFilter{Canvas: "c"}, Page{})},
			{"succeeded runs", runs(RunFilter{Status: RunDone}, Page{})},
		} {
			for _, first := range []bool{true, false} {
				name := engine + "/" + list.name
				if first {
					name += ", first"
				}
				b.Run(name, func(b *testing.B) {
					_, err := list.page() // counts blocks of rows once
					require.NoError(b, err)
					for b.Loop() {
						if first {
							s.totals.forget()
						}
						n, err := list.page()
						if err != nil || n == 0 {
							b.Fatal(n, err)
						}
					}
				})
			}
		}
	}
}
