package runlog

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/easel-canvas/easel/host/internal/nats/blobs"
	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/nats/kv"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// patience bounds every wait, with a wide margin for slow machines.
const patience = 3 * time.Minute

// quiet keeps expected warnings out of the tests' output.
var quiet = slog.New(slog.DiscardHandler)

// setup configures the connection and the run log of a test.
type setup struct {
	Dir        string
	URLs       []string
	Prefix     string
	SyncAlways bool
	SyncEvery  time.Duration
	Log        *slog.Logger // nil means quiet

	Name          string
	Lease         time.Duration
	Attempts      int
	FlushInterval time.Duration
	KeepEnded     time.Duration
	MaxBytes      int64
	Dead          func(ctx context.Context, lease *Lease) error
	Hold          func(run string) bool
	Collect       func(kind string) Selection
}

func (s setup) broker() broker.Config {
	return broker.Config{
		Dir: s.Dir, URLs: s.URLs, Prefix: s.Prefix, SyncAlways: s.SyncAlways, SyncEvery: s.SyncEvery,
		Log: cmp.Or(s.Log, quiet),
	}
}

// openLog opens a connection and a run log on it.
func openLog(ctx context.Context, s setup) (*Log, error) {
	conn, err := broker.Open(ctx, s.broker(), "easel test")
	if err != nil {
		return nil, err
	}
	keys, err := kv.New(ctx, conn)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	l, err := Open(ctx, conn, keys, Config{
		Name: s.Name, Lease: s.Lease, Attempts: s.Attempts, FlushInterval: s.FlushInterval, KeepEnded: s.KeepEnded,
		Hold: s.Hold, Collect: s.Collect,
		MaxBytes: s.MaxBytes, Dead: s.Dead, Log: cmp.Or(s.Log, quiet),
	})
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return l, nil
}

func closeLog(l *Log) error { return errors.Join(l.Close(), l.conn.Close()) }

func openTest(t testing.TB, s setup) *Log {
	t.Helper()
	if s.Dir == "" && s.URLs == nil {
		s.Dir = t.TempDir()
	}
	l, err := openLog(t.Context(), s)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, closeLog(l)) })
	return l
}

// files opens the file store on the connection of a run log.
func files(t testing.TB, l *Log) *blobs.Store {
	t.Helper()
	s, err := blobs.New(t.Context(), l.conn)
	require.NoError(t, err)
	return s
}

// onBoth runs a test on a server inside the process and on one outside.
func onBoth(t *testing.T, test func(t *testing.T, cfg setup)) {
	t.Helper()
	t.Run("embedded", func(t *testing.T) { test(t, setup{Dir: t.TempDir()}) })
	t.Run("external", func(t *testing.T) {
		port := freePort(t)
		natsChild(t, t.TempDir(), port)
		test(t, setup{URLs: []string{address(port)}})
	})
}

func rec(kind, data string) Record { return Record{Kind: kind, Data: []byte(data)} }

// read follows a run to its end.
func read(t testing.TB, l *Log, run string, after Pos) []Record {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	var out []Record
	require.NoError(t, l.Follow(ctx, run, after, func(r Record) bool {
		out = append(out, r)
		return true
	}))
	return out
}

// stateOf requests the state of a stream from the server, again after a timeout.
func stateOf(t testing.TB, s jetstream.Stream, of ...jetstream.StreamInfoOpt) jetstream.StreamState {
	t.Helper()
	info, err := broker.Retry(t.Context(), func(ctx context.Context) (*jetstream.StreamInfo,
		error,
	) {
		return s.Info(ctx, of...)
	})
	require.NoError(t, err)
	return info.State
}

// texts returns the records as "number kind data".
func texts(records []Record) []string {
	out := []string{}
	for _, r := range records {
		out = append(out, fmt.Sprintf("%d %s %s", r.Seq, r.Kind, r.Data))
	}
	return out
}

func TestRun(t *testing.T) { onBoth(t, testRun) }

