package v2_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/limit/memlimit"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// keyWith returns a key of tenant one with some scopes.
func keyWith(s *apitest.Site, scopes ...string) string {
	s.T.Helper()
	_, text, err := s.Store.Keys.Create(s.T.Context(), store.Key{Tenant: "one", User: "one", Scopes: scopes}, "")
	require.NoError(s.T, err)
	return text
}

// What happened inside the nodes of a run is for keys that may read traces. Others get the events
// with their places, times and errors, and what was said.
func TestEventsWithoutTraces(t *testing.T) {
	s := apitest.New(t)
	e, err := s.Log.Claim(t.Context(), runlog.Run{ID: "r"})
	require.NoError(t, err)
	run := store.Run{ID: "r", Tenant: "one", Canvas: s.Canvas("a", apitest.Echo), Message: "m"}
	require.NoError(t, s.Store.Runs.Start(t.Context(), run))
	record := func(kind, data string) runlog.Record {
		return runlog.Record{Kind: kind, Data: []byte(`{"event":"` + kind + `","message_id":"m","data":` + data + `}`)}
	}
	_, err = e.Append(t.Context(),
		record("workflow_started", `{"inputs":{"query":"asked"}}`),
		record("node_started", `{"component_id":"A","inputs":{"prompt":"hush"},"thoughts":"hush"}`),
		record("tool_started", `{"component_id":"A","tool_name":"T","arguments":{"q":"hush"}}`),
		record("tool_finished", `{"component_id":"A","tool_name":"T","arguments":{"q":"hush"},"result":"hush"}`),
		record("progress", `{"component_id":"A","progress":0.5,"message":"hush"}`),
		record("warning", `{"component_id":"A","message":"hush"}`),
		record("canvas_event", `{"component_id":"A","inner":"B","event":"message","data":{"content":"hush"}}`),
		record("canvas_event",
			`{"component_id":"A","event":"node_finished","data":{"component_id":"C","outputs":"hush"}}`),
		record("of_a_later_version", `{"component_id":"A","secret":"hush"}`),
		record("node_finished",
			`{"component_id":"A","inputs":{"p":"hush"},"outputs":{"o":"hush"},"error":null,"elapsed_time":1}`),
		record("message", `{"content":"answered"}`),
		record("workflow_finished", `{"outputs":"answered"}`),
	)
	require.NoError(t, err)
	require.NoError(t, e.End(t.Context()))

	const path = "/api/v2/runs/r/events"
	read := s.Request("GET", path, keyWith(s, app.ScopeRead), "")
	require.Equal(t, 200, read.Status)
	require.NotContains(t, read.Text, "hush")
	traces := s.Request("GET", path, keyWith(s, app.ScopeRead, app.ScopeReadTraces), "")
	require.Equal(t, 12, strings.Count(traces.Text, "hush"))
	require.Equal(t, traces.Kinds(), read.Kinds(), "no event is missing")
	list, _ := read.Events()
	require.Equal(t, "asked", list[0].Get("data").Get("inputs").Get("query").Str())
	for _, event := range list[1:9] {
		require.Equal(t, "A", event.Get("data").Get("component_id").Str(), event.JSON())
	}
	require.JSONEq(t, `{"component_id":"A","tool_name":"T"}`, list[3].Get("data").JSON())
	require.JSONEq(t,
		`{"component_id":"A","event":"node_finished","data":{"component_id":"C","inputs":{},"outputs":{}}}`,
		list[7].Get("data").JSON())
	require.JSONEq(t, `{"component_id":"A","inputs":{},"outputs":{},"error":null,"elapsed_time":1}`,
		list[9].Get("data").JSON())
	require.Equal(t, "answered", list[10].Get("data").Get("content").Str())
	require.Equal(t, "answered", list[11].Get("data").Get("outputs").Str())
}

// The response that starts a run has its events whole, as those of the dialects have: the run is
// the caller's.
func TestEventsOfTheOwnRunAreWhole(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", apitest.Echo)
	runner := keyWith(s, app.ScopeRun)
	started := s.Request("POST", "/api/v2/canvases/"+id+"/runs", runner, `{"query":"x"}`, "Accept", "text/event-stream")
	require.Equal(t, 200, started.Status)
	outputs := func(a apitest.Answer) (found string) {
		list, _ := a.Events()
		for _, e := range list {
			d := e.Get("data")
			if e.Get("event").Str() == "node_finished" && d.Get("component_id").Str() == "Message:A" {
				found = d.Get("outputs").JSON()
			}
		}
		return found
	}
	require.Contains(t, outputs(started), "You said x")
	path := "/api/v2/runs/" + started.Header.Get("X-Easel-Run") + "/events"
	again := s.Request("GET", path, keyWith(s, app.ScopeRead, app.ScopeRun), "")
	require.Equal(t, "{}", outputs(again))
	require.Contains(t, again.Text, "You said x", "the answer stays")
}

// A long run takes memory of the budget of requests while it is read, by whichever route.
func TestLongRunsAreReadWithinTheBudget(t *testing.T) {
	const budget = 256 << 10
	s := apitest.New(t, func(c *apitest.Config) { c.Memory = memlimit.New("requests", budget) })
	long, short := s.Canvas("long", apitest.Echo), s.Canvas("short", apitest.Echo)
	ended := func(canvas, query string) string {
		stored := s.Traces.Counts().Stored
		j, err := s.Runs.Start(t.Context(), app.Job{Tenant: "one", Canvas: canvas, Query: engine.String(query)})
		require.NoError(t, err)
		written := func() bool { return s.Traces.Counts().Stored > stored }
		require.Eventually(t, written, 20*time.Second, time.Millisecond)
		return "/api/v2/runs/" + j.ID
	}
	run := ended(long, strings.Repeat("long ", budget/5))
	for _, what := range []string{"/trace", "/case"} {
		a := s.Request("GET", run+what, "one", "")
		require.Equal(t, http.StatusRequestEntityTooLarge, a.Status, what)
		require.Contains(t, a.Text, "--memory", what)
	}
	run = ended(short, "q")
	for _, what := range []string{"/trace", "/case"} {
		require.Equal(t, http.StatusOK, s.Request("GET", run+what, "one", "").Status, what)
	}
	require.Zero(t, s.Memory.Used())
}
