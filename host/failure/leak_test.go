package failure_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host"
)

// TestNothingLeaks does 1,000 runs in sessions and without, some followed by two readers and some
// left by theirs, and closes the host: goroutines and memory are as before.
func TestNothingLeaks(t *testing.T) {
	leakRuns(t, 50) // objects created once, also by libraries
	routines, heap := inUse()
	leakRuns(t, 1000)
	var stacks bytes.Buffer
	var after, heapAfter int
	if !waitFor(func() bool {
		after, heapAfter = inUse()
		return after <= routines && heapAfter < heap+8<<20
	}) {
		require.NoError(t, pprof.Lookup("goroutine").WriteTo(&stacks, 1))
	}
	t.Logf("goroutines %d, then %d; heap %d KiB, then %d KiB", routines, after, heap>>10, heapAfter>>10)
	require.LessOrEqual(t, after, routines, "%s", &stacks)
	require.Less(t, heapAfter, heap+8<<20)
}

// waitFor polls a condition for a while.
func waitFor(done func() bool) bool {
	for late := time.Now().Add(patience); time.Now().Before(late); time.Sleep(50 * time.Millisecond) {
		if done() {
			return true
		}
	}
	return false
}

func inUse() (routines, heap int) {
	runtime.GC()
	runtime.GC() // objects released by finalizers
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return runtime.NumGoroutine(), int(m.HeapAlloc)
}

// leakRuns opens a host, does runs on it and closes it.
func leakRuns(t *testing.T, runs int) {
	h, err := host.New(t.Context(), host.Config{
		Dir: t.TempDir(), Key: "key", Sync: host.SyncInterval, Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	server := httptest.NewServer(h.Handler())
	client := server.Client()
	ask := func(method, path, body string) string {
		req, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer key")
		res, err := client.Do(req)
		require.NoError(t, err)
		defer res.Body.Close()
		if strings.HasSuffix(body, `"leave":true}`) {
			return "" // and the rest of the stream stays unread
		}
		data, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.Less(t, res.StatusCode, 300, "%s", data)
		return string(data)
	}
	id := func(answer string) string {
		_, rest, _ := strings.Cut(answer, `"id":"`)
		out, _, ok := strings.Cut(rest, `"`)
		require.True(t, ok, answer)
		return out
	}
	canvas := id(ask("POST", "/api/v2/canvases", `{"title":"c","dsl":`+hello+`}`))
	var wg sync.WaitGroup
	const workers = 8
	for worker := range workers {
		wg.Go(func() {
			session := id(ask("POST", "/api/v2/canvases/"+canvas+"/sessions", `{}`))
			for i := worker; i < runs; i += workers {
				switch i % 4 {
				case 0:
					ask(
						"POST",
						"/api/v1/agents/"+canvas+"/completions",
						fmt.Sprintf(`{"question":"%d","stream":true,"session_id":%q}`, i, session),
					)
				case 1:
					ask(
						"POST",
						"/api/v1/agents/"+canvas+"/completions",
						fmt.Sprintf(`{"question":"%d","stream":true,"leave":true}`, i),
					)
				default:
					run := id(ask("POST", "/api/v2/canvases/"+canvas+"/runs", `{"query":"x"}`))
					ask("GET", "/api/v2/runs/"+run+"/events", "")
				}
			}
		})
	}
	wg.Wait()
	client.CloseIdleConnections()
	server.Close()
	require.NoError(t, h.Close())
}

var hello = sketch.Canvas("begin Begin -> Message:M", `Message:M Message {"content":["hello {sys.query}"]}`)