func testRun(t *testing.T, cfg setup) {
	l := openTest(t, cfg)
	ctx := t.Context()
	e, err := l.Claim(ctx, Run{ID: "r 1*", Data: []byte("in")}) // an id that is no subject token
	require.NoError(t, err)
	require.Equal(t, []string{"r 1*"}, l.Active())
	pos, err := e.Append(ctx, rec("ev", "a"), rec("delta", "b"))
	require.NoError(t, err)
	require.EqualValues(t, 2, pos.Seq)
	require.NoError(t, e.Buffer(ctx, rec("ev", "c")))
	pos, err = e.Append(ctx)
	require.NoError(t, err)
	_, err = e.Append(ctx, rec("ev", "d"))
	require.NoError(t, err)
	require.NoError(t, e.Snapshot(ctx, pos, []byte("state")))

	c, err := e.Checkpoint(ctx)
	require.NoError(t, err)
	require.Equal(t, "state", string(c.Snapshot))
	require.EqualValues(t, 3, c.UpTo.Seq)
	require.Equal(t, []string{"4 ev d"}, texts(c.Records))

	require.NoError(t, e.End(ctx, rec("ev", "end")))
	require.Error(t, e.Context().Err())
	all := []string{"1 ev a", "2 delta b", "3 ev c", "4 ev d", "5 ev end"}
	records := read(t, l, "r 1*", Pos{})
	require.Equal(t, all, texts(records))
	t.Run("a reader resumes after any record, with or without its hint", func(t *testing.T) {
		for i, r := range records {
			for _, p := range []Pos{r.Pos(), {Seq: r.Seq}, {Seq: r.Seq, At: r.At + 1000}} {
				require.Equal(t, all[i+1:], texts(read(t, l, "r 1*", p)), "%v", p)
			}
		}
	})
	t.Run("nothing can be written after the end", func(t *testing.T) {
		_, err := e.Append(ctx, rec("ev", "late"))
		require.ErrorIs(t, err, ErrEnded)
		require.ErrorIs(t, e.Buffer(ctx, rec("ev", "late")), ErrEnded)
		_, ended, err := l.Ended(ctx, "r 1*")
		require.NoError(t, err)
		require.True(t, ended)
	})
	t.Run("the note is gone", func(t *testing.T) {
		require.Eventually(t, func() bool {
			notes, err := l.notes.subjects(t.Context(), "*")
			return err == nil && len(notes) == 0
		}, patience, 10*time.Millisecond)
	})
}

func TestBufferedRecordsReachReadersBeforeTheStream(t *testing.T) {
	l := openTest(t, setup{FlushInterval: time.Hour})
	ctx := t.Context()
	e, err := l.Claim(ctx, Run{ID: "r"})
	require.NoError(t, err)
	got := make(chan Record, 10)
	go func() {
		_ = l.Follow(ctx, "r", Pos{}, func(r Record) bool {
			got <- r
			return true
		})
	}()
	require.NoError(t, e.Buffer(ctx, rec("delta", "x")))
	require.Equal(t, "x", string((<-got).Data))
	_, seq, err := l.lastBundle(ctx, "r")
	require.NoError(t, err)
	require.Zero(t, seq, "it is not stored yet")
	_, err = e.Append(ctx, rec("ev", "y"))
	require.NoError(t, err)
	b, _, err := l.lastBundle(ctx, "r")
	require.NoError(t, err)
	require.Len(t, b.records, 2, "both went in one message")
	require.NoError(t, e.End(ctx))
}

// TestLastEndsReaders sends readers on the owner's host the end before its mark is stored.
func TestLastEndsReaders(t *testing.T) {
	l := openTest(t, setup{})
	e, err := l.Claim(t.Context(), Run{ID: "r"})
	require.NoError(t, err)
	_, err = e.Append(t.Context(), rec("ev", "1"))
	require.NoError(t, err)
	e.Last()
	require.Len(t, read(t, l, "r", Pos{}), 1)
	require.Len(t, l.Active(), 1)
	_, ended, err := l.Ended(t.Context(), "r")
	require.NoError(t, err)
	require.False(t, ended)
	require.NoError(t, e.End(t.Context()))
	require.Len(t, read(t, l, "r", Pos{}), 1)
}

