package runs

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
)

// asking is a canvas with a form, whose params are given.
func asking(params string) string {
	return sketch.Canvas("begin Begin -> UserFillUp:F",
		`UserFillUp:F UserFillUp {
			"inputs":{"city":{"name":"City","type":"line","value":"Oslo"}}`+params+`} -> Message:M`,
		`Message:M Message {"content":["city {UserFillUp:F@city}"]}`)
}

// paused starts a job and returns its run when it waits.
func (b *bench) paused(j Job) string {
	b.T.Helper()
	j.Query = engine.String("x")
	j = b.start(j)
	b.read(j.ID)
	require.Equal(b.T, store.RunPaused, b.row(j.ID).Status)
	return j.ID
}

func (b *bench) wait(run string) store.Wait {
	b.T.Helper()
	v, err := b.Store.Waits.Get(b.T.Context(), "t", run)
	require.NoError(b.T, err)
	return v
}

// expire moves the clock on and ends the waiting of what is due, after a restart.
func (b *bench) expire(after time.Duration) {
	b.T.Helper()
	b.Later.Add(int64(after))
	b.Close()
	b.Open()
	require.NoError(b.T, b.runs.expiry.expireDue(b.T.Context()))
}

func text(records []runlog.Record) string {
	var said Transcript
	for _, r := range records {
		said.Take(r)
	}
	return said.Text.String()
}

// Without an answer for 7 days a run is canceled, wherever its state is, and what comes next begins
// at the start.
func TestUnansweredRunsAreCanceled(t *testing.T) {
	for _, keep := range []Keep{KeepNothing, KeepSession, KeepCanvas} {
		t.Run("keep "+string(keep), func(t *testing.T) {
			b := newBench(t)
			j := Job{Canvas: b.Canvas(asking("")), Keep: keep}
			if keep == KeepSession {
				j.Session = b.Session(j.Canvas, asking(""))
			}
			run := b.paused(j)
			b.expire(7*24*time.Hour - time.Hour)
			require.Equal(t, store.RunPaused, b.row(run).Status)
			b.expire(2 * time.Hour)
			require.Equal(t, store.RunCanceled, b.row(run).Status)
			require.Regexp(t, `^expired: not answered until \d{4}-`, b.row(run).Error)
			require.Equal(t, store.WaitExpired, b.wait(run).State)
			_, err := b.runs.Start(t.Context(), AnswerJob(b.row(run), string(keep), engine.Object("city", "Bergen")))
			require.ErrorIs(t, err, ErrAnswered)
			b.paused(j) // waits again: the question is not an answer
		})
	}
}

// A node names another time, and what happens then.
func TestUnansweredRunsGoOn(t *testing.T) {
	const approval = `Message:M Message {"content":["sent"],"approval":true,"expires":"90m","on_expiry":"no"}`
	for name, c := range map[string]struct {
		dsl  string
		want string
	}{
		"form":     {asking(`,"expires":"1h","on_expiry":"default"`), "city Oslo"},
		"approval": {sketch.Canvas("begin Begin -> Message:M", approval), ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			run := b.paused(Job{Canvas: b.Canvas(c.dsl)})
			b.ForgetRun(run)
			b.expire(2 * time.Hour)
			v := b.wait(run)
			require.Equal(t, store.WaitAnswered, v.State)
			require.Equal(t, store.RunDone, b.row(run).Status)
			require.Equal(t, ByHost, PrincipalOf(v.By).Kind)
			records := b.read(v.Next)
			require.Equal(t, c.want, text(records))
			require.Equal(t, c.want == "", EndOf(records[len(records)-1]).Code == engine.CodeRejected)
			data, err := b.Store.Waits.Data(t.Context(), "t", run)
			require.NoError(t, err)
			require.Empty(t, data, "the state goes when the next run has ended")
		})
	}
}

// A form without a value for a required field cannot go on by itself.
func TestUnansweredRunWithoutDefaultsIsCanceled(t *testing.T) {
	b := newBench(t)
	dsl := strings.Replace(asking(`,"on_expiry":"default"`), `"value":"Oslo"`, `"value":""`, 1)
	run := b.paused(Job{Canvas: b.Canvas(dsl)})
	b.expire(8 * 24 * time.Hour)
	require.Equal(t, store.RunCanceled, b.row(run).Status)
}

