package store

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// addRuns adds runs of canvas c with ids from first to last, created one millisecond apart.
func addRuns(t *testing.T, s *Store, first, last int) {
	t.Helper()
	require.NoError(t, s.write(t.Context(), "fill", func(ctx context.Context, q querier) error {
		_, err := q.ExecContext(ctx, fmt.Sprintf(`WITH RECURSIVE c(g) AS
			(SELECT %d UNION ALL SELECT g + 1 FROM c WHERE g < %d)
			INSERT INTO runs (%s) SELECT 'r' || g, 't', 'c', 's', '', '', 'api', 'succeeded', '', '', 0,
			1600000000000 + g, 1600000000000 + g, 0, '', '', '', '' FROM c`, first, last, runColumns))
		return err
	}))
}

// blockStore fills a store with 35,000 runs of one canvas and sets its clock past them.
func blockStore(t *testing.T, s *Store) {
	t.Helper()
	s.now = func() time.Time { return time.UnixMilli(1600000000000).Add(time.Hour) }
	addRuns(t, s, 1, 35_000)
}

func runsOf(t *testing.T, s *Store, f RunFilter, p Page) ([]Run, int) {
	t.Helper()
	f.Tenant = "t"
	list, total, err := s.Runs.List(t.Context(), f, p)
	require.NoError(t, err)
	return list, total
}

func TestBlocksFollowRows(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		blockStore(t, s)
		for _, f := range []RunFilter{{}, {Canvas: "c"}} {
			for range 2 {
				_, total := runsOf(t, s, f, Page{Limit: 1})
				require.Equal(t, 35_000, total)
			}
			blocks, err := blocksOf(t.Context(), s.read, scope{"runs", "t", f.Canvas})
			require.NoError(t, err)
			require.Len(t, blocks, 6)
			_, total := runsOf(t, s, RunFilter{Canvas: f.Canvas, Status: RunDone}, Page{Limit: 1})
			require.Equal(t, 35_000, total, "all of them succeeded")
		}
		addRuns(t, s, 35_001, 35_010)
		n, err := s.Runs.Forget(t.Context(), 1600000010005, 20_000)
		require.NoError(t, err)
		require.EqualValues(t, 10_004, n)
		for _, f := range []RunFilter{{}, {Canvas: "c"}} {
			_, total := runsOf(t, s, f, Page{Limit: 1})
			require.Equal(t, 35_010-10_004, total)
		}
		require.NoError(t, s.write(t.Context(), "old host", func(ctx context.Context, q querier) error {
			_, err := q.ExecContext(ctx, `DELETE FROM runs WHERE id = 'r20000'`)
			return err
		}))
		now := s.now().Add(recountAfter + time.Minute)
		s.now = func() time.Time { return now }
		for range 6 {
			_, _ = runsOf(t, s, RunFilter{}, Page{Limit: 1})
		}
		_, total := runsOf(t, s, RunFilter{}, Page{Limit: 1})
		require.Equal(t, 35_010-10_005, total, "a stale block is recounted")

		_, err = s.Tenants.Put(t.Context(), Tenant{ID: "t", Name: "t"})
		require.NoError(t, err)
		require.NoError(t, s.Tenants.Delete(t.Context(), "t"))
		_, total = runsOf(t, s, RunFilter{}, Page{Limit: 1})
		require.Zero(t, total)
	})
}

// Pages of a list with blocks equal those of a list without them.
func TestPagesStartAtTheirBlock(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		blockStore(t, s)
		ids := func(p Page) (out []string) {
			list, _ := runsOf(t, s, RunFilter{Canvas: "c"}, p)
			for _, v := range list {
				out = append(out, v.ID)
			}
			return out
		}
		runsOf(t, s, RunFilter{Canvas: "c"}, Page{Limit: 1})
		for _, offset := range []int{0, 1, 4_999, 5_000, 9_990, 10_000, 29_995, 30_000, 34_998, 35_000, 40_000} {
			for _, asc := range []bool{true, false} {
				var want []string
				for i := offset; i < min(offset+10, 35_000); i++ {
					if asc {
						want = append(want, fmt.Sprint("r", i+1))
					} else {
						want = append(want, fmt.Sprint("r", 35_000-i))
					}
				}
				require.Equal(t, want, ids(Page{Limit: 10, Offset: offset, Asc: asc}), "%d %v", offset, asc)
			}
		}
	})
}