// TestFailedAppendIsNotMissed checks that the records of a failed append are stored by the next
// one, and that readers on this host get them as well.
func TestFailedAppendIsNotMissed(t *testing.T) { onBoth(t, testFailedAppendIsNotMissed) }

func testFailedAppendIsNotMissed(t *testing.T, cfg setup) {
	l := openTest(t, cfg)
	ctx := t.Context()
	e, err := l.Claim(ctx, Run{ID: "r"})
	require.NoError(t, err)
	var live []Record
	done := make(chan error, 1)
	go func() {
		done <- l.Follow(ctx, "r", Pos{}, func(r Record) bool {
			live = append(live, r)
			return true
		})
	}()
	_, err = e.Append(ctx, rec("ev", "1"))
	require.NoError(t, err)
	gone, leave := context.WithCancel(ctx)
	leave()
	_, err = e.Append(gone, rec("ev", "2"), rec("ev", "3"))
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, e.Buffer(ctx, rec("ev", "4")))
	_, err = e.Append(gone)
	require.ErrorIs(t, err, context.Canceled)
	_, err = e.Append(ctx)
	require.NoError(t, err)
	require.ErrorIs(t, e.End(gone, rec("ev", "5")), context.Canceled)
	require.NoError(t, e.End(ctx))
	require.NoError(t, <-done)
	want := []string{"1 ev 1", "2 ev 2", "3 ev 3", "4 ev 4", "5 ev 5"}
	require.Equal(t, want, texts(live))
	require.Equal(t, want, texts(read(t, l, "r", Pos{})))
}

func TestBufferedRecordsAreStoredInTime(t *testing.T) {
	l := openTest(t, setup{FlushInterval: 5 * time.Millisecond})
	e, err := l.Claim(t.Context(), Run{ID: "r"})
	require.NoError(t, err)
	require.NoError(t, e.Buffer(t.Context(), rec("delta", "x")))
	require.Eventually(t, func() bool {
		b, _, err := l.lastBundle(t.Context(), "r")
		return err == nil && len(b.records) == 1
	}, patience, time.Millisecond)
	require.NoError(t, e.Buffer(t.Context(), Record{Data: make([]byte, maxBuffered)}))
	b, _, err := l.lastBundle(t.Context(), "r")
	require.NoError(t, err)
	require.Len(t, b.records, 1, "too much to hold back is stored at once")
	require.EqualValues(t, 3, b.next())
}

func TestSecondOwnerFencesTheFirst(t *testing.T) {
	l := openTest(t, setup{})
	ctx := t.Context()
	e, err := l.Claim(ctx, Run{ID: "r"})
	require.NoError(t, err)
	_, err = e.Append(ctx, rec("ev", "1"))
	require.NoError(t, err)
	// Another host takes it over, as after a crash of this one.
	other := newLog(ctx, l.conn, l.keys, l.cfg)
	other.records.stream, other.queue.stream, other.notes.stream = l.records.stream, l.queue.stream, l.notes.stream
	e2, err := other.take(ctx, Run{ID: "r"})
	require.NoError(t, err)
	require.EqualValues(t, 2, e2.Attempt)

	_, err = e.Append(ctx, rec("ev", "zombie"))
	require.ErrorIs(t, err, ErrFenced)
	require.ErrorIs(t, context.Cause(e.Context()), ErrFenced)
	require.ErrorIs(t, e.End(ctx, rec("ev", "zombie end")), ErrFenced)
	_, err = e2.Append(ctx, rec("ev", "2"))
	require.NoError(t, err)
	require.ErrorIs(t, e.Snapshot(ctx, Pos{}, []byte("zombie")), ErrFenced)
	require.NoError(t, e2.End(ctx))
	require.Equal(t, []string{"1 ev 1", "2 ev 2"}, texts(read(t, l, "r", Pos{})))
}

func TestSnapshotOfAFencedOwnerIsRefused(t *testing.T) {
	l := openTest(t, setup{})
	ctx := t.Context()
	e, err := l.Claim(ctx, Run{ID: "r"})
	require.NoError(t, err)
	_, err = e.Append(ctx, rec("ev", "1"))
	require.NoError(t, err)
	claim := bundle{owner: "other.r.2", attempt: 2, first: 2}
	_, err = l.conn.JS.Publish(ctx, l.conn.Subject("run", "r", "ev"), claim.encode())
	require.NoError(t, err)
	require.ErrorIs(t, e.Snapshot(ctx, Pos{}, []byte("zombie")), ErrFenced)
	c, err := l.checkpoint(ctx, "r", 0)
	require.NoError(t, err)
	require.Nil(t, c.Snapshot)
}

