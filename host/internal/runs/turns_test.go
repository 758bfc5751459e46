package runs

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/runstest"
)

// requireTurn takes a turn in a session and returns its answer. The session must be free long
// before a turn times out.
func (b *bench) requireTurn(canvas, session, query string) (answer string) {
	b.T.Helper()
	ctx, stop := context.WithTimeout(b.T.Context(), runstest.Patience)
	defer stop()
	j := Job{Tenant: "t", Canvas: canvas, Session: session, Keep: KeepSession, Query: engine.String(query)}
	j, err := b.runs.Start(ctx, j)
	require.NoError(b.T, err)
	var said Transcript
	for _, r := range b.read(j.ID) {
		said.Take(r)
	}
	v, err := b.Store.Sessions.Get(b.T.Context(), "t", session)
	require.NoError(b.T, err)
	require.NotEqual(b.T, j.ID, v.Run, "the turn has freed its session; a recovered run may hold it now")
	return said.Text.String()
}

// TestClaimAndRunAreOneCommit: a turn that cannot be written does not hold its session, now and
// after a restart.
func TestClaimAndRunAreOneCommit(t *testing.T) {
	b := newBench(t)
	canvas := b.Canvas(runstest.Talk)
	session := b.Session(canvas, runstest.Talk)
	taken := b.start(Job{Canvas: canvas})
	b.read(taken.ID)
	turn := Job{Tenant: "t", Canvas: canvas, Session: session, Keep: KeepSession}
	existing, nowhere, foreign := turn, turn, turn
	existing.ID, nowhere.From, foreign.Canvas = taken.ID, "No:Node", b.Canvas(runstest.Talk)
	_, err := b.runs.Start(t.Context(), existing)
	require.ErrorIs(t, err, store.ErrExists)
	_, err = b.runs.Start(t.Context(), nowhere)
	require.ErrorIs(t, err, ErrCanvas)
	_, err = b.runs.Start(t.Context(), foreign)
	require.ErrorIs(t, err, ErrSession)
	v, err := b.Store.Sessions.Get(t.Context(), "t", session)
	require.NoError(t, err)
	require.Empty(t, v.Run)

	b.Close()
	b.Open()
	require.Equal(t, "You said x", b.requireTurn(canvas, session, "x"))
}

// TestTurnThatTheLogDoesNotTakeFreesItsSession: the end of its run and the claim are one commit
// too.
func TestTurnThatTheLogDoesNotTakeFreesItsSession(t *testing.T) {
	b := newBench(t)
	canvas := b.Canvas(runstest.Talk)
	session := b.Session(canvas, runstest.Talk)
	require.NoError(t, b.NATS.Close())
	j, err := b.runs.Start(t.Context(), Job{Tenant: "t", Canvas: canvas, Session: session, Keep: KeepSession})
	require.ErrorIs(t, err, runlog.ErrStopping)
	v, err := b.Store.Sessions.Get(t.Context(), "t", session)
	require.NoError(t, err)
	require.Empty(t, v.Run)
	_, err = b.Store.Runs.Get(t.Context(), "t", j.ID)
	require.ErrorIs(t, err, store.ErrNotFound, "a refused start is not in the history")
	b.runs.Close()
	require.NoError(t, b.Store.Close())
	b.Open()
	b.requireTurn(canvas, session, "x")
}

// watched is a context that signals when a caller starts to wait for its end.
type watched struct {
	context.Context
	waiting func()
}

func (w watched) Done() <-chan struct{} {
	w.waiting()
	return w.Context.Done()
}

