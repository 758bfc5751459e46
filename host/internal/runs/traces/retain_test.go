package traces

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/runstest"
)

// Days are deleted by age, and the oldest ones when all are too large; their documents go with the
// last run that used them.
func TestRetention(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	var rows []store.Run
	for i := range 4 {
		b.Later.Store(int64(i) * int64(24*time.Hour))
		row, _ := b.run(b.Canvas(runstest.Talk[:len(runstest.Talk)-1]+`,"day":`+engine.Int(int64(i)).JSON()+"}"), "x")
		b.kept(row)
		rows = append(rows, row)
	}
	left := func() (n int) {
		for _, row := range rows {
			_, err := b.traces.Records(ctx, row)
			if err == nil {
				n++
				continue
			}
			require.ErrorIs(t, err, runs.ErrGone)
		}
		return n
	}
	require.NoError(t, b.traces.Retain(ctx))
	require.Equal(t, 4, left())

	uses, err := b.traces.Uses(ctx, "t")
	require.NoError(t, err)
	require.Len(t, uses, 4)
	all := int64(0)
	for _, u := range uses {
		all += u.Size
	}
	require.NoError(t, b.traces.SetSettings(ctx, "t", Settings{Days: 30, Bytes: all - 1}))
	require.NoError(t, b.traces.Retain(ctx))
	require.Equal(t, 3, left())

	require.NoError(t, b.traces.SetSettings(ctx, "t", Settings{Days: 1, Bytes: 1 << 30}))
	require.NoError(t, b.traces.Retain(ctx))
	require.Equal(t, 2, left())

	require.NoError(t, b.traces.SetSettings(ctx, "t", Settings{Days: 1, Bytes: 1}))
	require.NoError(t, b.traces.Retain(ctx))
	require.Equal(t, 1, left(), "the current day stays")

	require.NoError(t, b.traces.SetSettings(ctx, "t", Settings{}))
	require.NoError(t, b.traces.Retain(ctx))
	require.Zero(t, left())
	uses, err = b.traces.Uses(ctx, "")
	require.NoError(t, err)
	require.Empty(t, uses)
}

// Nothing of a deleted tenant stays on the disk.
func TestDeletedTenantHasNoTraces(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	_, err := b.Store.Tenants.Put(ctx, store.Tenant{ID: "t", Name: "t"})
	require.NoError(t, err)
	row, _ := b.run(b.Canvas(runstest.Talk), "x")
	b.kept(row)
	require.NoError(t, b.Store.Tenants.Delete(ctx, "t"))
	require.NoError(t, b.traces.DeleteTenant(ctx, "t"))
	_, err = b.traces.Records(ctx, row)
	require.ErrorIs(t, err, runs.ErrGone)
	require.NoDirExists(t, filepath.Join(b.Dir, "traces", "t"))
}
