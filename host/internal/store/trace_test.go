package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The block of an old run is found as fast as that of a new one, however many were written since.
func TestBlocksOfOldRunsAreFoundFast(t *testing.T) {
	s := openTest(t, Config{Dir: t.TempDir()})
	ctx, day := t.Context(), int64(24*time.Hour/time.Millisecond)
	const blocks, days = 3_000, 60
	for i := range int64(blocks) {
		end := day + i*days*day/blocks
		require.NoError(t, s.Traces.Add(ctx, TraceBlock{
			ID: fmt.Sprint(i), Tenant: "t", Canvas: "c", Day: "2026-11-28", Place: "p", Runs: make([]byte, 2000),
			FirstEnd: end, LastEnd: end + 1,
		}, nil))
	}
	least := func(end int64) time.Duration {
		best := time.Hour
		for range 10 {
			began := time.Now()
			found, err := s.Traces.Around(ctx, "t", "c", end, end)
			require.NoError(t, err)
			require.Len(t, found, 1)
			best = min(best, time.Since(began))
		}
		return best
	}
	end := func(i int64) int64 { return day + i*days*day/blocks }
	old, recent := least(end(0)), least(end(blocks-150))
	t.Logf("oldest %s, with 150 blocks since %s", old, recent)
	require.Less(t, old, 5*recent)
}
