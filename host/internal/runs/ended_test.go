package runs

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/runstest"
)

// TestEndedRunIsNotExecutedAgain: a server of the log that lost its power has forgotten how a run
// ended, of which the records and the next turn of its session know. The log gets its end; nothing
// is done or saved twice.
func TestEndedRunIsNotExecutedAgain(t *testing.T) {
	b := newBench(t)
	canvas := b.Canvas(runstest.Waiting)
	session := b.Session(canvas, runstest.Waiting)
	j := b.start(Job{Canvas: canvas, Session: session, Keep: KeepSession, Query: engine.String("x")})
	require.Eventually(t, func() bool { return b.Ran.Load() == 1 }, runstest.Patience, time.Millisecond)

	v, err := b.Store.Sessions.Get(t.Context(), "t", session)
	require.NoError(t, err)
	for _, run := range []string{j.ID, "next"} {
		v.LastRun, v.Rounds = run, v.Rounds+1
		v.Rev, err = b.Store.Runs.End(t.Context(), store.RunEnd{ID: run, Status: store.RunDone}, &v)
		require.NoError(t, err)
	}
	b.Close() // in the log the run still waits
	b.Open()
	records := b.read(j.ID)
	require.Regexp(t, "takeover end$", kinds(records))
	require.Equal(t, store.RunDone, EndOf(records[len(records)-1]).Status)
	require.EqualValues(t, 1, b.Ran.Load(), "no step is done again")
	now, err := b.Store.Sessions.Get(t.Context(), "t", session)
	require.NoError(t, err)
	require.Equal(t, []any{v.Rev, "next", int64(2)}, []any{now.Rev, now.LastRun, now.Rounds})
}

// TestForgottenEndIsWrittenAgain: the log's server has lost the end of a run together with the note
// of it. A reader of its events does not wait for ever.
func TestForgottenEndIsWrittenAgain(t *testing.T) {
	b := newBench(t)
	row := store.Run{ID: "r", Tenant: "t", Canvas: b.Canvas(runstest.Talk), Message: "m"}
	require.NoError(t, b.Store.Runs.Start(t.Context(), row))
	_, err := b.Store.Runs.End(t.Context(), store.RunEnd{ID: "r", Status: store.RunDone}, nil)
	require.NoError(t, err)
	lease, err := b.Log.Claim(t.Context(), runlog.Run{ID: "r"})
	require.NoError(t, err)
	_, err = lease.Append(t.Context(), runlog.Record{Kind: "half", Data: []byte(`{}`)})
	require.NoError(t, err)
	b.Close()
	forget(t, b.Dir)
	b.Open()
	kept, err := b.runs.Kept(t.Context(), row)
	require.NoError(t, err)
	require.True(t, kept)
	records := b.read("r")
	require.Equal(t, "half takeover end", kinds(records))
	require.Equal(t, store.RunDone, EndOf(records[len(records)-1]).Status)
}

// forget deletes the queue and the notes of a closed run log.
func forget(t *testing.T, dir string) {
	for _, stream := range []string{"easel_RUNS", "easel_OWN"} {
		require.NoError(t, os.RemoveAll(filepath.Join(dir, "nats", "jetstream", "$G", "streams", stream)))
	}
}
