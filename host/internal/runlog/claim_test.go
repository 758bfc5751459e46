package runlog

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
)

// finishes works on queued runs and reports their ids.
func finishes(t *testing.T, l *Log) <-chan string {
	done := make(chan string, 10)
	go func() {
		_ = l.Work(t.Context(), func(_ context.Context, e *Lease) error {
			done <- e.Run.ID
			return nil
		})
	}()
	return done
}

// TestQueuedRunIsDeliveredAgainWhileItsClaimIsOpen lets the queue deliver a run a
// second time, as it does when the claim waits for an election. When the claim
// then fails, the second message is all that is left of the run.
func TestQueuedRunIsDeliveredAgainWhileItsClaimIsOpen(t *testing.T) {
	l := openTest(t, setup{Lease: 2 * time.Second})
	claiming, err := l.open(t.Context(), Run{ID: "r", Attempt: 1}, bundle{first: 1}, 0)
	require.NoError(t, err)
	done := finishes(t, l)
	require.NoError(t, l.Submit(t.Context(), Run{ID: "r"}))
	require.Eventually(t, func() bool {
		info, err := l.queue.stream.Consumer(t.Context(), "workers")
		return err == nil && info.CachedInfo().Delivered.Consumer > 1
	}, patience, 20*time.Millisecond, "the message is delivered again")
	require.Empty(t, done)
	claiming.leave(broker.ErrUnavailable)
	require.Equal(t, "r", <-done)
}

// A reader that follows the lease of a claim that then fails gets the run from its next owner.
func TestReaderSurvivesAFailedClaim(t *testing.T) {
	l := openTest(t, setup{})
	l.notes.book.mu.Lock() // the claim waits before it writes its note
	ctx, stop := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		_, err := l.Claim(ctx, Run{ID: "r"})
		failed <- err
	}()
	require.Eventually(t, func() bool { return l.leases.get("r") != nil }, patience, time.Millisecond)
	lease := l.leases.get("r")
	read := make(chan []string)
	go func() {
		var kinds []string
		_ = l.Follow(t.Context(), "r", Pos{}, func(r Record) bool {
			kinds = append(kinds, r.Kind)
			return true
		})
		read <- kinds
	}()
	require.Eventually(t, func() bool {
		lease.tail.mu.Lock()
		defer lease.tail.mu.Unlock()
		return len(lease.tail.bells) == 1
	}, patience, time.Millisecond, "the reader follows the lease")
	stop()
	l.notes.book.mu.Unlock()
	require.ErrorIs(t, <-failed, context.Canceled)
	again, err := l.Claim(t.Context(), Run{ID: "r"})
	require.NoError(t, err)
	require.NoError(t, again.End(t.Context(), rec("done", "{}")))
	select {
	case kinds := <-read:
		require.Equal(t, []string{"done"}, kinds)
	case <-time.After(patience):
		t.Fatal("the reader still waits for the lease that failed")
	}
}

// TestRunWithoutWorkerIsFound leaves a note of a run without a worker, as
// one does whose removal got lost.
func TestRunWithoutWorkerIsFound(t *testing.T) {
	l := openTest(t, setup{Lease: time.Second})
	e, err := l.Claim(t.Context(), Run{ID: "r"})
	require.NoError(t, err)
	_, err = e.Append(t.Context(), rec("ev", "1"))
	require.NoError(t, err)
	held, err := l.Held()
	require.NoError(t, err)
	require.Equal(t, map[string]bool{"r": true}, held)
	done := finishes(t, l)
	e.retire(ErrStopping)
	l.takeOrphans(func(string) bool { return false })
	require.Equal(t, "r", <-done)
}

// TestUnsettledRunIsNotLost hands back a run while the run log cannot be
// written, so that it can be neither ended nor queued.
func TestUnsettledRunIsNotLost(t *testing.T) {
	l := openTest(t, setup{Lease: time.Second})
	e, err := l.Claim(t.Context(), Run{ID: "r"})
	require.NoError(t, err)
	_, err = e.Append(t.Context(), rec("ev", "1"))
	require.NoError(t, err)
	done := finishes(t, l)
	now, stop := context.WithCancel(t.Context())
	stop()
	require.Error(t, e.retry(now))
	go l.rescue(e)
	require.Equal(t, "r", <-done)
}