func TestAUsedIdIsFenced(t *testing.T) {
	l := openTest(t, setup{})
	ctx := t.Context()
	e, err := l.Claim(ctx, Run{ID: "r"})
	require.NoError(t, err)
	_, err = l.Claim(ctx, Run{ID: "r"})
	require.ErrorIs(t, err, ErrActive)
	require.NoError(t, e.End(ctx, rec("ev", "x")))
	again, err := l.Claim(ctx, Run{ID: "r"})
	require.NoError(t, err)
	_, err = again.Append(ctx, rec("ev", "y"))
	require.ErrorIs(t, err, ErrFenced)
}

func TestLostAcknowledgement(t *testing.T) {
	l := openTest(t, setup{})
	ctx := t.Context()
	e, err := l.Claim(ctx, Run{ID: "r"})
	require.NoError(t, err)
	_, err = e.Append(ctx, rec("ev", "1"))
	require.NoError(t, err)
	// The message is stored and its acknowledgement lost.
	sent := bundle{owner: e.owner, attempt: 1, first: 2, records: []Record{rec("ev", "2")}}
	_, err = l.conn.JS.Publish(ctx, l.conn.Subject("run", "r", "ev"), sent.encode())
	require.NoError(t, err)
	_, err = e.Append(ctx, rec("ev", "2"))
	require.NoError(t, err, "ours, so it is no fence")
	_, err = e.Append(ctx, rec("ev", "3"))
	require.NoError(t, err)
	// The same for the end.
	last := bundle{owner: e.owner, attempt: 1, first: 4, end: true, records: []Record{rec("ev", "4")}}
	_, err = l.conn.JS.Publish(ctx, l.conn.Subject("run", "r", "ev"), last.encode())
	require.NoError(t, err)
	require.NoError(t, e.End(ctx, rec("ev", "4")))
	require.Equal(t, []string{"1 ev 1", "2 ev 2", "3 ev 3", "4 ev 4"}, texts(read(t, l, "r", Pos{})))
}

func TestQueue(t *testing.T) { onBoth(t, testQueue) }

func testQueue(t *testing.T, cfg setup) {
	cfg.Lease = 2 * time.Second
	l := openTest(t, cfg)
	ctx, stop := context.WithCancel(t.Context())
	var mu sync.Mutex
	ran := map[string]int{}
	done := make(chan error, 1)
	go func() {
		done <- l.Work(ctx, func(ctx context.Context, e *Lease) error {
			mu.Lock()
			ran[e.Run.ID]++
			mu.Unlock()
			if string(e.Run.Data) == "fail once" && e.Attempt == 1 {
				return io.ErrUnexpectedEOF
			}
			_, err := e.Append(ctx, rec("ev", fmt.Sprint("attempt ", e.Attempt)))
			return err
		})
	}()
	for range 3 {
		require.NoError(t, l.Submit(t.Context(), Run{ID: "a"}))
	}
	require.NoError(t, l.Submit(t.Context(), Run{ID: "b", Data: []byte("fail once")}))
	require.Equal(t, []string{"1 ev attempt 1"}, texts(read(t, l, "a", Pos{})))
	require.Equal(t, []string{"1 ev attempt 2"}, texts(read(t, l, "b", Pos{})))
	stop()
	require.NoError(t, <-done)
	require.Equal(t, map[string]int{"a": 1, "b": 2}, ran)
}

func TestPoisonRunEndsAsFailed(t *testing.T) { onBoth(t, testPoisonIsBuried) }

