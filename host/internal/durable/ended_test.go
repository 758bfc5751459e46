package durable

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/store"
)

// TestEndedRunIsNotDoneAgain: a server of the log that lost its power has forgotten how a run ended, of which the
// records and the next turn of its session know. The log gets its end; nothing is done or saved twice.
func TestEndedRunIsNotDoneAgain(t *testing.T) {
	b := newBench(t)
	canvas := b.canvas(waiting)
	session := b.session(canvas, waiting)
	j := b.start(Job{Canvas: canvas, Session: session, Keep: KeepSession, Query: engine.String("x")})
	require.Eventually(t, func() bool { return b.ran.Load() == 1 }, 20*time.Second, time.Millisecond)

	v, err := b.store.Session(t.Context(), "t", session)
	require.NoError(t, err)
	for _, run := range []string{j.ID, "next"} {
		v.LastRun, v.Rounds = run, v.Rounds+1
		v.Rev, err = b.store.EndRun(t.Context(), store.RunEnd{ID: run, Status: store.RunDone}, &v)
		require.NoError(t, err)
	}
	b.close() // the log still says that the run waits
	b.open()
	records := b.read(j.ID)
	require.Regexp(t, "takeover end$", kinds(records))
	require.Equal(t, store.RunDone, ParseEnd(records[len(records)-1].Data).Status)
	require.EqualValues(t, 1, b.ran.Load(), "no step is done again")
	now, err := b.store.Session(t.Context(), "t", session)
	require.NoError(t, err)
	require.Equal(t, []any{v.Rev, "next", int64(2)}, []any{now.Rev, now.LastRun, now.Rounds})
}
