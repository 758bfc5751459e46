package runner

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

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
