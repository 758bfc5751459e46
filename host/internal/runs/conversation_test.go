package runs

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/testing/runstest"
)

// processorTime returns the processor time of the process so far.
func processorTime(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// newSession opens a session of a canvas as an API does.
func (b *bench) newSession(canvas string) string {
	b.T.Helper()
	c, err := b.Store.Canvases.Get(b.T.Context(), "t", canvas)
	require.NoError(b.T, err)
	v, err := b.runs.NewSession(c, newID(), "u", "", "api")
	require.NoError(b.T, err)
	v, err = b.Store.Sessions.Create(b.T.Context(), v)
	require.NoError(b.T, err)
	return v.ID
}

// ask is a turn of a session; it returns the bytes of its run log.
func (b *bench) ask(canvas, session, question string) int {
	b.T.Helper()
	j := b.start(Job{Canvas: canvas, Session: session, Keep: KeepSession, Query: engine.String(question)})
	n := 0
	require.NoError(b.T, b.runs.Follow(b.T.Context(), j.ID, runlog.Pos{}, func(r runlog.Record) bool { return true }))
	records, err := b.runs.Records(b.T.Context(), j.ID)
	require.NoError(b.T, err)
	for _, r := range records {
		n += len(r.Data)
	}
	return n
}

// A turn does not cost more because of the turns before it: not in processor time, in its run log,
// in what it writes to the session, or in compiled plans.
func TestTurnsCostTheSame(t *testing.T) {
	b := newBench(t)
	canvas := b.Canvas(runstest.Talk)
	first, second := b.newSession(canvas), b.newSession(canvas)
	const turns, window = 400, 50
	question := strings.Repeat("why? ", 20)
	logged := make([]int, turns)
	var early, late time.Duration
	for i := range turns {
		if i%window == 0 {
			late -= processorTime(t)
		}
		logged[i] = b.ask(canvas, first, question)
		if i%window == window-1 {
			late += processorTime(t)
			if i == 2*window-1 {
				early = late
			}
			if i < turns-1 {
				late = 0
			}
		}
	}
	b.ask(canvas, second, question)
	t.Logf("processor time of %d turns: %v early, %v late", window, early, late)
	require.InDelta(t, logged[10], logged[turns-1], 100, "bytes of the run log")
	require.Less(t, late, 2*early, "processor time")
	b.runs.plans.mu.Lock()
	require.LessOrEqual(t, len(b.runs.plans.byHash), 2, "plans: that of the canvas, and that of its sessions")
	b.runs.plans.mu.Unlock()

	head, err := b.Store.Sessions.Head(t.Context(), "t", first)
	require.NoError(t, err)
	require.EqualValues(t, turns, head.Turns)
	require.Less(t, len(head.State), 2000)
	last, err := b.Store.Sessions.LastTurns(t.Context(), first, 1)
	require.NoError(t, err)
	require.Less(t, len(last[0].Messages), 2*len(question)+300)

	whole, err := b.Store.Sessions.Get(t.Context(), "t", first)
	require.NoError(t, err)
	messages, err := engine.ParseJSON(whole.Messages)
	require.NoError(t, err)
	require.Equal(t, 2*turns, messages.Len())
	doc, err := engine.ParseJSON(whole.DSL)
	require.NoError(t, err)
	require.Equal(t, 2*turns, doc.Get("history").Len())
	require.Equal(t, turns, doc.Get("retrieval").Len())
	require.Equal(t, 2*turns, doc.Get("globals").Get("sys.history").Len())
	require.Equal(t, "assistant: You said "+question, doc.Get("globals").Get("sys.history").At(2*turns-1).Str())
}

// What a canvas reads of its conversation is there, also when the session has more.
func TestTurnsReadWhatTheCanvasNames(t *testing.T) {
	b := newBench(t)
	for name, tt := range map[string]struct{ canvas, want string }{
		"a line": {sketch.Canvas("begin Begin -> ListOperations:L",
			`ListOperations:L ListOperations {"query":"sys.history","operations":"nth","n":1} -> Message:A`,
			`Message:A Message {"content":["{ListOperations:L@first}"]}`), "user: q0"},
		"the number of turns": {sketch.Canvas("begin Begin -> Message:A",
			`Message:A Message {"content":["{sys.conversation_turns}"]}`), "30"},
	} {
		t.Run(name, func(t *testing.T) {
			canvas := b.Canvas(tt.canvas)
			session := b.newSession(canvas)
			for i := range 30 {
				b.ask(canvas, session, fmt.Sprint("q", i))
			}
			v, err := b.Store.Sessions.Get(t.Context(), "t", session)
			require.NoError(t, err)
			messages, err := engine.ParseJSON(v.Messages)
			require.NoError(t, err)
			require.Contains(t, messages.At(59).Get("content").Str(), tt.want)
		})
	}
}

// lists returns the lengths of the messages, references, history and retrieval of a session.
func (b *bench) lists(session string) [4]int {
	b.T.Helper()
	v, err := b.Store.Sessions.Get(b.T.Context(), "t", session)
	require.NoError(b.T, err)
	var n [3]engine.Value
	for i, text := range [][]byte{v.Messages, v.Reference, v.DSL} {
		n[i], err = engine.ParseJSON(text)
		require.NoError(b.T, err)
	}
	return [4]int{n[0].Len(), n[1].Len(), n[2].Get("history").Len(), n[2].Get("retrieval").Len()}
}

// A turn that another host continues adds to the conversation what it would have added here.
func TestTurnsAreAddedOnceAfterATakeover(t *testing.T) {
	b := newBench(t)
	canvas := b.Canvas(runstest.Waiting)
	session := b.newSession(canvas)
	for i := range 3 {
		j := b.start(Job{Canvas: canvas, Session: session, Keep: KeepSession, Query: engine.String(fmt.Sprint("q", i))})
		if i == 2 {
			require.Eventually(t, func() bool { return b.Ran.Load() == 3 }, runstest.Patience, time.Millisecond)
			b.Close()
			b.Open()
		}
		b.Gate <- struct{}{}
		b.read(j.ID)
		require.Equal(t, [4]int{2 * (i + 1), i + 1, 2 * (i + 1), i + 1}, b.lists(session), "turn %d", i)
	}
}

// A session of a former version, whose document has all its turns, is continued: its runs log no
// more of them than the canvas reads.
func TestFormerSessionsAreContinued(t *testing.T) {
	b := newBench(t)
	canvas := b.Canvas(runstest.Talk)
	before := b.newSession(canvas)
	b.ask(canvas, before, "q")
	v, err := b.Store.Sessions.Get(t.Context(), "t", before)
	require.NoError(t, err)
	doc, err := engine.ParseJSON(v.DSL)
	require.NoError(t, err)
	const entries = 200
	var history, lines []engine.Value
	for i := range entries {
		role := []string{"user", "assistant"}[i%2]
		history = append(history, engine.List(engine.String(role), engine.String("said")))
		lines = append(lines, engine.String(role+": said"))
	}
	doc = doc.With("history", engine.List(history...)).
		With("globals", doc.Get("globals").With("sys.history", engine.List(lines...)))
	session := b.Session(canvas, doc.JSON())
	first := b.ask(canvas, session, "again")
	second := b.ask(canvas, session, "again")
	require.InDelta(t, first, second, 300, "bytes of the run log")
	whole, err := b.Store.Sessions.Get(t.Context(), "t", session)
	require.NoError(t, err)
	doc, err = engine.ParseJSON(whole.DSL)
	require.NoError(t, err)
	require.Equal(t, entries+4, doc.Get("history").Len())
	require.Equal(t, entries+4, doc.Get("globals").Get("sys.history").Len())
	require.Equal(t, "assistant: You said again", doc.Get("globals").Get("sys.history").At(entries+3).Str())
	require.Equal(t, 3, doc.Get("retrieval").Len(), "that of the document and those of two turns")
}
