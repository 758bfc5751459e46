package runner

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

func TestSchedule(t *testing.T) { onBoth(t, testSchedule) }

func testSchedule(t *testing.T, cfg Config) {
	l := openTest(t, cfg)
	ctx := t.Context()
	ran := make(chan *Lease, 10)
	go func() {
		_ = l.Work(ctx, func(_ context.Context, e *Lease) error {
			ran <- e
			return nil
		})
	}()
	require.Error(t, l.Schedule(ctx, Schedule{ID: "bad", When: "now and then", Run: Run{ID: "x"}}))
	s := Schedule{ID: "nightly c1", When: "@every 1s", Run: Run{ID: "c1", Data: []byte("in")}}
	require.NoError(t, l.Schedule(ctx, s))
	require.NoError(t, l.Schedule(ctx, Schedule{ID: "cron", When: "0 30 3 * * *", Zone: "Europe/Berlin", Run: Run{ID: "c2"}}))
	list, err := l.Schedules(ctx)
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Contains(t, list, s)
	first, second := <-ran, <-ran
	require.NotEqual(t, first.Run.ID, second.Run.ID, "each time is a run of its own")
	require.Equal(t, "in", string(first.Run.Data))
	require.Equal(t, []string{"c1"}, first.Run.Tasks)
	require.NoError(t, l.Unschedule(ctx, s.ID))
	list, err = l.Schedules(ctx)
	require.NoError(t, err)
	require.Len(t, list, 1)
}

// A schedule goes on while no host takes its runs; only the newest of them
// waits, so that a host that comes back is not flooded.
func TestMissedRunsOfAScheduleWaitOnce(t *testing.T) { onBoth(t, testMissedRuns) }

func testMissedRuns(t *testing.T, cfg Config) {
	l := openTest(t, cfg)
	require.NoError(t, l.Schedule(t.Context(), Schedule{ID: "s", When: "@every 1s", Run: Run{ID: "c"}}))
	queue := func() (last uint64, waiting uint64) {
		state := stateOf(t, l.runs, jetstream.WithSubjectFilter(l.subject("rq", "*")))
		for _, n := range state.Subjects {
			waiting += n
		}
		return state.LastSeq, waiting
	}
	first, _ := queue()
	require.Eventually(t, func() bool {
		last, waiting := queue()
		require.LessOrEqual(t, waiting, uint64(1))
		return last >= first+3
	}, patience, 50*time.Millisecond, "three times have come")
	_, waiting := queue()
	require.EqualValues(t, 1, waiting)
}
