package ragflow_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// The trace of tool calls is found by message, run and session.
func TestTrace(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", apitest.Echo)
	e, err := s.Log.Claim(t.Context(), runlog.Run{ID: "r"})
	require.NoError(t, err)
	require.NoError(
		t, s.Store.Runs.Start(t.Context(), store.Run{ID: "r", Tenant: "one", Canvas: id, Session: "s", Message: "m"}),
	)
	tool := func(node, name string) runlog.Record {
		return runlog.Record{Kind: "tool_finished", Data: []byte(`{"event":"tool_finished","data":{"component_id":"` + node +
			`","path":"p","tool":"T","tool_name":"` + name + `","arguments":{"q":1},"result":"x","elapsed_time":0.5}}`)}
	}
	_, err = e.Append(t.Context(), tool("Agent:A", "one"), tool("Agent:B", "two"), tool("Agent:A", "three"))
	require.NoError(t, err)
	const want = `[{"component_id":"Agent:A","trace":[{"arguments":{"q":1},"elapsed_time":0.5,"path":"p-->T","result":"x","tool_name":"one"},` +
		`{"arguments":{"q":1},"elapsed_time":0.5,"path":"p-->T","result":"x","tool_name":"three"}]},` +
		`{"component_id":"Agent:B","trace":[{"arguments":{"q":1},"elapsed_time":0.5,"path":"p-->T","result":"x","tool_name":"two"}]}]`
	for _, name := range []string{"m", "r", "s"} {
		require.Equal(t, want, s.Good(s.Get("/v1/canvas/trace?canvas_id="+id+"&message_id="+name)).Data().JSON(), name)
		require.Equal(t, want, s.Good(s.Get("/0.27/api/v1/agents/"+id+"/logs/"+name)).Data().JSON(), name)
	}
	require.Equal(t, "{}", s.Request("GET", "/v1/canvas/trace?canvas_id="+id+"&message_id=m", "two", "").Data().JSON())
	require.NoError(t, e.End(t.Context()))

	// A key reads traces with their scope only; visitors of embedding pages get bare ones.
	key := func(scopes ...string) string {
		_, text, err := s.Store.Keys.Create(t.Context(), store.Key{Tenant: "one", User: "one", Scopes: scopes}, "")
		require.NoError(t, err)
		return text
	}
	reader, tracer := key(app.ScopeRead, app.ScopeRun, app.ScopeEdit), key(app.ScopeRead, app.ScopeReadTraces)
	for _, path := range []string{
		"/v1/canvas/trace?message_id=m&canvas_id=" + id, "/api/v1/agents/" + id + "/logs/m",
		"/api/v1/agentbots/" + id + "/logs/m", "/api/v1/webhook_trace/" + id, "/api/v1/agents/" + id + "/webhook/logs",
	} {
		for _, dialect := range []string{"", "/0.27"} {
			a := s.Request("GET", dialect+path, reader, "")
			require.Equal(t, 403, a.Status, path)
			require.Contains(t, a.Message(), "scope read_traces", path)
			s.Good(s.Request("GET", dialect+path, tracer, ""))
		}
	}
}
