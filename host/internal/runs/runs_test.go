package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/host/internal/broker"
	"github.com/easel-canvas/easel/host/internal/logtest"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// patience bounds every wait; what is waited for takes a small part of it on a slow machine.
const patience = 90 * time.Second

// bench is one host with its own storage.
type bench struct {
	t      testing.TB
	dir    string
	reg    *engine.Registry
	gate   chan struct{}                                     // a Wait node passes when it can receive
	ran    atomic.Int32                                      // executions of Wait nodes
	other  func(context.Context, *Runs, *runlog.Lease) error // in place of taking runs over; may be nil
	logger *slog.Logger
	store  *store.Store
	nats   *logtest.Storage
	log    *runlog.Log // of nats
	runs   *Runs
}

func newBench(t testing.TB) *bench {
	b := &bench{t: t, dir: t.TempDir(), gate: make(chan struct{}, 100), logger: quiet}
	var err error
	b.reg, err = engine.NewRegistry(component.Builtin()...)
	require.NoError(t, err)
	require.NoError(t, b.reg.Add(engine.Spec{Name: "Wait", New: func() engine.Component { return wait{b} }}))
	b.open()
	t.Cleanup(b.close)
	return b
}

// wait is a component that takes as long as the test wants.
type wait struct{ b *bench }

func (w wait) Run(ctx context.Context, call *engine.Call) error {
	w.b.ran.Add(1)
	select {
	case <-w.b.gate:
		call.Out("result", engine.String("waited"))
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b *bench) open() {
	var err error
	b.store, err = store.Open(b.t.Context(), store.Config{Dir: b.dir, Sync: store.SyncInterval})
	require.NoError(b.t, err)
	b.nats = logtest.OpenUntil(b.t, broker.Config{Dir: b.dir})
	b.log = b.nats.Log
	b.runs = New(Config{Store: b.store, Log: b.log, Registry: b.reg, Logger: b.logger})
	runs := b.runs
	work := runs.Work
	if other, log := b.other, b.log; other != nil {
		work = func(ctx context.Context) error {
			return log.Work(ctx, func(ctx context.Context, e *runlog.Lease) error { return other(ctx, runs, e) })
		}
	}
	go func() { _ = work(context.WithoutCancel(b.t.Context())) }()
}

// only opens the bench again as a host that works on the runs that come, with do, and does nothing
// else by itself: it compares no clocks, looks for no lost runs and forgets none.
func (b *bench) only(do func(context.Context, *Runs, *runlog.Lease) error) {
	b.close()
	b.other = do
	b.open()
}

// drop does no work.
func drop(context.Context, *Runs, *runlog.Lease) error { return nil }

func (b *bench) close() {
	require.NoError(b.t, b.nats.Close())
	b.runs.Close()
	require.NoError(b.t, b.store.Close())
}

const talk = `{"components":{
	"begin":{"obj":{"component_name":"Begin","params":{}},"downstream":["Message:A"],"upstream":[]},
	"Message:A":{"obj":{"component_name":"Message","params":{"content":["You said {sys.query}"]}},"downstream":[],"upstream":["begin"]}}}`

const waiting = `{"components":{
	"begin":{"obj":{"component_name":"Begin","params":{}},"downstream":["Message:A"],"upstream":[]},
	"Message:A":{"obj":{"component_name":"Message","params":{"content":["first"]}},"downstream":["Wait:W"],"upstream":["begin"]},
	"Wait:W":{"obj":{"component_name":"Wait","params":{}},"downstream":["Message:B"],"upstream":["Message:A"]},
	"Message:B":{"obj":{"component_name":"Message","params":{"content":["{Wait:W@result}"]}},"downstream":[],"upstream":["Wait:W"]}}}`

func (b *bench) canvas(dsl string) string {
	c, err := b.store.Canvases.Create(
		b.t.Context(), store.Canvas{Tenant: "t", User: "u", Title: "c", DSL: []byte(dsl)}, "",
	)
	require.NoError(b.t, err)
	return c.ID
}

func (b *bench) session(canvas, dsl string) string {
	s, err := b.store.Sessions.Create(b.t.Context(), store.Session{
		Tenant: "t", Canvas: canvas, User: "u", DSL: []byte(dsl), Messages: []byte("[]"),
	})
	require.NoError(b.t, err)
	return s.ID
}

func (b *bench) start(j Job) Job {
	j.Tenant = "t"
	j, err := b.runs.Start(b.t.Context(), j)
	require.NoError(b.t, err)
	return j
}

// read follows a run to its end.
func (b *bench) read(run string) []runlog.Record {
	ctx, stop := context.WithTimeout(b.t.Context(), patience)
	defer stop()
	var out []runlog.Record
	require.NoError(b.t, b.runs.Follow(ctx, run, runlog.Pos{}, func(r runlog.Record) bool {
		out = append(out, r)
		return true
	}))
	return out
}

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
	canvas := b.canvas(talk)
	session := b.session(canvas, talk)
	for i := range 3 {
		j := b.start(Job{Canvas: canvas, Session: session, Keep: KeepSession, Query: engine.String(fmt.Sprint("hello ", i))})
		records := b.read(j.ID)
		require.Equal(t, "workflow_started node_started:begin node_finished:begin node_started:A message message message_end node_finished:A workflow_finished end", kinds(records))
		for n, r := range records {
			require.EqualValues(t, n+1, r.Seq)
		}
		row, err := b.store.Runs.Get(t.Context(), "t", j.ID)
		require.NoError(t, err)
		require.Equal(t, store.RunDone, row.Status)
	}
	v, err := b.store.Sessions.Get(t.Context(), "t", session)
	require.NoError(t, err)
	require.Empty(t, v.Run)
	require.EqualValues(t, 3, v.Rounds)
	messages, err := engine.ParseJSON(v.Messages)
	require.NoError(t, err)
	require.Equal(t, 6, messages.Len())
	require.Equal(t, "You said hello 2", messages.At(5).Get("content").Str())
	require.Contains(t, string(v.DSL), "hello 0")
}

