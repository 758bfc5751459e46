package runs

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/runstest"
)

// casing is a canvas with one call of a model before it has waited and one after.
var casing = sketch.Canvas(
	"begin Begin -> LLM:A Wait:W",
	`LLM:A LLM {"llm_id": "m", "sys_prompt": "one", "prompts": [{"role": "user", "content": "{sys.query}"}]} -> LLM:B`,
	"Wait:W Wait -> LLM:B",
	`LLM:B LLM {"llm_id": "m", "sys_prompt": "two", "prompts": [{"role": "user", "content": "{LLM:A@content}"}]} -> m`,
	`m Message {"content": ["{LLM:B@content}, {Wait:W@result}"]}`,
)

// A run that another host has continued becomes a case with the answers that both got.
func TestARunThatWasTakenOverBecomesACase(t *testing.T) {
	b := newBench(t)
	model := &enginetest.Model{Script: []enginetest.Reply{
		enginetest.TextReply(strings.Repeat("first ", 100)), enginetest.TextReply("second"),
	}}
	b.ports = func(*Job) engine.Ports { return engine.Ports{Model: model} }
	b.Close()
	b.Open()
	j := b.start(Job{Canvas: b.Canvas(casing), Query: engine.String("q")})
	require.Eventually(t, func() bool {
		records, err := b.runs.Records(t.Context(), j.ID)
		return err == nil && slices.ContainsFunc(records, isExchange) && b.Ran.Load() == 1
	}, runstest.Patience, time.Millisecond)
	active, err := b.Store.Runs.Get(t.Context(), "t", j.ID)
	require.NoError(t, err)
	_, err = b.runs.Case(t.Context(), active)
	require.ErrorIs(t, err, ErrCase, "it has not ended")
	b.Close()
	b.Open()
	b.Gate <- struct{}{}
	require.Contains(t, kinds(b.read(j.ID)), "takeover")
	b.Gate <- struct{}{} // the case is played
	made, err := b.runs.Case(t.Context(), b.row(j.ID))
	require.NoError(t, err)
	run := made.Get("runs").At(0)
	require.Equal(t, 2, run.Get("llm_script").Len())
	require.Equal(t, "second", run.Get("llm_script").At(1).Get("text").Str())
	require.Equal(t, "q", run.Get("kwargs").Get("query").Str())
	require.True(t, engine.Equal(made.Get("dsl"), parsed(t, casing)), "the document that ran")

	c, err := enginetest.ReadCase(made)
	require.NoError(t, err)
	b.Gate <- struct{}{}
	played, err := enginetest.Play(t.Context(), b.Registry, c)
	require.NoError(t, err)
	require.Empty(t, enginetest.Compare(made, played))
}

// row returns a run when it has ended.
func (b *bench) row(run string) (row store.Run) {
	b.T.Helper()
	require.Eventually(b.T, func() bool {
		var err error
		row, err = b.Store.Runs.Get(b.T.Context(), "t", run)
		return err == nil && row.Status != store.RunActive
	}, runstest.Patience, time.Millisecond)
	return row
}

// Runs that are played again for cases wait for each other, and a client that waits may leave.
func TestCasesArePlayedAFewAtOnce(t *testing.T) {
	b := newBench(t)
	j := b.start(Job{Canvas: b.Canvas(runstest.Waiting), Query: engine.String("q")})
	b.Gate <- struct{}{}
	b.read(j.ID)
	began, row := b.Ran.Load(), b.row(j.ID)
	var wait sync.WaitGroup
	defer wait.Wait()
	held, release := context.WithCancel(t.Context())
	defer release()
	for range casesAtOnce {
		wait.Go(func() { _, _ = b.runs.Case(held, row) })
	}
	busy := func() bool { return b.Ran.Load() == began+casesAtOnce }
	require.Eventually(t, busy, runstest.Patience, time.Millisecond)
	brief, done := context.WithTimeout(t.Context(), time.Second)
	defer done()
	_, err := b.runs.Case(brief, row)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, began+casesAtOnce, b.Ran.Load(), "it was not played")
	release()
	b.Gate <- struct{}{}
	_, err = b.runs.Case(t.Context(), row)
	require.NoError(t, err)
}

func isExchange(r runlog.Record) bool { return r.Kind == string(engine.EventExchange) }

func parsed(t *testing.T, text string) engine.Value {
	t.Helper()
	v, err := engine.ParseJSONText(text)
	require.NoError(t, err)
	return v
}

// Clients get no exchanges: they hold prompts of the canvas.
func TestExchangesAreForHosts(t *testing.T) {
	require.False(t, Visible(string(engine.EventExchange)))
	require.False(t, Visible(string(engine.EventPart)))
}

// Executions without a result are repeated by a takeover, and their exchanges with them.
func TestRepeatedExchangesAreLeftOut(t *testing.T) {
	record := func(kind engine.EventType, data string) runlog.Record {
		return runlog.Record{Kind: string(kind), Data: []byte(`{"event":"x","data":` + data + `}`)}
	}
	list := entries(WithoutRepeated([]runlog.Record{
		{Kind: KindDocument},
		record(engine.EventSnapshot, `{}`),
		record(engine.EventExchange, `{"component_id":"settled"}`), record(engine.EventCheckpoint, `{}`),
		record(engine.EventExchange, `{"component_id":"done"}`), record(engine.EventResult, `{"node":"done"}`),
		record(engine.EventExchange, `{"component_id":"again"}`),
		record(engine.EventExchange, `{"component_id":"body","index_path":[1]}`),
		record(engine.EventExchange, `{"component_id":"body","index_path":[2]}`),
		record(engine.EventResult, `{"node":"Iteration","item":1}`),
		{Kind: KindTakeover},
		record(engine.EventExchange, `{"component_id":"again"}`),
		{Kind: KindEnd},
	}))
	var left []string
	for _, e := range list {
		if e.Type == enginetest.EventTakeover {
			left = append(left, "takeover")
		} else if e.Type == engine.EventExchange {
			left = append(left, e.Data().Get("component_id").Str()+e.Data().Get("index_path").JSON())
		}
	}
	require.Equal(t, "settlednull donenull body[1] takeover againnull", strings.Join(left, " "))
}

// The second turn of a conversation becomes a case with the first one in its history: the model was
// told of it.
func TestALaterTurnBecomesACase(t *testing.T) {
	b := newBench(t)
	model := &enginetest.Model{Script: []enginetest.Reply{enginetest.TextReply("one"), enginetest.TextReply("two")}}
	b.ports = func(*Job) engine.Ports { return engine.Ports{Model: model} }
	b.Close()
	b.Open()
	dsl := sketch.Canvas(
		"begin Begin -> LLM:A",
		`LLM:A LLM {"llm_id": "m", "sys_prompt": "x", "message_history_window_size": 3,
			"prompts": [{"role": "user", "content": "{sys.query}"}]} -> m`,
		`m Message {"content": ["{LLM:A@content}"]}`,
	)
	canvas := b.Canvas(dsl)
	session := b.newSession(canvas)
	for _, query := range []string{"first", "second"} {
		j := b.start(Job{Canvas: canvas, Session: session, Keep: KeepSession, Query: engine.String(query)})
		b.read(j.ID)
		made, err := b.runs.Case(t.Context(), b.row(j.ID))
		require.NoError(t, err)
		calls := made.Get("runs").At(0).Get("llm_calls").At(0).Get("messages").JSON()
		require.Equal(t, query == "second", strings.Contains(calls, "first") && strings.Contains(calls, "one"), calls)
		require.Equal(t, query == "second", made.Get("dsl").Get("history").Len() == 2)
	}
}
