package ragflow_test

import (
	"sort"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// TestCancelAmongManyRuns cancels 200 runs that wait, each with a reader, and
// measures until the reader's stream ends.
func TestCancelAmongManyRuns(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", apitest.Slow)
	best := time.Hour
	for range 3 { // a busy machine may be late, but not each time
		took := cancelMany(s, id, 200)
		sort.Slice(took, func(i, j int) bool { return took[i] < took[j] })
		p99 := took[len(took)*99/100]
		t.Logf("cancel to the end of the stream: p50 %v, p99 %v", took[len(took)/2], p99)
		if best = min(best, p99); best < 2*time.Second {
			break
		}
	}
	require.Less(t, best, 2*time.Second)
}

// cancelMany starts runs, each with a reader, cancels all, and returns how long each took to end
// its stream.
func cancelMany(s *apitest.Site, canvas string, runs int) []time.Duration {
	s.T.Helper()
	took := make([]time.Duration, runs)
	var readers, ready sync.WaitGroup
	begun := make([]time.Time, runs)
	ids := make([]string, runs)
	for i := range runs {
		ids[i] = s.Post("/api/v2/canvases/"+canvas+"/runs", `{}`).Body.Get("id").Str()
		ready.Add(1)
		readers.Go(func() {
			events := s.Watch("/api/v2/runs/"+ids[i]+"/events", "", 1)
			require.NotEmpty(s.T, events)
			ready.Done()
			s.Watch("/api/v2/runs/"+ids[i]+"/events", events[0].ID, 0)
			took[i] = time.Since(begun[i])
		})
	}
	ready.Wait()
	require.Equal(s.T, runs, s.Runs.Active())
	for i := range runs {
		begun[i] = time.Now()
		require.Equal(s.T, 202, s.Post("/api/v2/runs/"+ids[i]+"/cancel", "").Status)
	}
	readers.Wait()
	require.Equal(s.T, store.RunCanceled, s.Get("/api/v2/runs/"+ids[0]).Body.Get("status").Str())
	return took
}
