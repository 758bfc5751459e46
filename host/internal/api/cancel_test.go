package api

import (
	"sort"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/store"
)

// TestCancelAmongManyRuns cancels 200 runs that wait, each with a reader, and
// measures until the reader's stream ends.
func TestCancelAmongManyRuns(t *testing.T) {
	s := newSite(t)
	id := s.canvas("a", slow)
	const runs = 200
	took := make([]time.Duration, runs)
	var readers, ready sync.WaitGroup
	begun := make([]time.Time, runs)
	ids := make([]string, runs)
	for i := range runs {
		ids[i] = s.post("/api/v2/canvases/"+id+"/runs", `{}`).body.Get("id").Str()
		ready.Add(1)
		readers.Go(func() {
			events := s.watch("/api/v2/runs/"+ids[i]+"/events", "", 1)
			require.NotEmpty(t, events)
			ready.Done()
			s.watch("/api/v2/runs/"+ids[i]+"/events", events[0].id, 0)
			took[i] = time.Since(begun[i])
		})
	}
	ready.Wait()
	require.Equal(t, runs, s.runs.Active())
	for i := range runs {
		begun[i] = time.Now()
		require.Equal(t, 202, s.post("/api/v2/runs/"+ids[i]+"/cancel", "").status)
	}
	readers.Wait()
	sort.Slice(took, func(i, j int) bool { return took[i] < took[j] })
	t.Logf("cancel to the end of the stream: p50 %v, p99 %v", took[runs/2], took[runs*99/100])
	require.Less(t, took[runs*99/100], 2*time.Second)
	require.Equal(t, store.RunCanceled, s.get("/api/v2/runs/"+ids[0]).body.Get("status").Str())
}
