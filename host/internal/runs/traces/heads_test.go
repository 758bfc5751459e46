package traces

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/runstest"
)

// Lists have the beginning of question and answer of kept runs, of each from its own run, also
// after a block was written again.
func TestHeadsOfRuns(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	canvas := b.Canvas(runstest.Talk)
	var rows []store.Run
	for _, query := range []string{"short", strings.Repeat("é\n ", 500), ""} {
		row, _ := b.run(canvas, query)
		b.kept(row)
		rows = append(rows, row)
	}
	heads, err := b.traces.Heads(ctx, rows)
	require.NoError(t, err)
	require.Len(t, heads, 3)
	require.Equal(t, "short", heads[rows[0].ID].Question)
	require.Contains(t, heads[rows[0].ID].Answer, "short")
	long := heads[rows[1].ID].Question
	require.True(t, strings.HasPrefix(long, "é é é"), long)
	require.True(t, strings.HasSuffix(long, "…"))
	require.LessOrEqual(t, utf8.RuneCountInString(long), headRunes+1)
	require.Empty(t, heads[rows[2].ID].Question)

	active := rows[0]
	active.Status = store.RunActive
	heads, err = b.traces.Heads(ctx, []store.Run{active})
	require.NoError(t, err)
	require.Empty(t, heads)
}

// The heads of a block are sealed, and go with the runs that are deleted.
func TestHeadsAreSealedAndDeleted(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	canvas := b.Canvas(runstest.Talk)
	row, _ := b.run(canvas, "canary-question")
	other, _ := b.run(canvas, "other")
	b.kept(row)
	b.kept(other)
	blocks, err := b.Store.Traces.Blocks(ctx, "t", "")
	require.NoError(t, err)
	for _, block := range blocks {
		sealed, err := b.Store.Traces.Heads(ctx, block.ID)
		require.NoError(t, err)
		require.NotEmpty(t, sealed)
		require.NotContains(t, string(sealed), "canary")
		require.NoError(t, b.traces.rewriteBlock(ctx, block, map[string]bool{row.ID: true}))
	}
	heads, err := b.traces.Heads(ctx, []store.Run{row, other})
	require.NoError(t, err)
	require.NotContains(t, heads, row.ID)
	require.Equal(t, "other", heads[other.ID].Question)
	blocks, err = b.Store.Traces.Blocks(ctx, "t", "")
	require.NoError(t, err)
	for _, block := range blocks {
		known, err := headsOf(ctx, b.traces, block)
		require.NoError(t, err)
		require.NotContains(t, known, row.ID)
	}
}

// Blocks of a former version have no heads: these are read from the traces.
func TestHeadsOfFormerBlocks(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	row, _ := b.run(b.Canvas(runstest.Talk), "asked before")
	b.kept(row)
	blocks, err := b.Store.Traces.Blocks(ctx, "t", "")
	require.NoError(t, err)
	require.Len(t, blocks, 1)
	former := blocks[0] // read without its heads
	require.NoError(t, b.Store.Traces.Replace(ctx, former.ID, former))
	heads, err := b.traces.Heads(ctx, []store.Run{row})
	require.NoError(t, err)
	require.Equal(t, "asked before", heads[row.ID].Question)
}

func TestReasoningIsNotInHeads(t *testing.T) {
	require.Equal(t, "a c", shortened(withoutReasoning("a <think>b</think>c")))
	require.Equal(t, "a", shortened(withoutReasoning("a <think>cut")))
	require.Equal(t, "city: Oslo, n: 3", asked(engine.String(""), parsed(t, `{"city":{"value":"Oslo"},"n":3}`)))
	require.Equal(t, "\uFFFD", shortened("\xff"))
}

// The question is found without parsing the state, and not in what a state has elsewhere.
func TestQuestionOfAState(t *testing.T) {
	for _, tt := range []struct{ state, want string }{
		{`{"data":{"globals":{"sys.query":"a \"b\" \\","x":1}}}`, `a "b" \`},
		{`{"data":{"globals":{"x":1,"sys.query":"later"}}}`, "later"},
		{`{"data":{"globals":{"sys.query":["a",1]}}}`, `["a", 1]`},
		{`{"data":{"globals":{"sys.query":""},"run":{"inputs":{"city":"Oslo"}}}}`, "city: Oslo"},
		{`{"data":{"history":[{"globals":{"sys.query":"false"}}],"globals":{"sys.query":"true"}}}`, "true"},
		{`{"data":{"history":["\"globals\":{\"sys.query\":\"false\""],"globals":{"sys.query":"true"}}}`, "true"},
		{`{"data":{"globals":{"sys.query":"cut`, ""},
	} {
		require.Equal(t, tt.want, questionOf([]byte(tt.state)), tt.state)
	}
}

// Each way to lose a trace has its reason.
func TestReasonsOfMissingTraces(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	canvas := b.Canvas(runstest.Talk)
	state := func(row store.Run) Why {
		why, err := b.traces.State(ctx, row)
		require.NoError(t, err)
		return why
	}
	row, _ := b.run(canvas, "x")
	b.kept(row)
	require.Equal(t, Kept, state(row))
	require.Equal(t, Kept, b.traces.Stopped("t"))

	b.room.Store(false)
	require.Equal(t, DiskFull, b.traces.Stopped("t"))
	lost, _ := b.run(canvas, "y")
	require.Eventually(t, func() bool { return b.traces.Counts().Lost == 1 }, patience, time.Millisecond)
	b.gone(lost.ID)
	require.Equal(t, DiskFull, state(lost), "before it is recorded")
	writeStops(ctx, b.traces)
	require.Empty(t, b.traces.stops)
	require.Equal(t, DiskFull, state(lost))
	b.room.Store(true)

	b.Later.Store(int64(24 * time.Hour))
	require.NoError(t, b.traces.SetSettings(ctx, "t", Settings{Days: 30, Bytes: 1}))
	require.NoError(t, b.traces.Retain(ctx))
	require.Equal(t, TooLarge, state(row))
	require.Equal(t, DiskFull, state(lost))

	next, _ := b.run(canvas, "z")
	b.kept(next)
	b.Later.Store(int64(72 * time.Hour))
	require.NoError(t, b.traces.SetSettings(ctx, "t", Settings{Days: 1, Bytes: 1 << 30}))
	require.NoError(t, b.traces.Retain(ctx))
	require.Equal(t, Expired, state(next))

	b.Later.Store(0)
	require.NoError(t, b.traces.SetSettings(ctx, "t", Settings{}))
	require.Equal(t, Switched, b.traces.Stopped("t"))
	off, _ := b.run(canvas, "off")
	require.Equal(t, Switched, state(off))
	require.NoError(t, b.traces.SetSettings(ctx, "t", Defaults))
	former := off
	former.ID, former.EndTime = "former", time.Now().Add(-time.Hour).UnixMilli()
	former.Canvas = b.Canvas(sketch.Canvas("begin Begin"))
	require.Contains(t, []Why{Unknown, Expired}, state(former))
}

// Stops that follow each other soon are one, and their number is bounded.
func TestStopsAreBounded(t *testing.T) {
	var l losses
	l.addStop(stop{1000, 2000})
	l.addStop(stop{3000, 4000})
	require.Equal(t, []stop{{1000, 4000}}, l.Stops)
	for i := range int64(2 * stopsMost) {
		l.addStop(stop{i * 10_000_000, i*10_000_000 + 1})
	}
	require.Len(t, l.Stops, stopsMost)
}

func parsed(t *testing.T, text string) engine.Value {
	t.Helper()
	v, err := engine.ParseJSONText(text)
	require.NoError(t, err)
	return v
}
