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
// down, the hosts' memory does not grow with what waits, and in the end every reader gets everything.
func slowConsumer(t *testing.T, bin programs) {
	w := shared(t, bin, 1)
	w.env = append(w.env, "GOGC=20") // so that memory is what is held, not what is left over
	a := w.start("a")
	b := w.start("b")
	canvas := w.canvas(talk)
	const query, readers = "words:2500 wide:3000", 20

	alone := time.Now()
	w.follow(w.run(a, canvas, "", query), 0, nil).wait()
	took := time.Since(alone)

	began := time.Now()
	run := w.run(a, canvas, "", query)
	fast := w.follow(run, 0, nil)
	var slow []*http.Response
	for i := range readers {
		slow = append(slow, w.open([]string{a.url, b.url}[i%2], run))
	}
	beforeA, beforeB := memory(t, a), memory(t, b)
	<-fast.done
	require.Less(t, time.Since(began), 3*took+5*time.Second, "alone it took %v", took)
	grownA, grownB := memory(t, a)-beforeA, memory(t, b)-beforeB
	grown := grownA + grownB
	t.Logf("alone %v, with %d readers that do not read %v; hosts grew by %d and %d MiB", took, readers, time.Since(began), grownA>>20, grownB>>20)
	total := 0
	for _, e := range fast.events {
		total += len(e.data)
	}
	require.Less(t, grown, readers*total/3, "each reader is owed %d bytes", total)
	require.Zero(t, w.runLog().State.Consumers, "no reader has a consumer")
	all := fast.wait()
	for i, res := range slow {
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
