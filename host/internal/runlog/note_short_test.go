package runlog

import (
	"context"
	"testing"
	"time"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/stretchr/testify/require"
)

// claimKept claims a run that its caller has written down.
func claimKept(t *testing.T, l *Log, id string) *Lease {
	t.Helper()
	e, err := l.Claim(t.Context(), Run{ID: id, Persisted: true})
	require.NoError(t, err)
	return e
}

func notesOf(t *testing.T, l *Log) int {
	t.Helper()
	notes, err := l.notes.subjects(t.Context(), "*")
	require.NoError(t, err)
	return len(notes)
}

// TestLongRunGetsItsNote checks that only runs longer than a short one get a note, and all runs on
// a shared server.
func TestLongRunGetsItsNote(t *testing.T) { onBoth(t, testLongRunGetsItsNote) }

func testLongRunGetsItsNote(t *testing.T, cfg setup) {
	l := openTest(t, cfg)
	long := claimKept(t, l, "long")
	if !l.Alone() {
		require.Equal(t, 1, notesOf(t, l))
	}
	require.Eventually(t, func() bool { return notesOf(t, l) == 1 }, patience, 10*time.Millisecond)
	require.NoError(t, long.End(t.Context()))
	require.Eventually(t, func() bool { return notesOf(t, l) == 0 }, patience, 10*time.Millisecond)
}

// TestEndedRunGetsNoNote reaches the time of the note after the run has ended.
func TestEndedRunGetsNoNote(t *testing.T) {
	l := openTest(t, setup{})
	e := &Lease{Run: Run{ID: "r"}, log: l, token: broker.Token("r"), over: ErrEnded}
	e.lateNote()
	require.Zero(t, notesOf(t, l))
	require.Empty(t, l.notes.book.live)
}

// TestRunWithoutNoteIsHandedOver stops a host that works on a short run: that
// is no death.
func TestRunWithoutNoteIsHandedOver(t *testing.T) {
	dir := t.TempDir()
	l, err := openLog(t.Context(), setup{Dir: dir})
	require.NoError(t, err)
	claimKept(t, l, "r")
	require.NoError(t, closeLog(l))
	requireTaken(t, openTest(t, setup{Dir: dir}), 0)
}

// TestRunWithoutNoteIsNotLost abandons a short run that can be neither ended nor queued, and one
// whose host died and that its claimer queues again.
func TestRunWithoutNoteIsNotLost(t *testing.T) {
	l := openTest(t, setup{})
	go l.rescue(claimKept(t, l, "r"))
	requireTaken(t, l, 1)

	l = openTest(t, setup{})
	require.NoError(t, l.Submit(t.Context(), Run{ID: "r", Attempt: 2}))
	requireTaken(t, l, 1)
}

// TestWaitingRunIsNotQueuedAgain submits a run that a host has handed over: the new message would
// lack its failure count.
func TestWaitingRunIsNotQueuedAgain(t *testing.T) {
	dir := t.TempDir()
	l, err := openLog(t.Context(), setup{Dir: dir})
	require.NoError(t, err)
	claimKept(t, l, "r")
	require.NoError(t, closeLog(l))
	l = openTest(t, setup{Dir: dir})
	require.NoError(t, l.Submit(t.Context(), Run{ID: "r", Attempt: 2}))
	info, err := l.queue.stream.Info(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1, info.State.Msgs)
	requireTaken(t, l, 0)
}

// requireTaken waits until the run r is delivered by the queue.
func requireTaken(t *testing.T, l *Log, deaths uint64) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	var took *Lease
	require.NoError(t, l.Work(ctx, func(_ context.Context, e *Lease) error {
		took = e
		stop()
		return nil
	}))
	require.NotNil(t, took, "no worker took it")
	require.Equal(t, "r", took.Run.ID)
	require.EqualValues(t, 2, took.Attempt)
	require.Equal(t, deaths, took.Run.Failures)
}