// Rows of one millisecond form one block, independently of their number.
func TestBlockOfOneMillisecond(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		blockStore(t, s)
		require.NoError(t, s.write(t.Context(), "same time", func(ctx context.Context, q querier) error {
			_, err := q.ExecContext(ctx, `UPDATE runs SET create_time = 1600000000001`)
			return err
		}))
		for range 2 {
			list, total := runsOf(t, s, RunFilter{}, Page{Limit: 10, Offset: 34_995})
			require.Equal(t, 35_000, total)
			require.Len(t, list, 5)
		}
	})
}

// Concurrent deletions and counts of two hosts leave correct blocks.
func TestBlocksUnderConcurrentDeletions(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			cfg := engineConfig(t, engine)
			a, b := openTest(t, cfg), openTest(t, cfg)
			blockStore(t, a)
			b.now = a.now
			var group sync.WaitGroup
			group.Go(func() {
				for i := range 20 {
					if _, err := b.Runs.Forget(t.Context(), 1600000000000+int64(i*1000), 1000); err != nil {
						t.Error(err)
					}
				}
			})
			group.Go(func() {
				for range 20 {
					if _, _, err := a.Runs.List(t.Context(), RunFilter{Tenant: "t"}, Page{Limit: 1}); err != nil {
						t.Error(err)
					}
				}
			})
			group.Wait()
			_, total := runsOf(t, a, RunFilter{}, Page{Limit: 1})
			var rows int
			require.NoError(t, a.read.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM runs`).Scan(&rows))
			require.Equal(t, rows, total)
		})
	}
}

// fullDisk is a committer whose writes fail with ErrFull.
type fullDisk struct{ committer }

func (fullDisk) write(context.Context, func(context.Context, querier) error) error { return ErrFull }

// A list is readable while writes fail.
func TestListsAreReadOnFullDisk(t *testing.T) {
	s := openTest(t, engineConfig(t, "sqlite"))
	blockStore(t, s)
	writable := s.commit
	s.commit = fullDisk{writable}
	for range 2 {
		list, total := runsOf(t, s, RunFilter{}, Page{Limit: 10, Offset: 20_000})
		require.Equal(t, 35_000, total)
		require.Len(t, list, 10)
	}
	s.commit = writable
}

// The first page of a long list counts no more rows than its caller requests.
func TestPagesCountAtMost(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		addRuns(t, s, 1, 1001)
		p := Page{Limit: 2, MostCounted: 1000}
		list, total := runsOf(t, s, RunFilter{Canvas: "c"}, p)
		require.Equal(t, Uncounted, total)
		require.Equal(t, []string{"r1001", "r1000"}, []string{list[0].ID, list[1].ID})
		at := list[1].Position("create_time")
		p.After = &at
		list, _ = runsOf(t, s, RunFilter{}, p)
		require.Equal(t, "r999", list[0].ID)
		p.After, p.MostCounted = nil, 1001
		_, total = runsOf(t, s, RunFilter{}, p)
		require.Equal(t, 1001, total)
		p.Offset, p.MostCounted = 1000, 5
		list, total = runsOf(t, s, RunFilter{}, p)
		require.Equal(t, 1001, total)
		require.Equal(t, "r1", list[0].ID)
		_, total = runsOf(t, s, RunFilter{Canvas: "other"}, Page{Limit: 2, MostCounted: 1000})
		require.Zero(t, total)
	})
}
