package runlog

import (
	"fmt"
	"testing"
	"time"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/stretchr/testify/require"
)

// Thousands of runs that are due at once are deleted in several batches, so that runs that end now
// do not wait for them.
func TestForgettingIsPaced(t *testing.T) {
	l := openTest(t, setup{KeepEnded: time.Hour})
	const many = 3000
	l.mu.Lock()
	for i := range many {
		l.ended = append(l.ended, endedRun{broker.Token(fmt.Sprint(i)), time.Now().Add(-time.Second)})
	}
	l.mu.Unlock()
	left := func() int {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.ended)
	}
	l.sweptByHand(t)
	l.forget(time.Now())
	require.Equal(t, many-1, left(), "a go that is over at once does one")
	for goes := 0; left() > 0; goes++ {
		require.Less(t, goes, many)
		l.forget(time.Now().Add(20 * time.Millisecond))
	}
}

// A run that was due while the server was unavailable is deleted when it is back.
func TestForgettingWaitsForTheServer(t *testing.T) {
	dir, port := t.TempDir(), freePort(t)
	server := natsChild(t, dir, port)
	l := openTest(t, setup{URLs: []string{address(port)}, KeepEnded: time.Hour})
	e, err := l.Claim(t.Context(), Run{ID: "a"})
	require.NoError(t, err)
	require.NoError(t, e.End(t.Context(), rec("ev", "x")))
	require.NotZero(t, stateOf(t, l.records.stream).Msgs)
	l.sweptByHand(t)
	server.kill()
	l.mu.Lock()
	l.ended[0].due = time.Now()
	l.mu.Unlock()
	l.forget(time.Now().Add(time.Minute))
	require.Equal(t, "a", l.due(), "it is due again")
	natsChild(t, dir, port)
	require.Eventually(t, func() bool {
		l.forget(time.Now())
		return l.due() == "" && stateOf(t, l.records.stream).Msgs == 0
	}, patience, 20*time.Millisecond)
}

// sweptByHand stops the sweeper of a log.
func (l *Log) sweptByHand(t *testing.T) {
	l.stop(ErrStopping)
	l.wg.Wait()
	l.sweeper.ctx = t.Context()
}

// A run whose records are still needed stays behind the others, until they are not.
func TestHeldRunsStay(t *testing.T) {
	held := map[string]bool{"a": true}
	l := openTest(t, setup{KeepEnded: time.Millisecond, Hold: func(run string) bool { return held[run] }})
	l.sweptByHand(t)
	for _, run := range []string{"a", "b"} {
		l.forgetLater(broker.Token(run))
	}
	due := func() []string {
		l.mu.Lock()
		defer l.mu.Unlock()
		var out []string
		for i := range l.ended {
			l.ended[i].due = time.Now().Add(-time.Second)
			out = append(out, l.ended[i].token)
		}
		return out
	}
	require.Equal(t, []string{"a", "b"}, due())
	l.forget(time.Now())
	require.Equal(t, []string{"a"}, due())
	l.forget(time.Now())
	require.Equal(t, []string{"a"}, due())
	held["a"] = false
	l.forget(time.Now())
	require.Empty(t, due())
}

// A lease collects the selected records of the run that it began, with their positions.
func TestLeaseCollects(t *testing.T) {
	l := openTest(t, setup{Collect: func(kind string) Selection {
		return map[string]Selection{"ev": SelectAll, "state": SelectEnds}[kind]
	}})
	e, err := l.Claim(t.Context(), Run{ID: "a"})
	require.NoError(t, err)
	for i := range 4 {
		_, err = e.Append(t.Context(), rec("state", fmt.Sprint(i)), rec("note", "x"))
		require.NoError(t, err)
		require.NoError(t, e.Buffer(t.Context(), rec("ev", fmt.Sprint(i))))
	}
	require.NoError(t, e.Flush(t.Context()))
	got, ok := e.Collected()
	require.True(t, ok)
	stored, err := l.Records(t.Context(), "a")
	require.NoError(t, err)
	var want []Record
	for i, r := range stored {
		if r.Kind == "ev" || r.Kind == "state" && (i == 0 || r.Seq == 10) {
			want = append(want, r)
		}
	}
	for i := range want {
		want[i].More = false
	}
	require.Equal(t, want, got)

	large, err := l.Claim(t.Context(), Run{ID: "b"})
	require.NoError(t, err)
	_, err = large.Append(t.Context(), rec("ev", string(make([]byte, collectMost+1))))
	require.NoError(t, err)
	_, ok = large.Collected()
	require.False(t, ok)
}
