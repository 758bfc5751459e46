package failure_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// slowConsumer opens connections to two hosts that it does not read while a run writes megabytes.
// The run is not slowed down, the hosts do not buffer it all, and in the end every reader gets
// everything.
func slowConsumer(t *testing.T, bin programs) {
	w := shared(t, bin, 1)
	w.env = append(w.env, "GOGC=20") // see live
	a := w.start("a")
	b := w.start("b")
	canvas := w.canvas(talk)
	const words, readers = 1500, 20
	query := fmt.Sprintf("words:%d wide:12000", words)

	// late follows a run and records the memory of the hosts when most of the text is sent: before
	// its end, whose events contain the whole text several times.
	late := func(run string) (r *reader, held, owed *int) {
		said := 0
		held, owed = new(int), new(int)
		return w.follow(run, 0, func(e event) {
			if e.kind != "message" {
				return
			}
			if *held > 0 { // most was sent
				return
			}
			// An event has all words that have come since the one before.
			*owed += readers * len(e.data)
			if said += strings.Count(e.data, "word"); said >= words*9/10 {
				*held = live(a) + live(b)
			}
		}), held, owed
	}
	alone := time.Now()
	first, before, _ := late(w.run(a, canvas, "", query))
	first.wait()
	took := time.Since(alone)

	began := time.Now()
	run := w.run(a, canvas, "", query)
	fast, after, owed := late(run)
	var slow []*http.Response
	for i := range readers {
		slow = append(slow, w.open([]string{a.url, b.url}[i%2], run))
	}
	<-fast.done
	t.Logf("the readers are owed %d MiB, the hosts hold %d MiB, without them %d", *owed>>20, *after>>20, *before>>20)
	require.Positive(t, *before)
	require.Positive(t, *after)
	require.Less(t, *after-*before, *owed/3)
	require.Less(t, time.Since(began), 3*took+5*time.Second, "alone it took %v", took)
	t.Logf("alone %v, with %d readers that do not read %v", took, readers, time.Since(began))
	require.Zero(t, w.runLog().State.Consumers, "no reader has a consumer")
	all := fast.wait()
	got, errs := make([]*reader, readers), make([]error, readers)
	var both sync.WaitGroup // one reader of each host at a time
	for host := range 2 {
		both.Go(func() {
			for i := host; i < readers; i += 2 {
				got[i] = &reader{w: w, run: run, known: all}
				ended, err := got[i].drain(slow[i].Body, func() {})
				if err == nil && !ended {
					err = io.ErrUnexpectedEOF
				}
				errs[i] = errors.Join(err, slow[i].Body.Close())
			}
		})
	}
	both.Wait()
	for i, r := range got {
		require.NoError(t, errs[i], "reader %d", i)
		requireSame(t, all, r.events)
	}
}

// open requests a run's events and reads only the head of the answer.
func (w *world) open(url, run string) *http.Response {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	req, err := http.NewRequestWithContext(w.t.Context(), "GET", url+"/api/v2/runs/"+run+"/events", nil)
	require.NoError(w.t, err)
	req.Header.Set("Authorization", "Bearer "+w.key)
	res, err := client.Do(req)
	require.NoError(w.t, err)
	return res
}

// live returns the size of a host's heap after its last collection, in bytes. It is read off the
// size at which the next one begins, which GOGC=20 puts a fifth above.
func live(h *hostProcess) int { return int(metric(h.url, "go_memstats_next_gc_bytes") / 1.2) }