func testPoisonIsBuried(t *testing.T, cfg setup) {
	dead := make(chan uint64, 1)
	cfg.Attempts, cfg.Dead = 2, func(ctx context.Context, e *Lease) error {
		dead <- e.Attempt
		_, err := e.Append(ctx, rec("ev", "failed"))
		return err
	}
	l := openTest(t, cfg)
	go func() {
		_ = l.Work(t.Context(), func(context.Context, *Lease) error { return io.ErrUnexpectedEOF })
	}()
	require.NoError(t, l.Submit(t.Context(), Run{ID: "p"}))
	require.Equal(t, []string{"1 ev failed"}, texts(read(t, l, "p", Pos{})))
	require.EqualValues(t, 3, <-dead)
}

func TestClosingHandsRunsOver(t *testing.T) {
	dir := t.TempDir()
	l, err := openLog(t.Context(), setup{Dir: dir})
	require.NoError(t, err)
	e, err := l.Claim(t.Context(), Run{ID: "r", Data: []byte("in")})
	require.NoError(t, err)
	require.NoError(t, e.Buffer(t.Context(), rec("ev", "told")))
	_, err = openLog(t.Context(), setup{Dir: dir})
	require.ErrorIs(t, err, broker.ErrLocked)
	require.NoError(t, closeLog(l))
	require.ErrorIs(t, context.Cause(e.Context()), ErrStopping)

	next := openTest(t, setup{Dir: dir})
	go func() {
		_ = next.Work(t.Context(), func(ctx context.Context, e *Lease) error {
			c, err := e.Checkpoint(ctx)
			if err != nil {
				return err
			}
			return e.End(ctx, rec("ev", fmt.Sprintf("%s %d %q", e.Run.Data, e.Attempt, texts(c.Records))))
		})
	}()
	require.Equal(t, []string{"1 ev told", `2 ev in 2 ["1 ev told"]`}, texts(read(t, next, "r", Pos{})))
}

// TestShutdownIsNotACrash hands a run over more often than it may fail: a rolling update of hosts
// must not end it.
func TestShutdownIsNotACrash(t *testing.T) {
	dir := t.TempDir()
	var hosts []uint64
	for i := range 4 {
		l, err := openLog(t.Context(), setup{Dir: dir, Attempts: 2})
		require.NoError(t, err)
		took := make(chan *Lease, 1)
		done := make(chan error, 1)
		go func() {
			done <- l.Work(t.Context(), func(ctx context.Context, e *Lease) error {
				took <- e
				<-ctx.Done()
				return context.Cause(ctx)
			})
		}()
		if i == 0 {
			require.NoError(t, l.Submit(t.Context(), Run{ID: "r"}))
		}
		e := <-took
		hosts = append(hosts, e.Attempt)
		require.Zero(t, e.Run.Failures)
		require.NoError(t, closeLog(l))
		require.NoError(t, <-done)
	}
	require.Equal(t, []uint64{1, 2, 3, 4}, hosts)
}

func TestCancel(t *testing.T) { onBoth(t, testCancel) }

func testCancel(t *testing.T, cfg setup) {
	l := openTest(t, cfg)
	ctx := t.Context()
	e, err := l.Claim(ctx, Run{ID: "r", Tasks: []string{"canvas 7"}})
	require.NoError(t, err)
	other, err := l.Claim(ctx, Run{ID: "other"})
	require.NoError(t, err)
	require.NoError(t, l.Cancel(ctx, "canvas 7"))
	<-e.Context().Done()
	require.ErrorIs(t, context.Cause(e.Context()), ErrCanceled)
	require.NoError(t, other.Context().Err())
	_, err = e.Append(ctx, rec("ev", "canceled"))
	require.NoError(t, err, "a canceled run still says so")
	require.NoError(t, e.End(ctx))

	t.Run("a run that is canceled before its claim is canceled with it", func(t *testing.T) {
		require.NoError(t, l.Cancel(ctx, "early"))
		require.Eventually(t, func() bool {
			l.leases.mu.Lock()
			defer l.leases.mu.Unlock()
			return l.leases.early.has("early")
		}, patience, time.Millisecond)
		e, err := l.Claim(ctx, Run{ID: "early"})
		require.NoError(t, err)
		require.ErrorIs(t, context.Cause(e.Context()), ErrCanceled)
		require.NoError(t, e.End(ctx))
	})

	t.Run("a mark that is there first cancels a queued run", func(t *testing.T) {
		require.NoError(t, l.Cancel(ctx, "queued"))
		require.NoError(t, l.Submit(ctx, Run{ID: "queued"}))
		cause := make(chan error, 1)
		work, stop := context.WithCancel(ctx)
		defer stop()
		go func() {
			_ = l.Work(work, func(ctx context.Context, e *Lease) error {
				cause <- context.Cause(ctx)
				return nil
			})
		}()
		require.ErrorIs(t, <-cause, ErrCanceled)
		read(t, l, "queued", Pos{})
		require.Eventually(t, func() bool {
			_, _, err := l.keys.Get(ctx, "queued-cancel")
			return err != nil
		}, patience, 5*time.Millisecond, "the mark goes with the run")
	})
}

