package traces

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/runstest"
)

// patience is shorter than that of other packages: nothing here takes long.
const patience = 20 * time.Second

// bench is a host that keeps traces.
type bench struct {
	*runstest.Host
	bytes  Bytes
	room   atomic.Bool
	idle   bool // the traces are not written
	ports  engine.Ports
	traces *Traces
	runs   *runs.Runs
}

func newBench(t testing.TB) *bench {
	b := &bench{Host: runstest.New(t)}
	b.room.Store(true)
	b.bytes = NewDirectory(filepath.Join(b.Dir, "traces"))
	b.Start = b.work
	b.Logging = runlog.Config{
		Collect: Select, KeepEnded: 10 * time.Millisecond, Hold: func(run string) bool { return b.traces.Hold(run) },
	}
	b.Open()
	t.Cleanup(b.Close)
	return b
}

func (b *bench) work() (stop func()) {
	b.traces = New(Config{
		Store: b.Store, Log: b.Log, Bytes: b.bytes, Room: b.room.Load, Alone: true, Now: b.Now,
		Logger: runstest.Quiet,
		flush:  20 * time.Millisecond,
	})
	b.runs = runs.New(runs.Config{
		Store: b.Store, Log: b.Log, Registry: b.Registry, Logger: runstest.Quiet, Trace: b.traces.Take,
		Kept: b.traces.Records, Ports: func(*runs.Job) engine.Ports { return b.ports },
	})
	ctx, cancel := context.WithCancel(context.WithoutCancel(b.T.Context()))
	done := make(chan struct{})
	go func() { _ = b.runs.Work(ctx) }()
	go func() {
		defer close(done)
		if !b.idle {
			b.traces.Work(ctx)
		}
	}()
	return func() {
		b.runs.Close()
		cancel()
		<-done
	}
}

// run runs a canvas to its end and returns what the log has of it, for a trace.
func (b *bench) run(canvas, query string) (store.Run, []runlog.Record) {
	return b.ask(canvas, engine.String(query))
}

// ask is run with any value.
func (b *bench) ask(canvas string, query engine.Value) (store.Run, []runlog.Record) {
	b.T.Helper()
	j, err := b.runs.Start(b.T.Context(), runs.Job{Tenant: "t", Canvas: canvas, Query: query})
	require.NoError(b.T, err)
	records := b.Read(b.runs.Follow, j.ID)
	row, err := b.Store.Runs.Get(b.T.Context(), "t", j.ID)
	require.NoError(b.T, err)
	return row, records
}

// kept waits until a run is in a block.
func (b *bench) kept(run store.Run) []runlog.Record {
	b.T.Helper()
	var out []runlog.Record
	require.Eventually(b.T, func() bool {
		var err error
		out, err = b.traces.Records(b.T.Context(), run)
		return err == nil
	}, patience, 5*time.Millisecond)
	return out
}

// gone waits until the log of a run is deleted.
func (b *bench) gone(run string) {
	b.T.Helper()
	require.Eventually(b.T, func() bool {
		records, err := b.Log.Records(b.T.Context(), run)
		return err == nil && len(records) == 0
	}, patience, 5*time.Millisecond)
}

func same(t testing.TB, want, got []runlog.Record) {
	t.Helper()
	var left []runlog.Record
	for _, r := range want {
		if runs.Visible(r.Kind) {
			left = append(left, r)
		}
	}
	for _, r := range got {
		if !runs.Visible(r.Kind) {
			continue
		}
		require.NotEmpty(t, left)
		require.Equal(t, left[0].Kind, r.Kind)
		require.Equal(t, left[0].Seq, r.Seq)
		require.NotZero(t, r.At)
		require.Equal(t, string(left[0].Data), string(r.Data))
		left = left[1:]
	}
	require.Empty(t, left)
}

func TestRunIsKeptAfterItsLog(t *testing.T) {
	b := newBench(t)
	canvas := b.Canvas(runstest.Talk)
	var rows []store.Run
	var logs [][]runlog.Record
	for i := range 5 {
		row, records := b.run(canvas, fmt.Sprint("hello ", i))
		rows, logs = append(rows, row), append(logs, records)
	}
	for i, row := range rows {
		got := b.kept(row)
		require.Equal(t, runs.KindDocument, got[0].Kind)
		require.JSONEq(t, runstest.Talk, string(got[0].Data))
		same(t, logs[i], got)
		b.gone(row.ID)
		same(t, logs[i], b.kept(row))
	}
	trace, err := b.traces.Trace(t.Context(), rows[0])
	require.NoError(t, err)
	require.Contains(t, string(trace), "You said")
	require.NotContains(t, string(trace), `"checkpoint"`)
	other := rows[0]
	other.Tenant = "u"
	_, err = b.traces.Records(t.Context(), other)
	require.ErrorIs(t, err, runs.ErrGone)
}

// A host that was killed before it wrote traces writes them at its next start, each once.
func TestTracesAreReadFromTheLogAtTheStart(t *testing.T) {
	b := newBench(t)
	canvas := b.Canvas(runstest.Talk)
	first, before := b.run(canvas, "one")
	b.kept(first)
	b.Close()
	b.idle = true
	b.Open()
	second, after := b.run(canvas, "two")
	b.Close()
	b.idle = false
	b.Open()
	same(t, after, b.kept(second))
	same(t, before, b.kept(first))
	require.Equal(t, map[string]int{first.ID: 1, second.ID: 1}, b.counted())
}

