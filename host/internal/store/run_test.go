package store

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStartRunAtARevision(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		c, err := s.Canvases.Create(t.Context(), Canvas{Tenant: "t", Title: "c", DSL: []byte("{}")}, "")
		require.NoError(t, err)
		start := func(id, tenant string, rev int64) error {
			return s.Runs.StartAt(
				t.Context(), Run{ID: id, Tenant: tenant, Canvas: c.ID, Input: []byte("{}"), Tokens: 1 << 40}, rev,
			)
		}
		require.NoError(t, start("a", "t", c.Rev))
		require.ErrorIs(t, start("a", "t", c.Rev), ErrExists)
		require.ErrorIs(t, start("b", "t", c.Rev+1), ErrConflict)
		require.ErrorIs(t, start("b", "other", c.Rev), ErrConflict)
		_, err = s.Canvases.Edit(t.Context(), "t", c.ID, "", func(*Canvas) error { return nil })
		require.NoError(t, err)
		require.ErrorIs(t, start("b", "t", c.Rev), ErrConflict)
		require.NoError(t, start("b", "t", c.Rev+1))
		require.NoError(t, s.Canvases.Delete(t.Context(), "t", c.ID))
		require.ErrorIs(t, start("c", "t", c.Rev+1), ErrConflict)
		require.NoError(t, start("c", "t", 0), "revision 0 matches any")
		for _, id := range []string{"a", "b", "c"} {
			v, err := s.Runs.Get(t.Context(), "t", id)
			require.NoError(t, err)
			require.Equal(t, RunActive, v.Status)
			require.EqualValues(t, 1<<40, v.Tokens)
		}
	})
}

// A skipped run is in the history and is never active.
func TestLeaveOutRun(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		left := Run{ID: "a", Tenant: "t", Canvas: "c", User: "u", Message: "m", Source: "schedule", Error: "another is at work"}
		require.NoError(t, s.Runs.LeaveOut(t.Context(), left))
		require.ErrorIs(t, s.Runs.LeaveOut(t.Context(), left), ErrExists)
		require.ErrorIs(t, s.Runs.LeaveOut(t.Context(), Run{ID: "b\x00", Tenant: "t"}), ErrInvalid)
		v, err := s.Runs.Get(t.Context(), "t", "a")
		require.NoError(t, err)
		require.Positive(t, v.EndTime)
		require.Empty(t, v.Input)
		left.Status, left.Input, left.CreateTime, left.EndTime = RunCanceled, v.Input, v.EndTime, v.EndTime
		require.Equal(t, left, v)
		active, err := s.Runs.Active(t.Context())
		require.NoError(t, err)
		require.Empty(t, active)
		n, err := s.Runs.Forget(t.Context(), v.EndTime+1, 10)
		require.NoError(t, err)
		require.EqualValues(t, 1, n)
	})
}

// Lists by status have the runs and totals of the whole history; TestBlocksFollowRows has counted
// blocks.
func TestRunsByStatus(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		ends := []string{RunActive, RunDone, RunFailed, RunDone, RunCanceled, RunPaused, RunDone}
		want := map[RunFilter]int{}
		for i := range 70 {
			r := Run{ID: fmt.Sprint("r", i), Tenant: []string{"t", "other"}[i%2], Canvas: []string{"c", "d", "e"}[i%3]}
			require.NoError(t, s.Runs.Start(ctx, r))
			status := ends[i%len(ends)]
			if status != RunActive {
				_, err := s.Runs.End(ctx, RunEnd{ID: r.ID, Status: status}, nil)
				require.NoError(t, err)
			}
			want[RunFilter{Tenant: r.Tenant, Status: status}]++
			want[RunFilter{Tenant: r.Tenant, Canvas: r.Canvas, Status: status}]++
		}
		require.Len(t, want, 2*5*(1+3))
		for f, n := range want {
			list, total, err := s.Runs.List(ctx, f, Page{Limit: 3, Offset: 1})
			require.NoError(t, err)
			require.Equal(t, n, total, "%+v", f)
			require.Len(t, list, max(0, min(3, n-1)), "%+v", f)
			for _, r := range list {
				require.Equal(t, f.Status, r.Status)
				require.Equal(t, f.Tenant, r.Tenant)
			}
		}
	})
}