func TestLargeRecordsGoAside(t *testing.T) { onBoth(t, testLargeRecordsGoAside) }

func testLargeRecordsGoAside(t *testing.T, cfg setup) {
	l := openTest(t, cfg)
	ctx := t.Context()
	big := bytes.Repeat([]byte("x"), int(l.conn.NATS.MaxPayload())+100) // and an outside server takes less
	e, err := l.Claim(ctx, Run{ID: "r", Data: big})
	require.NoError(t, err)
	_, err = e.Append(ctx, Record{Kind: "ev", Data: big})
	require.NoError(t, err)
	require.NoError(t, e.Snapshot(ctx, Pos{1, e.last}, big))
	c, err := e.Checkpoint(ctx)
	require.NoError(t, err)
	require.Equal(t, big, c.Snapshot)
	require.NoError(t, e.End(ctx))
	records := read(t, l, "r", Pos{})
	require.Len(t, records, 1)
	require.Equal(t, big, records[0].Data)
}

func TestEndedRunsAreForgotten(t *testing.T) { onBoth(t, testEndedRunsAreForgotten) }

func testEndedRunsAreForgotten(t *testing.T, cfg setup) {
	cfg.KeepEnded = 20 * time.Millisecond
	l := openTest(t, cfg)
	ctx := t.Context()
	for i := range 20 {
		e, err := l.Claim(ctx, Run{ID: fmt.Sprint(i)})
		require.NoError(t, err)
		require.NoError(t, e.Snapshot(ctx, Pos{}, []byte("s")))
		require.NoError(t, e.End(ctx, rec("ev", "x")))
	}
	require.Eventually(t, func() bool {
		info, err := l.records.stream.Info(ctx)
		return err == nil && info.State.Msgs == 0
	}, patience, 10*time.Millisecond)
}

func TestDeletedHistoryIsReported(t *testing.T) {
	l := openTest(t, setup{})
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	e, err := l.Claim(ctx, Run{ID: "r"})
	require.NoError(t, err)
	for range 3 {
		_, err = e.Append(ctx, rec("ev", "x"))
		require.NoError(t, err)
	}
	require.NoError(t, e.End(ctx))
	require.NoError(t, l.records.stream.DeleteMsg(ctx, 1))
	err = l.Follow(ctx, "r", Pos{}, func(Record) bool { return true })
	require.ErrorIs(t, err, broker.ErrGone)
	require.Equal(t, []string{"3 ev x"}, texts(read(t, l, "r", Pos{Seq: 2})))
}

func TestHandBack(t *testing.T) {
	l := openTest(t, setup{})
	e, err := l.Claim(t.Context(), Run{ID: "r"})
	require.NoError(t, err)
	require.NoError(t, e.Buffer(t.Context(), rec("ev", "told")))
	e.HandBack(io.ErrUnexpectedEOF)
	require.Empty(t, l.Active())
	again := make(chan *Lease, 1)
	go func() {
		_ = l.Work(t.Context(), func(ctx context.Context, e *Lease) error {
			again <- e
			return nil
		})
	}()
	next := <-again
	require.EqualValues(t, 1, next.Run.Failures)
	require.EqualValues(t, 2, next.Attempt)
	require.Equal(t, []string{"1 ev told"}, texts(read(t, l, "r", Pos{})))
	e.HandBack(io.ErrUnexpectedEOF) // a lease that has ended
}
