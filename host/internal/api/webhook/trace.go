package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
)

// testRuns are the test runs of the last minutes on this host.
type testRuns struct {
	mu   sync.Mutex
	runs map[string][]*testRun // by canvas, oldest first
}

// testRun is one test run while a page watches it.
type testRun struct {
	mu      sync.Mutex
	id      string
	started float64 // Unix seconds
	last    float64 // ts of the last event; they grow, so that none is passed over
	events  []engine.Value
	size    int64 // bytes of memory of the events
}

const (
	testsKept      = 10 * time.Minute
	mostTestEvents = 5000
	mostTestBytes  = 4 << 20
	mostTests      = 20 // of one canvas; the oldest go
)

func unixSeconds() float64 { return float64(time.Now().UnixMicro()) / 1e6 }

// begin records a new test run. Its id contains only the time of its start.
func (w *testRuns) begin(canvas string) *testRun {
	at := unixSeconds()
	mac := hmac.New(sha256.New, []byte("webhook_id_secret"))
	mac.Write(strconv.AppendFloat(nil, at, 'f', -1, 64))
	run := &testRun{id: base64.RawURLEncoding.EncodeToString(mac.Sum(nil)), started: at}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.runs == nil {
		w.runs = map[string][]*testRun{}
	}
	for id, list := range w.runs {
		w.runs[id] = slices.DeleteFunc(list, func(r *testRun) bool { return at-r.started > testsKept.Seconds() })
		if len(w.runs[id]) == 0 {
			delete(w.runs, id)
		}
	}
	if list := w.runs[canvas]; len(list) == mostTests {
		w.runs[canvas] = slices.Delete(list, 0, 1)
	}
	w.runs[canvas] = append(w.runs[canvas], run)
	return run
}

// add notes an event that takes size bytes, while there is room.
func (r *testRun) add(e engine.Value, size int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = max(unixSeconds(), r.last+1e-6)
	if len(r.events) < mostTestEvents && r.size+size <= mostTestBytes || e.Get("event").Str() == "finished" {
		r.size += size
		r.events = append(r.events, e.With("ts", engine.Float(r.last)))
	}
}

func (r *testRun) finish(success bool) {
	r.add(engine.Object("event", "finished", "elapsed_time", unixSeconds()-r.started, "success", success), 0)
}

// find returns the first run after a time, or the one with an id.
func (w *testRuns) find(canvas, id string, since float64) *testRun {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.runs[canvas] {
		if id == "" && r.started > since || id != "" && r.id == id {
			return r
		}
	}
	return nil
}

// trace lets a page watch a test run by asking again and again: first
// for the time, then for a run after it, then for that run's events.
func (f *Face) trace(ctx context.Context, r *api.Request) (api.Response, error) {
	if _, err := f.canvas(ctx, r, envelope.NotOwner); err != nil {
		return nil, err
	}
	answer := func(id string, events []engine.Value, next float64, finished bool) (api.Response, error) {
		return envelope.OK(engine.Object("webhook_id", api.OrNull(id), "events", engine.List(events...),
			"next_since_ts", next, "finished", finished)), nil
	}
	text, id := r.Query.Get("since_ts"), r.Query.Get("webhook_id")
	if text == "" {
		return answer("", nil, unixSeconds(), false)
	}
	since, err := strconv.ParseFloat(text, 64)
	if err != nil || since-since != 0 { // infinity and NaN are not times
		return nil, api.Refused(api.KindBadArgument, "since_ts must be a number, not %.40q", text)
	}
	run := f.tests.find(r.Params["id"], id, since)
	switch {
	case run == nil && id != "":
		return answer(id, nil, since, true)
	case run == nil:
		return answer("", nil, since, false)
	case id == "":
		return answer(run.id, nil, run.started, false)
	}
	run.mu.Lock()
	defer run.mu.Unlock()
	var events []engine.Value
	finished := false
	for _, e := range run.events {
		if ts, _ := e.Get("ts").Float(); ts > since {
			events = append(events, e)
			finished = finished || e.Get("event").Str() == "finished"
		}
	}
	if len(events) > 0 {
		since = run.last
	}
	return answer(id, events, since, finished)
}
