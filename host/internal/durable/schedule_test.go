package durable

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/store"
)

// TestScheduledCanvas runs a canvas every second, over a change of hosts, until
// it is told to stop.
func TestScheduledCanvas(t *testing.T) {
	b := newBench(t)
	canvas := b.canvas(talk)
	session := b.session(canvas, talk)
	s := Schedule{Tenant: "t", Name: "every second", When: "@every 1s", Job: Job{
		Canvas: canvas, Session: session, Keep: KeepSession, Query: engine.String("tick"),
	}}
	require.NoError(t, b.runs.Schedule(t.Context(), s))
	done := func() []store.Run {
		runs, _, err := b.store.Runs(t.Context(), store.RunFilter{Tenant: "t", Status: store.RunDone}, store.Page{})
		require.NoError(t, err)
		return runs
	}
	require.Eventually(t, func() bool { return len(done()) >= 2 }, 30*time.Second, 10*time.Millisecond)
	b.close()
	b.open()
	before := len(done())
	require.Eventually(t, func() bool { return len(done()) >= before+2 }, 30*time.Second, 10*time.Millisecond)

	list, err := b.runs.Schedules(t.Context(), "t")
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, []any{s.Name, s.When, canvas, "tick"}, []any{list[0].Name, list[0].When, list[0].Job.Canvas, list[0].Job.Query.Str()})
	list, err = b.runs.Schedules(t.Context(), "somebody else")
	require.NoError(t, err)
	require.Empty(t, list)
	require.NoError(t, b.runs.Unschedule(t.Context(), "somebody else", s.Name))
	require.NoError(t, b.runs.Unschedule(t.Context(), "t", s.Name))
	list, err = b.runs.Schedules(t.Context(), "t")
	require.NoError(t, err)
	require.Empty(t, list)

	messages, sources := map[string]bool{}, map[string]bool{}
	runs := done()
	for _, r := range runs {
		messages[r.Message], sources[r.Source] = true, true
		require.Contains(t, kinds(b.read(r.ID)), "workflow_finished end")
	}
	require.Len(t, messages, len(runs), "each run has a message id of its own")
	require.Equal(t, map[string]bool{"schedule": true}, sources)
	v, err := b.store.Session(t.Context(), "t", session)
	require.NoError(t, err)
	require.GreaterOrEqual(t, int(v.Rounds), len(runs))
}

func TestScheduleIsRefused(t *testing.T) {
	b := newBench(t)
	canvas := b.canvas(talk)
	for _, test := range []struct {
		name string
		s    Schedule
		want error
	}{
		{"a time nobody understands", Schedule{When: "now and then", Job: Job{Canvas: canvas}}, store.ErrInvalid},
		{"an unknown zone", Schedule{When: "0 30 3 * * *", Zone: "Europe/Nowhere", Job: Job{Canvas: canvas}}, store.ErrInvalid},
		{"an unknown canvas", Schedule{When: "@daily", Job: Job{Canvas: "none"}}, store.ErrNotFound},
		{"a canvas that does not load", Schedule{When: "@daily", Job: Job{Canvas: b.canvas(`{"components":{"x":1}}`)}}, ErrCanvas},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.s.Tenant, test.s.Name = "t", "s"
			require.ErrorIs(t, b.runs.Schedule(t.Context(), test.s), test.want)
		})
	}
	list, err := b.runs.Schedules(t.Context(), "t")
	require.NoError(t, err)
	require.Empty(t, list)
}
