package failure_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// longText returns a canvas whose only message is n bytes long.
func longText(n int) string {
	text := strings.Repeat("long text ", n/10)
	return sketch.Chain("begin Begin", fmt.Sprintf(`M Message {"content":[%q]}`, text))
}

// wide returns a canvas of about n bytes, most of them in nodes that do not run.
func wide(n int) string {
	lines := []string{"begin Begin -> M", `M Message {"content":["fine"]}`}
	for size := 0; size < n; size += 140 {
		lines = append(lines, fmt.Sprintf(`N%d StringTransform {"method":"merge","script":"a"}`, len(lines)))
	}
	return sketch.Canvas(lines...)
}

// largeCanvases runs stored canvases of up to 8 MB 16 at once, in sessions too. The host may use
// 1 GiB; it stays below 600 MiB, small runs succeed all the time, and each large run succeeds or is
// refused with 503, 413 or host_memory.
func largeCanvases(t *testing.T, bin programs) {
	w := embedded(t, bin)
	h := w.start("a", "--memory", "1GiB")
	small := w.canvas(hello)
	type target struct{ canvas, session string }
	var targets []target
	for _, size := range []int{200e3, 1e6, 2e6, 4e6, 8e6} {
		for _, dsl := range []string{longText(size), wide(size / 2)} {
			c := target{canvas: w.canvas(dsl)}
			targets = append(targets, c, target{c.canvas, w.session(c.canvas)})
		}
	}

	load, over := context.WithCancel(t.Context())
	var users sync.WaitGroup
	answered := 0
	users.Go(func() {
		for load.Err() == nil {
			var r struct{ ID string }
			status, err := w.try(t.Context(), "POST", h.url+"/api/v2/canvases/"+small+"/runs", `{"query":"x"}`, &r)
			if !assert.NoError(t, err) || !assert.Equal(t, http.StatusAccepted, status) || !w.assertDone(r.ID) {
				return
			}
			answered++
			select {
			case <-time.After(50 * time.Millisecond):
			case <-load.Done():
			}
		}
	})
	var next, done, refused atomic.Int64
	var workers sync.WaitGroup
	for range 16 {
		workers.Go(func() {
			for i := next.Add(1); i <= largeRuns; i = next.Add(1) {
				at := targets[int(i)%len(targets)]
				ended, err := w.tryRun(h, at.canvas, at.session)
				switch {
				case !assert.NoError(t, err):
					return
				case ended.Status == "succeeded":
					done.Add(1)
				case ended.Code == "503",
					ended.Code == "413",
					strings.Contains(ended.Error, "out of memory for runs"):
					refused.Add(1)
				default:
					t.Errorf("a large run ended as %+v", ended)
				}
			}
		})
	}
	workers.Wait()
	over()
	users.Wait()
	peak := servertest.PeakMemory(t, h.PID())
	t.Logf(
		"%d large runs succeeded, %d were refused; %d small ones meanwhile; peak %d MB",
		done.Load(),
		refused.Load(),
		answered,
		peak/1e6,
	)
	require.Positive(t, answered)
	require.Positive(t, done.Load())
	require.Less(t, peak, int64(600e6))
}

// assertDone waits for a run, which must succeed.
func (w *world) assertDone(run string) bool {
	ended, err := w.settled(run)
	return assert.NoError(w.t, err) && assert.Equal(w.t, "succeeded", ended.Status, "%+v", ended)
}

// largeRuns is the number of runs of large canvases.
const largeRuns = 96

// tryRun starts a run and waits for its end. A refusal has the HTTP status as its code: 503 when
// there is no room now, 413 when there never is, as for a session that has grown with each of its
// turns.
func (w *world) tryRun(h *hostProcess, canvas, session string) (end, error) {
	var r struct{ ID string }
	body := `{"query":"x"}`
	if session != "" {
		body = fmt.Sprintf(`{"query":"x","session":%q}`, session)
	}
	status, err := w.try(w.t.Context(), "POST", h.url+"/api/v2/canvases/"+canvas+"/runs", body, &r)
	if status == http.StatusServiceUnavailable || status == http.StatusRequestEntityTooLarge {
		return end{Code: strconv.Itoa(status)}, nil
	}
	if err != nil {
		return end{}, err
	}
	return w.settled(r.ID)
}

// settled waits for the end of a run as the records store has it, which costs the host little.
func (w *world) settled(run string) (end, error) {
	for late := time.Now().Add(patience); time.Now().Before(late); time.Sleep(20 * time.Millisecond) {
		var r end
		status, err := w.try(w.t.Context(), "GET", w.any()+"/api/v2/runs/"+run, "", &r)
		if err != nil && status != http.StatusServiceUnavailable {
			return end{}, err
		}
		if err == nil && r.Status != "running" {
			return r, nil
		}
	}
	return end{}, fmt.Errorf("run %s does not end", run)
}
