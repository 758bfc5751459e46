package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/runstest"
)

// bench is one host with its own storage.
type bench struct {
	*runstest.Host
	other  func(context.Context, *Runs, *runlog.Lease) error // instead of taking runs over; may be nil
	ports  func(j *Job) engine.Ports
	logger *slog.Logger
	runs   *Runs

	scanEvery time.Duration // instead of the usual time, if set
}

func newBench(t testing.TB) *bench {
	b := &bench{Host: runstest.New(t), logger: runstest.Quiet}
	b.Start = b.work
	b.Open()
	t.Cleanup(b.Close)
	return b
}

// work makes runs and works on them, or does what a test wants with them.
func (b *bench) work() (stop func()) {
	runs := New(Config{
		Store: b.Store, Log: b.Log, Registry: b.Registry, Logger: b.logger, Ports: b.ports,
	})
	runs.scanner.every = cmp.Or(b.scanEvery, runs.scanner.every)
	b.runs = runs
	work := runs.Work
	if other, log := b.other, b.Log; other != nil {
		work = func(ctx context.Context) error {
			return log.Work(ctx, func(ctx context.Context, e *runlog.Lease) error { return other(ctx, runs, e) })
		}
	}
	go func() { _ = work(context.WithoutCancel(b.T.Context())) }()
	return runs.Close
}

// only opens the bench again as a host that works on the runs that come, with do, and does nothing
// else by itself: it compares no clocks, looks for no lost runs and forgets none.
func (b *bench) only(do func(context.Context, *Runs, *runlog.Lease) error) {
	b.Close()
	b.other = do
	b.Open()
}

// drop does no work.
func drop(context.Context, *Runs, *runlog.Lease) error { return nil }

func (b *bench) start(j Job) Job {
	j.Tenant = "t"
	j, err := b.runs.Start(b.T.Context(), j)
	require.NoError(b.T, err)
	return j
}

// read follows a run to its end.
func (b *bench) read(run string) []runlog.Record { return b.Read(b.runs.Follow, run) }