func TestTurnsAtOnceAreDoneOneAfterTheOther(t *testing.T) {
	b := newBench(t)
	canvas := b.canvas(talk)
	session := b.session(canvas, talk)
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
	v, err := b.store.Sessions.Get(t.Context(), "t", session)
	require.NoError(t, err)
	require.EqualValues(t, cap(done), v.Rounds)
	doc, err := engine.ParseJSON(v.DSL)
	require.NoError(t, err)
	require.Equal(t, 2*cap(done), doc.Get("history").Len(), "each turn saw those before it")
}

func TestHandOver(t *testing.T) {
	b := newBench(t)
	canvas := b.canvas(waiting)
	session := b.session(canvas, waiting)
	j := b.start(Job{Canvas: canvas, Session: session, Keep: KeepSession, Query: engine.String("x")})
	require.Eventually(t, func() bool { return b.ran.Load() == 1 }, patience, time.Millisecond)
	b.close()
	b.open()
	require.Eventually(t, func() bool { return b.ran.Load() == 2 }, patience, time.Millisecond, "the other host continues")
	b.gate <- struct{}{}
	records := b.read(j.ID)
	require.Equal(t, "workflow_started node_started:begin node_finished:begin node_started:A message message_end node_finished:A "+
		"node_started:W takeover node_finished:W node_started:B message message_end node_finished:B workflow_finished end", kinds(records))
	v, err := b.store.Sessions.Get(t.Context(), "t", session)
	require.NoError(t, err)
	messages, err := engine.ParseJSON(v.Messages)
	require.NoError(t, err)
	require.Equal(t, "firstwaited", messages.At(1).Get("content").Str())
}

func TestCancel(t *testing.T) {
	b := newBench(t)
	canvas := b.canvas(waiting)
	best := patience
	for n := range int32(5) {
		j := b.start(Job{Canvas: canvas, Keep: KeepCanvas})
		require.Eventually(t, func() bool { return b.ran.Load() == n+1 }, patience, time.Millisecond)
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
	canvas := b.canvas(waiting)
	j := b.start(Job{Canvas: canvas, Keep: KeepCanvas, Query: engine.String("x")})
	require.Eventually(t, func() bool { return b.ran.Load() == 1 }, patience, time.Millisecond)
	edited := strings.Replace(waiting, `"first"`, `"edited"`, 1)
	_, err := b.store.Canvases.Edit(t.Context(), "t", canvas, "v", func(c *store.Canvas) error {
		c.DSL = []byte(edited)
		return nil
	})
	require.NoError(t, err)
	b.gate <- struct{}{}
	b.read(j.ID)
	c, err := b.store.Canvases.Get(t.Context(), "t", canvas)
	require.NoError(t, err)
	require.Contains(t, string(c.DSL), `"edited"`)
	require.Contains(t, string(c.DSL), `"history":[["user","x"]`)
}

func TestRerunFromANode(t *testing.T) {
	b := newBench(t)
	canvas := b.canvas(waiting)
	b.gate <- struct{}{}
	j := b.start(Job{Canvas: canvas, Query: engine.String("x")})
	b.read(j.ID)
	at, err := b.runs.Before(t.Context(), j.ID, "Wait:W", 1)
	require.NoError(t, err)
	b.gate <- struct{}{}
	again := b.start(Job{Canvas: canvas, Base: j.ID, At: at})
	records := b.read(again.ID)
	require.Equal(t, "node_started:W node_finished:W node_started:B message message_end node_finished:B workflow_finished end", kinds(records))
	_, err = b.runs.Before(t.Context(), j.ID, "Missing:X", 1)
	require.ErrorIs(t, err, ErrRecord)
}

func TestAcceptedRunIsBegunByAnotherHost(t *testing.T) {
	b := newBench(t)
	canvas := b.canvas(talk)
	j := Job{ID: "r", Message: "m", Tenant: "t", Canvas: canvas, Query: engine.String("x")}
	data, err := json.Marshal(&j)
	require.NoError(t, err)
	row := store.Run{ID: j.ID, Tenant: "t", Canvas: canvas, Message: "m", Input: data}
	require.NoError(t, b.store.Runs.Start(t.Context(), row))
	row.Tenant = "t"
	b.runs.scanner.recoverRun(t.Context(), row, false)
	require.Contains(t, kinds(b.read("r")), "workflow_finished end")
}

// TestGivenUpRunTellsReaders: a reader may have seen what the last host had
// told and not stored, under the number that the end gets.
func TestGivenUpRunTellsReaders(t *testing.T) {
	b := newBench(t)
	canvas := b.canvas(waiting)
	session := b.session(canvas, waiting)
	j := b.start(Job{Canvas: canvas, Session: session, Keep: KeepSession, Query: engine.String("x")})
	require.Eventually(t, func() bool { return b.ran.Load() == 1 }, patience, time.Millisecond)
	b.only(func(ctx context.Context, r *Runs, e *runlog.Lease) error { return r.Dead(ctx, e) })
	records := b.read(j.ID)
	require.Regexp(t, "takeover end$", kinds(records))
	end := EndOf(records[len(records)-1])
	require.Equal(t, store.RunFailed, end.Status)
	require.Contains(t, end.Error, "is not tried again")
	v, err := b.store.Sessions.Get(t.Context(), "t", session)
	require.NoError(t, err)
	require.Empty(t, v.Run, "the session is free")
}