// What is answered begins exactly once, also when its host has died right after the commit.
func TestAnswerIsTakenUpAfterACrash(t *testing.T) {
	b := newBench(t)
	run := b.paused(Job{Canvas: b.Canvas(asking(""))})
	b.ForgetRun(run)
	j := AnswerJob(b.row(run), "", engine.Object("city", "Bergen"))
	j.ID, j.Message, j.Recorded = "next", "next", true
	data, err := json.Marshal(&j)
	require.NoError(t, err)
	row := store.Run{
		ID: j.ID, Tenant: "t", Canvas: j.Canvas, Message: j.Message, Input: data, Answers: store.Answers{Run: run},
	}
	require.NoError(t, b.Store.Runs.Start(t.Context(), row))
	row.ID = "other"
	require.ErrorIs(t, b.Store.Runs.Start(t.Context(), row), store.ErrAnswered)
	b.Close()
	b.Open()
	require.Equal(t, store.RunDone, b.row("next").Status)
	require.Equal(t, "city Bergen", text(b.read("next")))
}

// A run whose answer the log does not take waits again.
func TestRefusedAnswerLeavesTheRunWaiting(t *testing.T) {
	b := newBench(t)
	run := b.paused(Job{Canvas: b.Canvas(asking(""))})
	j := AnswerJob(b.row(run), "", engine.Object("city", "Bergen"))
	require.NoError(t, b.NATS.Close())
	_, err := b.runs.Start(t.Context(), j)
	require.ErrorIs(t, err, runlog.ErrStopping)
	require.Equal(t, store.RunPaused, b.row(run).Status)
	require.Equal(t, store.WaitOpen, b.wait(run).State)
	b.runs.Close()
	require.NoError(t, b.Store.Close())
	b.Open()
	next := b.start(AnswerJob(b.row(run), "", engine.Object("city", "Bergen")))
	require.Equal(t, "city Bergen", text(b.read(next.ID)))
}

// An ordinary turn of a session answers what waits there.
func TestTurnAnswersItsSession(t *testing.T) {
	b := newBench(t)
	canvas := b.Canvas(asking(""))
	j := Job{Canvas: canvas, Session: b.Session(canvas, asking("")), Keep: KeepSession}
	run := b.paused(j)
	j.Inputs = engine.Object("city", "Bergen")
	next := b.start(j)
	require.Equal(t, "city Bergen", text(b.read(next.ID)))
	require.Equal(t, store.RunDone, b.row(run).Status)
	require.Equal(t, next.ID, b.wait(run).Next)
	list, _, err := b.Store.Runs.List(t.Context(), store.RunFilter{Tenant: "t", Status: store.RunPaused}, store.Page{})
	require.NoError(t, err)
	require.Empty(t, list)
}

// Runs that wait stay in the history, however old.
func TestWaitingRunsAreNotForgotten(t *testing.T) {
	b := newBench(t)
	run := b.paused(Job{Canvas: b.Canvas(asking(`,"expires":"2000h"`))})
	b.Later.Add(int64(1000 * time.Hour))
	b.runs.history.keep = time.Hour
	for range 2 {
		require.NoError(t, b.runs.history.forgetOld(t.Context()))
	}
	require.Equal(t, store.RunPaused, b.row(run).Status)
}

func TestTimesOfForms(t *testing.T) {
	b := newBench(t)
	wrong := []string{`,"expires":"7d"`, `,"expires":"-1h"`, `,"expires":"9000h"`, `,"on_expiry":"maybe"`}
	for _, params := range wrong {
		_, err := engine.Load(b.Registry, []byte(asking(params)))
		require.ErrorContains(t, err, "UserFillUp:F", params)
	}
	run := b.paused(Job{Canvas: b.Canvas(asking(`,"expires":"72h"`))})
	v := b.wait(run)
	require.Equal(t, 72*time.Hour, time.Duration(v.ExpireTime-v.CreateTime)*time.Millisecond, fmt.Sprint(v))
}

// Runs that go on without an answer keep the limits of the key with which the first of them began,
// also after they have waited again.
func TestUnansweredRunsKeepTheirKey(t *testing.T) {
	for by, want := range map[Principal]string{
		{Kind: ByKey, ID: "k", User: "ann"}:     "k",
		{Kind: ByLogin, ID: "ann", User: "ann"}: "",
		{Kind: ByWebhook, ID: "c"}:              "",
	} {
		b := newBench(t)
		const form = ` UserFillUp {"expires":"1h","on_expiry":"default","inputs":{}} -> `
		again := sketch.Canvas("begin Begin -> UserFillUp:F", "UserFillUp:F"+form+"UserFillUp:G",
			"UserFillUp:G"+form+"Message:M", `Message:M Message {"content":["done"]}`)
		run := b.paused(Job{Canvas: b.Canvas(again), Principal: by})
		for range 2 {
			b.expire(2 * time.Hour)
			v := b.wait(run)
			require.Equal(t, store.WaitAnswered, v.State)
			require.Equal(t, Principal{Kind: ByHost, ID: want}, PrincipalOf(v.By), "%+v", by)
			b.read(v.Next)
			run = v.Next
		}
	}
}