// counted returns how often each run is in the index.
func (b *bench) counted() map[string]int {
	b.T.Helper()
	blocks, err := b.Store.Traces.Since(b.T.Context(), "")
	require.NoError(b.T, err)
	out := map[string]int{}
	for _, block := range blocks {
		for _, e := range entriesOf(block.Runs) {
			out[e.run]++
		}
	}
	return out
}

// refusing is a store of bytes that refuses all blocks while it is asked to.
type refusing struct {
	Bytes
	refuse  atomic.Bool
	refused atomic.Int32
}

func (r *refusing) Append(ctx context.Context, tenant, day string, block []byte) (Place, error) {
	if r.refuse.Load() {
		r.refused.Add(1)
		return Place{}, errors.New("refused")
	}
	return r.Bytes.Append(ctx, tenant, day, block)
}

// While a block cannot be stored, the log of its runs stays.
func TestLogStaysUntilTheTraceIsStored(t *testing.T) {
	b := newBench(t)
	b.Close()
	bytes := &refusing{Bytes: b.bytes}
	bytes.refuse.Store(true)
	b.bytes = bytes
	b.Open()
	row, records := b.run(b.Canvas(runstest.Talk), "x")
	require.Eventually(t, func() bool { return bytes.refused.Load() > 0 }, patience, time.Millisecond)
	require.True(t, b.traces.Hold(row.ID))
	stored, err := b.Log.Records(t.Context(), row.ID)
	require.NoError(t, err)
	require.NotEmpty(t, stored)
	b.Close()
	bytes.refuse.Store(false)
	b.Open() // its trace is read from the log
	same(t, records, b.kept(row))
	require.Equal(t, map[string]int{row.ID: 1}, b.counted())
}

// Without space traces stop, and runs go on.
func TestNoTracesOnAFullDisk(t *testing.T) {
	b := newBench(t)
	canvas := b.Canvas(runstest.Talk)
	b.room.Store(false)
	row, _ := b.run(canvas, "x")
	require.Equal(t, store.RunDone, row.Status)
	require.Eventually(t, func() bool { return b.traces.Counts() == Counts{Lost: 1, Stopped: true} }, patience,
		time.Millisecond)
	b.gone(row.ID)
	b.room.Store(true)
	next, _ := b.run(canvas, "y")
	b.kept(next)
	require.Eventually(t, func() bool { return b.traces.Counts() == Counts{Stored: 1, Lost: 1} }, patience,
		time.Millisecond)
	_, err := b.traces.Trace(t.Context(), row)
	require.ErrorIs(t, err, runs.ErrGone)
}

// A queue without room loses no run.
func TestFullQueueDoesNotBlock(t *testing.T) {
	b := newBench(t)
	b.Close()
	b.idle = true
	b.Open()
	for range queueRuns {
		b.traces.queue <- runs.Ended{}
	}
	row, _ := b.run(b.Canvas(runstest.Talk), "x")
	b.traces.mu.Lock()
	w := b.traces.waiting[row.ID]
	b.traces.mu.Unlock()
	require.NotNil(t, w)
	require.False(t, w.held)
	require.Zero(t, b.traces.queued.Load())
	b.traces.read(t.Context())
	b.traces.flush(t.Context(), true)
	b.kept(row)
}

// Runs that are too large to be collected are stored soon, too: the first one may be found by the
// look at the start, the second one is not.
func TestLargeRunsAreStoredSoon(t *testing.T) {
	b := newBench(t)
	canvas := b.Canvas(runstest.Talk)
	for range 2 {
		row, _ := b.run(canvas, strings.Repeat("large ", 100_000))
		stored := func() bool { return b.counted()[row.ID] == 1 }
		require.Eventually(t, stored, patience, 5*time.Millisecond)
	}
}

// Nothing that was said can be read in the files.
func TestBytesAreSealed(t *testing.T) {
	b := newBench(t)
	doc := strings.Replace(runstest.Talk, "You said", "canary of the canvas", 1)
	row, _ := b.run(b.Canvas(doc), strings.Repeat("canary of a question ", 50))
	b.kept(row)
	found := 0
	root := filepath.Join(b.Dir, "traces")
	require.NoError(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		found++
		text, err := os.ReadFile(path)
		require.NotContains(t, string(text), "canary")
		return err
	}))
	require.Equal(t, 1, found)
	blocks, err := b.Store.Traces.Since(t.Context(), "")
	require.NoError(t, err)
	moved := blocks[0]
	moved.Tenant = "u"
	_, err = b.traces.unseal(t.Context(), "t", mustRead(t, b.bytes, blocks[0]), blockPlace(moved))
	require.ErrorIs(t, err, ErrFormat)
}

func mustRead(t testing.TB, b Bytes, row store.TraceBlock) []byte {
	t.Helper()
	body, err := b.Read(t.Context(), Place{row.Tenant, row.Day, row.Place, row.At, row.Size})
	require.NoError(t, err)
	return body
}

// A tenant may keep nothing.
func TestSettingsOff(t *testing.T) {
	b := newBench(t)
	require.NoError(t, b.traces.SetSettings(t.Context(), "t", Settings{Days: 0, Bytes: 1 << 30}))
	canvas := b.Canvas(runstest.Talk)
	row, _ := b.run(canvas, "x")
	b.gone(row.ID)
	require.NoError(t, b.traces.SetSettings(t.Context(), "t", Settings{Days: 3, Bytes: 1 << 30}))
	set, err := b.traces.Settings(t.Context(), "t")
	require.NoError(t, err)
	require.Equal(t, Settings{Days: 3, Bytes: 1 << 30}, set)
	next, _ := b.run(canvas, "y")
	b.kept(next)
	require.Equal(t, map[string]int{next.ID: 1}, b.counted())
}
