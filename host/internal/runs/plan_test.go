package runs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/runstest"
)

// TestRunsTakeTheCanvasAsItIs: what is remembered of a canvas is never older
// than the run, also when another process has saved it.
func TestRunsTakeTheCanvasAsItIs(t *testing.T) {
	b := newBench(t)
	id := b.Canvas(runstest.Talk)
	beside := runstest.Records(t, store.Config{Dir: b.Dir})
	said := func() string {
		j := b.start(Job{Canvas: id, Query: engine.String("x")})
		var said Transcript
		for _, r := range b.read(j.ID) {
			said.Take(r)
		}
		return said.Text.String()
	}
	require.Equal(t, "You said x", said())
	for _, s := range []*store.Store{b.Store, beside, beside} {
		verb := "You said"
		for range 3 {
			again := verb + " again"
			_, err := s.Canvases.Edit(t.Context(), "t", id, "", func(c *store.Canvas) error {
				c.DSL = []byte(strings.Replace(string(c.DSL), verb, again, 1))
				return nil
			})
			require.NoError(t, err)
			require.Contains(t, said(), again)
			require.Contains(t, said(), again)
			verb = again
		}
	}
	_, err := beside.Canvases.Edit(t.Context(), "t", id, "", func(c *store.Canvas) error {
		c.DSL = []byte(runstest.Waiting)
		return nil
	})
	require.NoError(t, err)
	j := b.start(Job{Canvas: id, From: "Message:B"})
	require.Contains(t, kinds(b.read(j.ID)), "node_started:B", "a node that only the present canvas has")
	for _, j := range []Job{{From: "Message:C"}, {Until: "Message:C"}} {
		j.Tenant, j.Canvas = "t", id
		_, err = b.runs.Start(t.Context(), j)
		require.ErrorIs(t, err, ErrCanvas)
	}
	_, err = b.runs.Start(t.Context(), Job{Tenant: "other", Canvas: id})
	require.ErrorIs(t, err, store.ErrNotFound, "it is another tenant's")
	require.NoError(t, beside.Canvases.Delete(t.Context(), "t", id))
	_, err = b.runs.Start(t.Context(), Job{Tenant: "t", Canvas: id})
	require.ErrorIs(t, err, store.ErrNotFound)
}

// An end inside a group, and outputs that a node does not have, are refused before the run.
func TestStartsThatDoNotFit(t *testing.T) {
	b := newBench(t)
	id := b.Canvas(sketch.Canvas("begin Begin -> Iteration:I",
		`Iteration:I Iteration {"items_ref":"{sys.query}"} -> Message:E`,
		"IterationItem:X IterationItem -> Message:M ^ Iteration:I", `Message:M Message {"content":["x"]} ^ Iteration:I`,
		`Message:E Message {"content":["done"]}`))
	for want, j := range map[string]Job{
		`node "Message:M" is inside a group`: {Until: "Message:M"},
		"content":                            {Pins: engine.Object("Message:E", engine.Object("content", 7))},
	} {
		j.Tenant, j.Canvas = "t", id
		_, err := b.runs.Start(t.Context(), j)
		require.ErrorIs(t, err, ErrCanvas)
		require.ErrorContains(t, err, want)
	}
}

// TestRunsStopAfterANode: a run with an end has no later nodes, and succeeds.
func TestRunsStopAfterANode(t *testing.T) {
	b := newBench(t)
	j := b.start(Job{Canvas: b.Canvas(runstest.Talk), Query: engine.String("x"), Until: "begin"})
	seen := kinds(b.read(j.ID))
	require.Contains(t, seen, "node_finished:begin")
	require.Equal(t, 1, strings.Count(seen, "node_started:"), seen)
}

// BenchmarkRun is a run of two nodes, from the job to its last record.
func BenchmarkRun(b *testing.B) {
	w := newBench(b)
	id := w.Canvas(runstest.Talk)
	b.SetParallelism(16)
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			j, err := w.runs.Start(b.Context(), Job{Tenant: "t", Canvas: id, Query: engine.String("x")})
			require.NoError(b, err)
			require.NoError(b, w.runs.Follow(b.Context(), j.ID, runlog.Pos{}, func(runlog.Record) bool { return true }))
		}
	})
}

// TestPlansAreBoundedInBytes loads canvases of many sizes; what the cache holds stays within its
// bound, and a canvas that would fill it alone is compiled each time.
func TestPlansAreBoundedInBytes(t *testing.T) {
	b := newBench(t)
	p := &plans{registry: b.runs.plans.registry, most: 1 << 20}
	padded := func(i, size int) []byte {
		return []byte(strings.Replace(runstest.Talk, "You said", fmt.Sprint(i)+strings.Repeat("x", size), 1))
	}
	held := func() (n int64) {
		for _, v := range p.saved {
			n += int64(len(v.doc))
		}
		for _, c := range p.byHash {
			n += int64(len(c.canvas.Document().JSON()))
		}
		return n
	}
	for i := range 200 {
		doc := padded(i, 20_000)
		c, err := p.load(doc)
		require.NoError(t, err)
		again, err := p.load(doc)
		require.NoError(t, err)
		require.Same(t, c, again)
		p.keep(&Job{Tenant: "t", Canvas: fmt.Sprint(i)}, revision{rev: 1, doc: doc, canvas: c})
		require.Equal(t, int64(1), p.last(&Job{Tenant: "t", Canvas: fmt.Sprint(i)}).rev)
		require.LessOrEqual(t, held(), p.most)
	}
	large := padded(0, 600_000)
	c, err := p.load(large)
	require.NoError(t, err)
	p.keep(&Job{Tenant: "t", Canvas: "large"}, revision{rev: 1, doc: large, canvas: c})
	again, err := p.load(large)
	require.NoError(t, err)
	require.NotSame(t, c, again)
	require.Zero(t, p.last(&Job{Tenant: "t", Canvas: "large"}).rev)
}

// BenchmarkTurn is the same run as a turn, in as many sessions as there are clients.
func BenchmarkTurn(b *testing.B) {
	w := newBench(b)
	id := w.Canvas(runstest.Talk)
	b.SetParallelism(16)
	b.RunParallel(func(p *testing.PB) {
		session := w.Session(id, runstest.Talk)
		for n := 0; p.Next(); n++ {
			if n%50 == 49 { // its history grows with each turn
				session = w.Session(id, runstest.Talk)
			}
			j, err := w.runs.Start(b.Context(), Job{Tenant: "t", Canvas: id, Session: session, Keep: KeepSession, Query: engine.String("x")})
			require.NoError(b, err)
			require.NoError(b, w.runs.Follow(b.Context(), j.ID, runlog.Pos{}, func(runlog.Record) bool { return true }))
		}
	})
}
