package traces

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/testing/runstest"
)

// turn runs a turn of a session to its end, and returns the run.
func (b *bench) turn(canvas, session, query string) string {
	b.T.Helper()
	j, err := b.runs.Start(b.T.Context(), runs.Job{
		Tenant: "t", Canvas: canvas, Session: session, Keep: runs.KeepSession, Query: engine.String(query),
	})
	require.NoError(b.T, err)
	b.Read(b.runs.Follow, j.ID)
	return j.ID
}

// A deleted session has no traces: they are not read from then on, and their bytes go, while those
// of others in the same block stay.
func TestDeletedSessionsHaveNoTraces(t *testing.T) {
	b := newBench(t)
	canvas := b.Canvas(runstest.Talk)
	one, two := b.Session(canvas, runstest.Talk), b.Session(canvas, runstest.Talk)
	deleted, stays := b.turn(canvas, one, "canary-of-one"), b.turn(canvas, two, "words of two")
	for _, id := range []string{deleted, stays} {
		row, err := b.Store.Runs.Get(t.Context(), "t", id)
		require.NoError(t, err)
		b.kept(row)
	}
	require.NoError(t, b.Store.Sessions.Delete(t.Context(), "t", one))
	row, err := b.Store.Runs.Get(t.Context(), "t", deleted)
	require.NoError(t, err)
	_, err = b.traces.Records(t.Context(), row)
	require.ErrorIs(t, err, runs.ErrGone, "at once")
	_, err = b.traces.Trace(t.Context(), row)
	require.ErrorIs(t, err, runs.ErrGone, "and not from the run log either")

	require.NoError(t, b.traces.rewrite(t.Context()))
	blocks, err := b.Store.Traces.Blocks(t.Context(), "t", "")
	require.NoError(t, err)
	found := ""
	for _, block := range blocks {
		raw, err := b.traces.raw(t.Context(), block)
		require.NoError(t, err)
		found += string(raw) + string(block.Runs)
	}
	require.NotContains(t, found, "canary-of-one")
	require.NotContains(t, found, deleted)
	require.Contains(t, found, "words of two")
	other, err := b.Store.Runs.Get(t.Context(), "t", stays)
	require.NoError(t, err)
	_, err = b.traces.Records(t.Context(), other)
	require.NoError(t, err)
	require.NoError(t, b.traces.rewrite(t.Context()), "again")
	again, err := b.Store.Traces.Blocks(t.Context(), "t", "")
	require.NoError(t, err)
	require.Equal(t, blocks, again, "nothing is left to do")
}

// The bytes of a rewritten block are erased in the file.
func TestRewrittenBlocksAreErased(t *testing.T) {
	b := newBench(t)
	canvas := b.Canvas(runstest.Talk)
	session := b.Session(canvas, runstest.Talk)
	row, err := b.Store.Runs.Get(t.Context(), "t", b.turn(canvas, session, "x"))
	require.NoError(t, err)
	b.kept(row)
	blocks, err := b.Store.Traces.Blocks(t.Context(), "t", "")
	require.NoError(t, err)
	require.Len(t, blocks, 1)
	require.NoError(t, b.Store.Sessions.Delete(t.Context(), "t", session))
	require.NoError(t, b.traces.rewrite(t.Context()))
	files, err := filepath.Glob(filepath.Join(b.Dir, "traces", "*", "*", "*.blk"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	data, err := os.ReadFile(files[0])
	require.NoError(t, err)
	require.Equal(t, make([]byte, len(data)), data)
}

// A run becomes the same case from its trace as from its log, with the answers of its model.
func TestOldRunsBecomeCases(t *testing.T) {
	b := newBench(t)
	b.ports.Model = &enginetest.Model{Script: []enginetest.Reply{enginetest.TextReply(strings.Repeat("long ", 200))}}
	row, _ := b.run(b.Canvas(sketch.Canvas(
		"begin Begin -> LLM:A",
		`LLM:A LLM {"llm_id": "m", "sys_prompt": "x", "prompts": [{"role": "user", "content": "{sys.query}"}]} -> m`,
		`m Message {"content": ["{LLM:A@content}"]}`,
	)), "hello")
	fresh, err := b.runs.Case(t.Context(), row)
	require.NoError(t, err)
	b.kept(row)
	b.gone(row.ID)
	old, err := b.runs.Case(t.Context(), row)
	require.NoError(t, err)
	require.JSONEq(t, fresh.JSON(), old.JSON())
	require.Contains(t, old.Get("runs").At(0).Get("llm_script").JSON(), "long long")
}

// A run that is deleted before its trace is stored gets none from its log.
func TestDeletedRunsAreNotReadFromTheLog(t *testing.T) {
	b := newBench(t)
	b.Close()
	b.idle = true
	b.Open()
	canvas := b.Canvas(runstest.Talk)
	one, two := b.Session(canvas, runstest.Talk), b.Session(canvas, runstest.Talk)
	b.turn(canvas, one, "canary-of-one")
	stays := b.turn(canvas, two, "words of two")
	require.NoError(t, b.Store.Sessions.Delete(t.Context(), "t", one))
	b.Close()
	b.idle = false
	b.Open()
	row, err := b.Store.Runs.Get(t.Context(), "t", stays)
	require.NoError(t, err)
	b.kept(row)
	require.Eventually(t, func() bool { return b.traces.Counts().Waiting == 0 }, patience, 5*time.Millisecond)
	blocks, err := b.Store.Traces.Blocks(t.Context(), "t", "")
	require.NoError(t, err)
	for _, block := range blocks {
		raw, err := b.traces.raw(t.Context(), block)
		require.NoError(t, err)
		require.NotContains(t, string(raw), "canary-of-one")
	}
}
