package store

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The count of a long list is exact for all changes by this process; deletions of another process
// appear within totalsKept.
func TestTotals(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			cfg := engineConfig(t, engine)
			now := time.UnixMilli(1700000000000)
			cfg.Now = func() time.Time { return now }
			s, other := openTest(t, cfg), openTest(t, cfg)
			const rows = settledLeast + 500
			require.NoError(t, s.write(t.Context(), "fill", func(ctx context.Context, q querier) error {
				_, err := q.ExecContext(ctx, `WITH RECURSIVE c(g) AS (SELECT 1 UNION ALL SELECT g + 1 FROM c WHERE g < 5500)
					INSERT INTO runs (`+runColumns+`) SELECT 'r' || g, 't', 'c', 's', '', '', 'api', '`+RunDone+`',
						'', '', 0, 1600000000000 + g, 1600000000000 + g, 0, '', '', '', ''
						FROM c`)
				return err
			}))
			total := func(f RunFilter) int {
				f.Tenant, f.Session = "t", "s"
				_, n, err := s.Runs.List(t.Context(), f, Page{Limit: 1})
				require.NoError(t, err)
				return n
			}
			require.Equal(t, rows, total(RunFilter{}))
			require.Len(t, s.totals.known, 1)
			require.NoError(t, s.Runs.Start(t.Context(), Run{ID: "new", Tenant: "t", Session: "s"}))
			require.NoError(t, other.Runs.Start(t.Context(), Run{ID: "of another host", Tenant: "t", Session: "s"}))
			require.Equal(t, rows+2, total(RunFilter{}))
			require.Equal(t, rows, total(RunFilter{Canvas: "c"}), "another list")
			require.Equal(t, rows, total(RunFilter{Status: RunDone}))
			require.Equal(t, 2, total(RunFilter{Status: RunActive}))

			n, err := s.Runs.Forget(t.Context(), 1600000000100, 1000)
			require.NoError(t, err)
			require.EqualValues(t, 99, n)
			require.Equal(t, rows+2-99, total(RunFilter{}))
			_, err = other.Runs.Forget(t.Context(), 1600000000102, 1000)
			require.NoError(t, err)
			now = now.Add(totalsKept)
			require.Equal(t, rows+2-101, total(RunFilter{}))
			_, err = s.Runs.End(t.Context(), RunEnd{ID: "new", Status: RunDone}, nil)
			require.NoError(t, err)
			require.Equal(t, 1, total(RunFilter{Status: RunActive}), "an end changes the status")
		})
	}
}