// TestStopEndsWaitingTurns: those that wait on this host for each other, and the one that waits for
// another host's run.
func TestStopEndsWaitingTurns(t *testing.T) {
	b := newBench(t)
	canvas := b.Canvas(runstest.Waiting)
	here, elsewhere := b.Session(canvas, runstest.Waiting), b.Session(canvas, runstest.Waiting)
	b.start(Job{Canvas: canvas, Session: here, Keep: KeepSession})
	require.Eventually(t, func() bool { return b.Ran.Load() == 1 }, runstest.Patience, time.Millisecond)
	v, err := b.Store.Sessions.Get(t.Context(), "t", elsewhere)
	require.NoError(t, err)
	foreign := store.Run{ID: "foreign", Tenant: "t", Canvas: canvas, Session: elsewhere}
	require.NoError(t, b.Store.Runs.StartTurn(t.Context(), foreign, v))

	ended := make(chan error)
	turns := []string{here, here, elsewhere, elsewhere}
	var waits sync.WaitGroup
	for _, session := range turns {
		waits.Add(1)
		ctx := watched{t.Context(), sync.OnceFunc(waits.Done)}
		go func() {
			_, err := b.runs.Start(ctx, Job{Tenant: "t", Canvas: canvas, Session: session, Keep: KeepSession})
			ended <- err
		}()
	}
	waits.Wait()
	b.runs.Stop()
	for range turns {
		select {
		case err := <-ended:
			require.ErrorIs(t, err, ErrClosed)
			require.ErrorContains(t, err, "session")
		case <-time.After(runstest.Patience):
			require.FailNow(t, "a turn waits although its host stops")
		}
	}
	_, err = b.runs.Start(t.Context(), Job{Tenant: "t", Canvas: canvas})
	require.ErrorIs(t, err, ErrClosed)
	require.Len(t, b.Log.Active(), 1, "the run that was accepted continues")
}

// TestStopEndsAQueuedTurn: a run of the queue that waits for its session is handed over, and that
// is no death.
func TestStopEndsAQueuedTurn(t *testing.T) {
	b := newBench(t)
	canvas := b.Canvas(runstest.Talk)
	session := b.Session(canvas, runstest.Talk)
	v, err := b.Store.Sessions.Get(t.Context(), "t", session)
	require.NoError(t, err)
	foreign := store.Run{ID: "foreign", Tenant: "t", Session: session}
	require.NoError(t, b.Store.Runs.StartTurn(t.Context(), foreign, v))
	j := Job{ID: "queued", Message: "m", Tenant: "t", Canvas: canvas, Session: session, Keep: KeepSession}
	data, err := json.Marshal(&j)
	require.NoError(t, err)
	require.NoError(t, b.Log.Submit(t.Context(), runlog.Run{ID: "queued", Data: data}))
	require.Eventually(t, func() bool {
		_, err := b.Store.Runs.Get(t.Context(), "t", "queued")
		return err == nil
	}, runstest.Patience, time.Millisecond, "it is claimed, and its row is written before it waits")

	deaths := make(chan uint64, 1)
	b.only(func(_ context.Context, _ *Runs, e *runlog.Lease) error {
		if e.Run.ID == "queued" {
			deaths <- e.Run.Failures
		}
		return nil
	})
	select {
	case n := <-deaths:
		require.Zero(t, n)
	case <-time.After(runstest.Patience):
		require.FailNow(t, "the run is lost")
	}
}

// TestWaitingTurnTriggersTheSearchForLostRuns: a host has died between accepting a turn and
// claiming its run. The next turn of its session does not wait for the regular scan.
func TestWaitingTurnTriggersTheSearchForLostRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Close()
	b.scanEvery = time.Hour
	b.Open()
	canvas := b.Canvas(runstest.Talk)
	session := b.Session(canvas, runstest.Talk)
	b.read(b.start(Job{Canvas: canvas}).ID) // the first scan is over, or this run's start has not been in it
	v, err := b.Store.Sessions.Get(t.Context(), "t", session)
	require.NoError(t, err)
	lost := Job{ID: "lost", Message: "m", Tenant: "t", Canvas: canvas, Session: session, Keep: KeepSession}
	data, err := json.Marshal(&lost)
	require.NoError(t, err)
	row := store.Run{ID: lost.ID, Tenant: "t", Canvas: canvas, Session: session, Message: "m", Input: data}
	require.NoError(t, b.Store.Runs.StartTurn(t.Context(), row, v))
	require.Equal(t, "You said y", b.requireTurn(canvas, session, "y"))
	v, err = b.Store.Sessions.Get(t.Context(), "t", session)
	require.NoError(t, err)
	require.EqualValues(t, 2, v.Rounds, "the lost turn is done, too")
}
