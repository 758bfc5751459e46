package host_test

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// slowConsumer opens connections to two hosts that nobody reads while a run writes megabytes. The run is not slowed
// down, the hosts do not hold what waits, and in the end a reader gets everything.
func slowConsumer(t *testing.T, bin programs) {
	w := shared(t, bin, 1)
	w.env = append(w.env, "GOGC=20") // see live
	a := w.start("a")
	b := w.start("b")
	canvas := w.canvas(talk)
	const words, readers = 1500, 20
	query := fmt.Sprintf("words:%d wide:12000", words)

	before := live(a) + live(b)
	alone := time.Now()
	w.follow(w.run(a, canvas, "", query), 0, nil).wait()
	took := time.Since(alone)

	began := time.Now()
	run := w.run(a, canvas, "", query)
	said, owed, held := 0, 0, 0
	fast := w.follow(run, 0, func(e event) {
		if e.kind != "message" {
			return
		}
		// Before the end, whose events hold the whole text several times.
		if said++; said <= words*9/10 {
			owed += readers * len(e.data)
		}
		if said == words*9/10 {
			held = live(a) + live(b) - before
		}
	})
	var slow []*http.Response
	for i := range readers {
		slow = append(slow, w.open([]string{a.url, b.url}[i%2], run))
	}
	<-fast.done
	t.Logf("the readers are owed %d MiB, the hosts hold %d MiB more", owed>>20, held>>20)
	require.Positive(t, held)
	require.Less(t, held, owed/2)
	require.Less(t, time.Since(began), 3*took+5*time.Second, "alone it took %v", took)
	t.Logf("alone %v, with %d readers that do not read %v", took, readers, time.Since(began))
	require.Zero(t, w.runLog().State.Consumers, "no reader has a consumer")
	all := fast.wait()
	for i, res := range slow {
		if i >= 4 { // two of each host stand for all
			require.NoError(t, res.Body.Close())
			continue
		}
		r := &reader{w: w, run: run}
		ended, err := r.drain(res.Body, func() {})
		require.NoError(t, err, "reader %d", i)
		require.True(t, ended)
		require.NoError(t, res.Body.Close())
		requireSame(t, all, r.events)
	}
}

// open asks for a run's events and reads nothing but the head of the answer.
func (w *world) open(url, run string) *http.Response {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	req, err := http.NewRequestWithContext(w.t.Context(), "GET", url+"/api/v2/runs/"+run+"/events", nil)
	require.NoError(w.t, err)
	req.Header.Set("Authorization", "Bearer "+w.key)
	res, err := client.Do(req)
	require.NoError(w.t, err)
	return res
}

// live is what a host's last collection has left in its heap, in bytes. It is read off the size at which the next one
// begins, which GOGC=20 puts a fifth above.
func live(h *hostProcess) int { return int(metric(h.url, "go_memstats_next_gc_bytes") / 1.2) }

// memory is what a host holds in RAM, in bytes.
func memory(t testing.TB, h *hostProcess) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", h.PID()))
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, err := strconv.Atoi(strings.Fields(rest)[0])
			require.NoError(t, err)
			return n << 10
		}
	}
	require.FailNow(t, "no VmRSS")
	return 0
}