// kinds is the visible part of a log in short.
func kinds(records []runlog.Record) string {
	var words []string
	for _, r := range records {
		if !Visible(r.Kind) {
			continue
		}
		word := r.Kind
		if n := Facts(r).Node; n != "" {
			word += ":" + n[strings.LastIndexByte(n, ':')+1:]
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func TestTurnsOfASession(t *testing.T) {
	b := newBench(t)
	canvas := b.Canvas(runstest.Talk)
	session := b.Session(canvas, runstest.Talk)
	for i := range 3 {
		j := b.start(Job{Canvas: canvas, Session: session, Keep: KeepSession, Query: engine.String(fmt.Sprint("hello ", i))})
		records := b.read(j.ID)
		require.Equal(t, "workflow_started node_started:begin node_finished:begin node_started:A message message message_end node_finished:A workflow_finished end", kinds(records))
		for n, r := range records {
			require.EqualValues(t, n+1, r.Seq)
		}
		row, err := b.Store.Runs.Get(t.Context(), "t", j.ID)
		require.NoError(t, err)
		require.Equal(t, store.RunDone, row.Status)
	}
	v, err := b.Store.Sessions.Get(t.Context(), "t", session)
	require.NoError(t, err)
	require.Empty(t, v.Run)
	require.EqualValues(t, 3, v.Rounds)
	messages, err := engine.ParseJSON(v.Messages)
	require.NoError(t, err)
	require.Equal(t, 6, messages.Len())
	require.Equal(t, "You said hello 2", messages.At(5).Get("content").Str())
	require.Contains(t, string(v.DSL), "hello 0")
}

func TestConcurrentTurnsRunOneAfterTheOther(t *testing.T) {
	b := newBench(t)
	canvas := b.Canvas(runstest.Talk)
	session := b.Session(canvas, runstest.Talk)
	done := make(chan Job, 10)
	for i := range cap(done) {
		go func() {
			j, err := b.runs.Start(t.Context(), Job{Tenant: "t", Canvas: canvas, Session: session, Keep: KeepSession, Query: engine.String(fmt.Sprint("q", i))})
			if err != nil {
				t.Error(err)
			}
			done <- j
		}()
	}
	for range cap(done) {
		b.read((<-done).ID)
	}
	v, err := b.Store.Sessions.Get(t.Context(), "t", session)
	require.NoError(t, err)
	require.EqualValues(t, cap(done), v.Rounds)
	doc, err := engine.ParseJSON(v.DSL)
	require.NoError(t, err)
	require.Equal(t, 2*cap(done), doc.Get("history").Len(), "each turn saw those before it")
}

func TestHandOver(t *testing.T) {
	b := newBench(t)
	canvas := b.Canvas(runstest.Waiting)
	session := b.Session(canvas, runstest.Waiting)
	j := b.start(Job{Canvas: canvas, Session: session, Keep: KeepSession, Query: engine.String("x")})
	require.Eventually(t, func() bool { return b.Ran.Load() == 1 }, runstest.Patience, time.Millisecond)
	b.Close()
	b.Open()
	require.Eventually(t, func() bool { return b.Ran.Load() == 2 }, runstest.Patience, time.Millisecond, "the other host continues")
	b.Gate <- struct{}{}
	records := b.read(j.ID)
	require.Equal(t, "workflow_started node_started:begin node_finished:begin node_started:A message message_end node_finished:A "+
		"node_started:W takeover node_finished:W node_started:B message message_end node_finished:B workflow_finished end", kinds(records))
	v, err := b.Store.Sessions.Get(t.Context(), "t", session)
	require.NoError(t, err)
	messages, err := engine.ParseJSON(v.Messages)
	require.NoError(t, err)
	require.Equal(t, "firstwaited", messages.At(1).Get("content").Str())
}

func TestCancel(t *testing.T) {
	b := newBench(t)
	canvas := b.Canvas(runstest.Waiting)
	best := runstest.Patience
	for n := range int32(5) {
		j := b.start(Job{Canvas: canvas, Keep: KeepCanvas})
		require.Eventually(t, func() bool { return b.Ran.Load() == n+1 }, runstest.Patience, time.Millisecond)
		began := time.Now()
		require.NoError(t, b.runs.Cancel(t.Context(), j.ID))
		records := b.read(j.ID)
		best = min(best, time.Since(began))
		require.Equal(t, store.RunCanceled, EndOf(records[len(records)-1]).Status)
		require.Contains(t, kinds(records), "workflow_finished end")
	}
	// The best of five: the machine may be busy, a cancel may not be slow.
	require.Less(t, best, 500*time.Millisecond)
	t.Logf("%v from the cancel to the end", best)
}

func TestEditDuringARunIsKept(t *testing.T) {
	b := newBench(t)
	canvas := b.Canvas(runstest.Waiting)
	j := b.start(Job{Canvas: canvas, Keep: KeepCanvas, Query: engine.String("x")})
	require.Eventually(t, func() bool { return b.Ran.Load() == 1 }, runstest.Patience, time.Millisecond)
	edited := strings.Replace(runstest.Waiting, `"first"`, `"edited"`, 1)
	_, err := b.Store.Canvases.Edit(t.Context(), "t", canvas, "v", func(c *store.Canvas) error {
		c.DSL = []byte(edited)
		return nil
	})
	require.NoError(t, err)
	b.Gate <- struct{}{}
	b.read(j.ID)
	c, err := b.Store.Canvases.Get(t.Context(), "t", canvas)
	require.NoError(t, err)
	require.Contains(t, string(c.DSL), `"edited"`)
	require.Contains(t, string(c.DSL), `"history":[["user","x"]`)
}

func TestRerunFromANode(t *testing.T) {
	b := newBench(t)
	canvas := b.Canvas(runstest.Waiting)
	b.Gate <- struct{}{}
	j := b.start(Job{Canvas: canvas, Query: engine.String("x")})
	b.read(j.ID)
	at, err := b.runs.Before(t.Context(), j.ID, "Wait:W", 1)
	require.NoError(t, err)
	b.Gate <- struct{}{}
	again := b.start(Job{Canvas: canvas, Base: j.ID, At: at})
	records := b.read(again.ID)
	require.Equal(t, "node_started:W node_finished:W node_started:B message message_end node_finished:B workflow_finished end", kinds(records))
	_, err = b.runs.Before(t.Context(), j.ID, "Missing:X", 1)
	require.ErrorIs(t, err, ErrRecord)
}

// A run from a node on runs no node again that had ended when the node started, in both orders.
func TestRerunRunsNothingBefore(t *testing.T) {
	canvas := sketch.Canvas(
		"begin Begin -> Wait:W",
		"Wait:W Wait -> StringTransform:S",
		`StringTransform:S StringTransform {"method":"merge","script":"<{Wait:W@result}>","delimiters":[""]}
			-> Wait:V Wait:U`,
		"Wait:V Wait -> Message:B", "Wait:U Wait",
		`Message:B Message {"content":["{StringTransform:S@result}{Wait:V@result}{Wait:U@result}"]}`,
	)
	for _, order := range []engine.Scheduling{engine.Batch, engine.Eager} {
		for node, want := range map[string]int32{"Wait:W": 3, "StringTransform:S": 2, "Wait:V": 2, "Message:B": 0} {
			t.Run(node+" "+string(order), func(t *testing.T) {
				b := newBench(t)
				go func() {
					for t.Context().Err() == nil {
						select {
						case b.Gate <- struct{}{}:
						case <-t.Context().Done():
						}
					}
				}()
				id := b.Canvas(canvas)
				j := b.start(Job{Canvas: id, Scheduling: order})
				b.read(j.ID)
				ran := b.Ran.Load()
				at, err := b.runs.Before(t.Context(), j.ID, node, 1)
				require.NoError(t, err)
				again := b.read(b.start(Job{Canvas: id, Base: j.ID, At: at}).ID)
				require.Equal(t, want, b.Ran.Load()-ran)
				require.Contains(t, kinds(again), "node_started:"+node[strings.Index(node, ":")+1:])
				last := string(again[len(again)-2].Data)
				require.Contains(t, last, `["assistant",{"content":"<waited>waitedwaited"}]`)
			})
		}
	}
}

func TestAcceptedRunIsStartedByAnotherHost(t *testing.T) {
	b := newBench(t)
	canvas := b.Canvas(runstest.Talk)
	j := Job{ID: "r", Message: "m", Tenant: "t", Canvas: canvas, Query: engine.String("x")}
	data, err := json.Marshal(&j)
	require.NoError(t, err)
	row := store.Run{ID: j.ID, Tenant: "t", Canvas: canvas, Message: "m", Input: data}
	require.NoError(t, b.Store.Runs.Start(t.Context(), row))
	row.Tenant = "t"
	b.runs.scanner.recoverRun(t.Context(), row, false)
	require.Contains(t, kinds(b.read("r")), "workflow_finished end")
}

// TestAbandonedRunNotifiesReaders: a reader may have seen what the last host had
// told and not stored, under the number that the end gets.
func TestAbandonedRunNotifiesReaders(t *testing.T) {
	b := newBench(t)
	canvas := b.Canvas(runstest.Waiting)
	session := b.Session(canvas, runstest.Waiting)
	j := b.start(Job{Canvas: canvas, Session: session, Keep: KeepSession, Query: engine.String("x")})
	require.Eventually(t, func() bool { return b.Ran.Load() == 1 }, runstest.Patience, time.Millisecond)
	b.only(func(ctx context.Context, r *Runs, e *runlog.Lease) error { return r.Dead(ctx, e) })
	records := b.read(j.ID)
	require.Regexp(t, "takeover end$", kinds(records))
	end := EndOf(records[len(records)-1])
	require.Equal(t, store.RunFailed, end.Status)
	require.Contains(t, end.Error, "is not tried again")
	v, err := b.Store.Sessions.Get(t.Context(), "t", session)
	require.NoError(t, err)
	require.Empty(t, v.Run, "the session is free")
}
