package failure_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/store"
)

// tracesAfterKills kills a host at random times while it ends runs and writes their traces. Each
// ended run has its trace once.
func tracesAfterKills(t *testing.T, bin programs, kills int) {
	w := embedded(t, bin)
	h := w.start("a")
	canvas := w.canvas(sketch.Canvas("begin Begin -> Message:M", `Message:M Message {"content":["{sys.query}"]}`))
	var mu sync.Mutex
	var runs []string
	for range kills {
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for client := range 4 {
			wg.Go(func() {
				for n := 0; ctx.Err() == nil; n++ {
					var r struct{ ID string }
					body := fmt.Sprintf(`{"query":"%d of %d"}`, n, client)
					if _, err := w.try(ctx, "POST", h.url+"/api/v2/canvases/"+canvas+"/runs", body, &r); err != nil {
						return // the host was killed
					}
					mu.Lock()
					runs = append(runs, r.ID)
					mu.Unlock()
				}
			})
		}
		require.NoError(t, pauseFor(t.Context(), time.Second+time.Duration(rand.Int64N(int64(3*time.Second)))))
		w.kill(h)
		stop()
		wg.Wait()
		h = w.start("a")
	}
	require.NotEmpty(t, runs)
	require.Eventually(t, func() bool {
		var list struct{ Items []struct{ ID string } }
		w.call("GET", h.url+"/api/v2/runs?status=running", "", &list)
		return len(list.Items) == 0
	}, patience, 50*time.Millisecond)
	written := func() bool { return metric(h.url, "easel_traces_waiting") == 0 }
	require.Eventually(t, written, patience, 50*time.Millisecond)
	w.kill(h)

	s, err := store.Open(t.Context(), store.Config{Dir: filepath.Join(w.dir, "data")})
	require.NoError(t, err)
	defer s.Close()
	blocks, err := s.Traces.Since(t.Context(), "")
	require.NoError(t, err)
	times := map[string]int{}
	for _, b := range blocks {
		for entry := range strings.Lines(string(b.Runs)) {
			id, _, _ := strings.Cut(entry, " ")
			times[id]++
		}
	}
	for _, run := range runs {
		require.Equal(t, 1, times[run], "run %s of %d", run, len(runs))
	}
	t.Logf("%d runs in %d blocks after %d kills", len(runs), len(blocks), kills)
}
