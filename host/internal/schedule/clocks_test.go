package schedule

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/testing/brokertest"
)

// open makes the queue, as the run log does, and opens the schedules in it.
func open(t *testing.T, conn *broker.Conn) *Clocks {
	t.Helper()
	_, err := conn.Stream(t.Context(), jetstream.StreamConfig{
		Name: conn.Name("RUNS"), Subjects: []string{conn.Subject("rq", "*"), conn.Subject("sched", "*")},
		Retention: jetstream.WorkQueuePolicy, AllowMsgSchedules: true, AllowMsgTTL: true,
		AllowDirect: true, AllowRollup: true,
	}, nil)
	require.NoError(t, err)
	s, err := OpenClocks(t.Context(), conn)
	require.NoError(t, err)
	return s
}

func TestList(t *testing.T) { brokertest.OnBoth(t, testList) }

func testList(t *testing.T, conn *broker.Conn) {
	s, ctx := open(t, conn), t.Context()
	require.Error(t, s.Put(ctx, Clock{ID: "bad", When: "now and then", Job: []byte("x")}))
	nightly := Clock{ID: "nightly c1", When: "@every 1h", Job: []byte("in")}
	require.NoError(t, s.Put(ctx, nightly))
	cron := Clock{ID: "cron", When: "0 30 3 * * *", Zone: "Europe/Berlin", Job: make([]byte, 9<<20)}
	require.NoError(t, s.Put(ctx, cron), "also a job larger than a message")
	list, err := s.List(ctx)
	require.NoError(t, err)
	require.ElementsMatch(t, []Clock{nightly, cron}, list)
	require.NoError(t, s.Delete(ctx, nightly.ID))
	require.NoError(t, s.Delete(ctx, nightly.ID), "a missing one is no error")
	list, err = s.List(ctx)
	require.NoError(t, err)
	require.Equal(t, []Clock{cron}, list)
}

// While no host takes its runs only the newest one waits, so that a host that returns is not
// flooded.
func TestMissedRunsOfAScheduleWaitOnce(t *testing.T) { brokertest.OnBoth(t, testMissedRuns) }

func testMissedRuns(t *testing.T, conn *broker.Conn) {
	s, ctx := open(t, conn), t.Context()
	require.NoError(t, s.Put(ctx, Clock{ID: "s", When: "@every 1s", Job: []byte("c")}))
	queue := func() (last, waiting uint64) {
		info, err := s.runs.Info(ctx, jetstream.WithSubjectFilter(conn.Subject("rq", "*")))
		require.NoError(t, err)
		for _, n := range info.State.Subjects {
			waiting += n
		}
		return info.State.LastSeq, waiting
	}
	first, _ := queue()
	require.Eventually(t, func() bool {
		last, waiting := queue()
		require.LessOrEqual(t, waiting, uint64(1))
		return last >= first+3
	}, 2*time.Minute, 50*time.Millisecond, "three times have come")
	_, waiting := queue()
	require.EqualValues(t, 1, waiting)
}
