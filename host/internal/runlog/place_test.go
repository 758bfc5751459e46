package runlog

import (
	"context"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/stretchr/testify/require"
)

// TestPlace checks the positions of readers in a long run that was taken over twice, and the cost
// of finding them.
func TestPlace(t *testing.T) { onBoth(t, testPlace) }

func testPlace(t *testing.T, cfg setup) {
	l := openTest(t, cfg)
	const messages = 700 // of each attempt; each holds two records
	write := func(ctx context.Context, e *Lease) error {
		for i := range messages {
			if _, err := e.Append(ctx, rec("ev", fmt.Sprint(e.Attempt, " ", i)), rec("ev", "x")); err != nil {
				return err
			}
		}
		return nil
	}
	first, err := l.Claim(t.Context(), Run{ID: "r"})
	require.NoError(t, err)
	require.NoError(t, write(t.Context(), first))
	other, err := l.Claim(t.Context(), Run{ID: "other"}) // shares the stream
	require.NoError(t, err)
	require.NoError(t, write(t.Context(), other))
	first.HandBack(io.ErrUnexpectedEOF)
	ended := make(chan struct{})
	working, stop := context.WithCancel(t.Context())
	worked := make(chan struct{})
	go func() {
		defer close(worked)
		_ = l.Work(working, func(ctx context.Context, e *Lease) error {
			if err := write(ctx, e); err != nil || e.Attempt == 2 {
				return io.ErrUnexpectedEOF
			}
			defer close(ended)
			return e.End(ctx)
		})
	}()
	defer func() {
		stop()
		<-worked
	}()
	<-ended
	records, err := l.Records(t.Context(), "r")
	require.NoError(t, err)
	require.Len(t, records, 6*messages)
	const second, third = 2*messages + 1, 4*messages + 1 // numbers with which the attempts begin

	// cheap calls Place and counts the messages of the server.
	cheap := func(seen Pos, attempt uint64) Place {
		t.Helper()
		before := l.conn.NATS.Stats().InMsgs
		p, err := l.Place(t.Context(), "r", seen, attempt)
		require.NoError(t, err)
		require.Less(t, l.conn.NATS.Stats().InMsgs-before, uint64(300), "far less than the 2,100 of the run")
		of := func(number uint64) uint64 { return min((max(number, 1)-1)/(2*messages)+1, 3) }
		require.Contains(t, []uint64{of(p.From.Seq), of(p.From.Seq + 1)}, p.Attempt, "whose records come")
		// With any hint, reading continues right after the last record of the reader.
		got := read(t, l, "r", p.From)
		require.Len(t, got, len(records)-int(p.From.Seq))
		if p.From.At > 0 && len(got) > 0 {
			require.LessOrEqual(t, p.From.At, got[0].At, "the hint skips nothing")
			near := slices.IndexFunc(records, func(r Record) bool { return r.At >= p.From.At })
			require.GreaterOrEqual(t, near+4, int(p.From.Seq), "and is at most a message too early")
		}
		return p
	}
	for _, c := range []struct {
		name    string
		seen    uint64
		attempt uint64
		counts  uint64 // what of it counts
	}{
		{"nothing was lost", second - 1, 1, second - 1},
		{"the last events of the first host", second + 40, 1, second - 1},
		{"as many lost events as the run has", 9000, 1, second - 1},
		{"the last events of the second host", third + 1, 2, third - 1},
		{"events in the middle of the second host's", second + 50, 2, second + 50},
		{"the first events of the second host", second, 2, second},
		{"stored since", third + 100, 3, third + 100},
		{"beyond the end", 6*messages + 5, 3, 6*messages + 5},
		{"from an attempt that is not known yet", 6*messages + 5, 4, 6*messages + 5},
	} {
		require.Equal(t, c.counts, cheap(Pos{Seq: c.seen}, c.attempt).Seen, c.name)
	}
	for _, i := range []int{0, 1, 2*messages - 1, 2 * messages, 5 * messages, 6*messages - 2} {
		p := cheap(records[i].Pos(), 0)
		require.Equal(t, records[i].Pos(), p.From, "a stored place is where it is")
		require.Equal(t, records[i].Seq, p.Seen)
		p = cheap(Pos{Seq: records[i].Seq}, 0)
		require.Equal(t, records[i].Seq, p.Seen, "without a hint")
	}

	p, err := l.Place(t.Context(), "missing", Pos{Seq: 7}, 1)
	require.NoError(t, err)
	require.Equal(t, Place{Seen: 7, Attempt: 1}, p)
	waited, done := context.WithTimeout(t.Context(), time.Nanosecond)
	defer done()
	_, err = l.Place(waited, "r", Pos{Seq: 7}, 1)
	require.ErrorIs(t, err, broker.ErrUnavailable)
}
