package schedule

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/runstest"
	"github.com/easel-canvas/easel/plugins/contract"
)

// feed is a plugin that returns the events after its cursor.
type feed struct {
	mu      sync.Mutex
	kind    contract.TriggerKind
	events  []contract.TriggerItem
	cursor  int
	calls   int
	fail    error // of the next calls
	failing error // of commits
	params  engine.Value
}

func (f *feed) CheckTrigger(_ context.Context, _, plugin string, params engine.Value) (contract.TriggerKind, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if plugin != "feed" {
		return "", contract.Errorf(contract.NotFound, "not installed")
	}
	if params.Get("bad").True() {
		return "", contract.Errorf(contract.InvalidArgument, "params.bad: unknown")
	}
	return f.kind, nil
}

func (f *feed) CallTrigger(_ context.Context, c TriggerCall) (contract.Triggered, func(context.Context) error, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	f.params = c.Params
	if f.fail != nil {
		return contract.Triggered{}, nil, f.fail
	}
	items, next := f.events[f.cursor:], len(f.events)
	return contract.Triggered{Items: items}, func(context.Context) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.failing != nil {
			return f.failing
		}
		f.cursor = next
		return nil
	}, nil
}

func (f *feed) add(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for range n {
		text := fmt.Sprintf("event %d", len(f.events))
		f.events = append(f.events, contract.TriggerItem{ID: text, Query: text})
	}
}

func (f *feed) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func newFeedBench(t *testing.T, f *feed) *bench {
	b := &bench{Host: runstest.New(t), triggers: f}
	b.Start = b.start
	b.Open()
	t.Cleanup(b.Close)
	return b
}

// queries counts the runs of a schedule that were done, by their query.
func (b *bench) queries(s Schedule) map[string]int {
	b.T.Helper()
	out := map[string]int{}
	for _, r := range b.history(s, store.RunDone) {
		var said strings.Builder
		for _, rec := range b.Read(b.runs.Follow, r.ID) {
			if rec.Kind == string(engine.EventMessage) {
				v, err := engine.ParseJSON(rec.Data)
				require.NoError(b.T, err)
				said.WriteString(v.Get("data").Get("content").Str())
			}
		}
		out[strings.TrimPrefix(said.String(), "You said ")]++
	}
	return out
}

// Each event of a plugin begins one run, although calls fail before and after their runs begin and
// the host changes.
func TestTriggerStartsARunForEachEvent(t *testing.T) {
	f := &feed{kind: contract.TriggerPoll}
	f.add(3)
	b := newFeedBench(t, f)
	s := b.schedule(Schedule{
		Trigger: Trigger{Plugin: "feed", Params: engine.Object("url", "x")},
		Job:     runs.Job{Canvas: b.Canvas(runstest.Talk)},
	})
	b.waitFor(s, store.RunDone, 3)
	require.Equal(t, "x", f.params.Get("url").Str())

	f.set(func() { f.failing = errors.New("disk on fire") })
	f.add(2)
	b.waitFor(s, store.RunDone, 5)
	b.waitFor(s, store.RunCanceled, 2)
	for _, left := range b.history(s, store.RunCanceled) {
		require.Contains(t, left.Error, "disk on fire")
	}
	b.reopen(nil)
	f.set(func() { f.failing = nil })
	f.add(1)
	b.waitFor(s, store.RunDone, 6)

	f.set(func() { f.fail = contract.Errorf(contract.Upstream, "the feed is down") })
	require.Eventually(t, func() bool {
		left := b.history(s, store.RunCanceled)
		return len(left) > 0 && strings.Contains(left[0].Error, "the feed is down")
	}, runstest.Patience, 10*time.Millisecond)
	require.NoError(t, b.schedules.Delete(t.Context(), "t", s.ID))
	want := map[string]int{}
	for i := range 6 {
		want[fmt.Sprintf("event %d", i)] = 1
	}
	require.Equal(t, want, b.queries(s))
}

// A call that is repeated, at every point at which its host may have crashed, starts no run twice.
func TestTriggerIsRepeatedAfterEachStep(t *testing.T) {
	f := &feed{kind: contract.TriggerWebhook}
	f.add(4)
	b := newFeedBench(t, f)
	s := b.schedule(Schedule{
		Name: "hook", When: noTimes, Trigger: Trigger{Plugin: "feed"},
		Job: runs.Job{Canvas: b.Canvas(runstest.Talk), Fresh: true, Session: "new"},
	})
	require.True(t, s.Hook)
	b.hasClocks(0)
	state, err := s.Next(3, time.Now(), time.Time{})
	require.NoError(t, err)
	require.Empty(t, state)
	for begun := range len(f.events) + 1 {
		for _, item := range f.events[:begun] {
			require.NoError(t, b.schedules.begin(t.Context(), &s, &item))
		}
		_, err := b.schedules.Fire(t.Context(), s, TriggerCall{ID: "1"})
		require.NoError(t, err)
		f.set(func() { f.cursor = 0 })
	}
	b.waitFor(s, store.RunDone, 4)
	require.Equal(t, map[string]int{"event 0": 1, "event 1": 1, "event 2": 1, "event 3": 1}, b.queries(s))

	f.set(func() { f.events = []contract.TriggerItem{{Query: "no id"}} })
	for range 2 {
		f.set(func() { f.cursor = 0 })
		_, err := b.schedules.Fire(t.Context(), s, TriggerCall{ID: "1"})
		require.NoError(t, err)
	}
	b.waitFor(s, store.RunDone, 6)
	require.Equal(t, 2, b.queries(s)["no id"], "an item without an id begins a run each time")
}

func TestTriggersThatAreRefused(t *testing.T) {
	f := &feed{kind: contract.TriggerPoll}
	b := newFeedBench(t, f)
	canvas := b.Canvas(runstest.Talk)
	session := b.Session(canvas, runstest.Talk)
	hourly, feed := When{Every: "1h"}, Trigger{Plugin: "feed"}
	badParams := engine.Object("bad", true)
	for want, s := range map[string]Schedule{
		"not installed":                     {When: hourly, Trigger: Trigger{Plugin: "other"}},
		"params.bad: unknown":               {When: hourly, Trigger: Trigger{Plugin: "feed", Params: badParams}},
		"params belong to a plugin":         {When: hourly, Trigger: Trigger{Params: engine.Object("a", 1)}},
		"runs of a plugin have no common":   {When: hourly, Trigger: feed, Job: runs.Job{Session: session}},
		"expected either every or cron":     {Trigger: feed},
		"called with requests; leave every": {When: hourly, Trigger: feed, Name: "hook"},
	} {
		f.set(func() { f.kind = contract.TriggerPoll })
		if s.Name == "hook" {
			f.set(func() { f.kind = contract.TriggerWebhook })
		}
		s.Tenant, s.Name, s.Job.Canvas = "t", "s", canvas
		_, err := b.schedules.Put(t.Context(), s)
		require.ErrorContains(t, err, want)
	}
	f.set(func() { f.kind = contract.TriggerPoll })
	s := b.schedule(Schedule{When: hourly, Trigger: Trigger{Plugin: "feed"}, Job: runs.Job{Canvas: canvas}})
	s.Plugin, s.Paused = "removed", true
	s = b.schedule(s)
	require.True(t, s.Paused, "a schedule is paused although its plugin is gone")
}
