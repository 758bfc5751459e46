package store

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// fillCanvases adds 30,000 canvases with documents of 4 KB, a third of them private ones of ann, a
// third private ones of bob, and 30,000 runs of 300 of them.
func fillCanvases(b *testing.B, s *Store) {
	b.Helper()
	const rows = `WITH RECURSIVE c(g) AS (SELECT 1 UNION ALL SELECT g + 1 FROM c WHERE g < 30000) `
	require.NoError(b, s.write(b.Context(), "fill", func(ctx context.Context, q querier) error {
		for _, query := range []string{
			rows + `INSERT INTO canvases (id, tenant_id, user_id, title, title_fold, find, description, avatar, type,
				category, permission, tags, released, dsl, rev, create_time, update_time) SELECT 'c' || g, 't',
				CASE WHEN g % 3 = 0 THEN 'bob' ELSE 'ann' END, 'c' || g, '', 'c', '', '', '', '',
				CASE WHEN g % 3 = 1 THEN 'team' ELSE 'me' END, '[]', 0, $1, 1, 1600000000000 + g, 1600000000000 + g
				FROM c`,
			rows + `INSERT INTO runs (` + runColumns + `) SELECT 'r' || g, 't', 'c' || (g % 300), '', '', 'r' || g,
				'api', 'succeeded', '', '', 0, 1600000000000 + g, 1600000000000 + g, 0, '', '', '', '' FROM c`,
		} {
			args := []any{make([]byte, 4096)}
			if query[len(rows):len(rows)+16] == `INSERT INTO runs` {
				args = nil
			}
			if _, err := q.ExecContext(ctx, query, args...); err != nil {
				return err
			}
		}
		return nil
	}))
	if s.engine == "postgres" {
		_, err := s.read.ExecContext(b.Context(), `ANALYZE`)
		require.NoError(b, err)
	}
}

// BenchmarkListsOfMembers reads the first pages of lists of canvases and runs, of which a member
// may use all, two thirds, without a user a third, and all but 20.
func BenchmarkListsOfMembers(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		s := openTest(b, engineConfig(b, engine))
		fillCanvases(b, s)
		for _, viewer := range []struct {
			name string
			access.Viewer
		}{
			{"all", access.All("t")},
			{"two thirds", access.Viewer{Tenant: "t", User: "ann"}},
			{"a third", access.Viewer{Tenant: "t"}},
			{"all but 20", access.Viewer{Tenant: "t", User: "bob"}},
		} {
			name, v := viewer.name, viewer.Viewer
			if v.User == "bob" {
				_, err := s.commit.exec(b.Context(),
					`UPDATE canvases SET permission = CASE WHEN create_time % 1500 = 2 THEN 'me' ELSE 'team' END`)
				require.NoError(b, err)
			}
			for list, page := range map[string]func() error{
				"canvases": func() error {
					p := Page{Limit: 30, Order: "update_time", Documents: NoDocuments}
					_, _, err := s.Canvases.List(b.Context(), CanvasFilter{Viewer: v}, p)
					return err
				},
				"runs": func() error {
					p := Page{Limit: 30, Documents: NoDocuments}
					_, _, err := s.Runs.List(b.Context(), RunFilter{Tenant: "t", Viewer: v}, p)
					return err
				},
			} {
				b.Run(engine+"/"+list+"/"+name, func(b *testing.B) {
					used := servertest.ProcessorTime()
					for b.Loop() {
						require.NoError(b, page())
					}
					b.ReportMetric((servertest.ProcessorTime()-used).Seconds()*1000/float64(b.N), "cpu-ms/op")
				})
			}
		}
	}
}
