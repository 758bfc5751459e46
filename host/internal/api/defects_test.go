package api

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/store"
)

// Defects of the original that are not copied, beside those that the contract
// shows: a real 401, and refusals before the first byte of a stream.

// TestEditDuringARunIsNotLost saves a canvas while it runs: the run's state
// goes into what was saved.
func TestEditDuringARunIsNotLost(t *testing.T) {
	s := newSite(t)
	id := s.canvas("a", slow)
	done := make(chan answer, 1)
	go func() { done <- s.post("/v1/canvas/completion", `{"id":"`+id+`","query":"first"}`) }()
	require.Eventually(t, func() bool {
		list, _, err := s.store.Runs(t.Context(), store.RunFilter{Tenant: "one", Status: store.RunActive}, store.Page{})
		return err == nil && len(list) == 1
	}, time.Minute, time.Millisecond)
	edited := parts([4]string{"begin", "Begin", `{}`, "Wait:W"}, [4]string{"Wait:W", "Wait", `{}`, "Message:A"},
		[4]string{"Message:A", "Message", `{"content":["edited {Wait:W@result}"]}`, ""})
	s.good(s.post("/v1/canvas/set", `{"id":"`+id+`","title":"edited","dsl":`+edited+`}`))
	s.gate <- struct{}{}
	require.Contains(t, (<-done).kinds(), "workflow_finished")
	row := s.good(s.get("/v1/canvas/get/" + id)).data()
	require.Equal(t, "edited", row.Get("title").Str())
	require.Equal(t, `["edited {Wait:W@result}"]`, row.Get("dsl").Get("components").Get("Message:A").Get("obj").Get("params").Get("content").JSON())
	require.Equal(t, 2, row.Get("dsl").Get("history").Len(), "what was said is kept as well")
}

// TestRunsHaveTasksOfTheirOwn cancels one of two runs of the same agent.
func TestRunsHaveTasksOfTheirOwn(t *testing.T) {
	s := newSite(t)
	id := s.canvas("a", slow)
	type end struct{ session, text string }
	ends := make(chan end, 2)
	for range 2 {
		session := s.good(s.post("/api/v1/agents/"+id+"/sessions", `{}`)).data().Get("id").Str()
		go func() {
			a := s.post("/api/v1/agents/"+id+"/completions", `{"question":"x","stream":false,"session_id":"`+session+`"}`)
			ends <- end{session, a.text}
		}()
	}
	var runs []store.Run
	require.Eventually(t, func() bool {
		var err error
		runs, _, err = s.store.Runs(t.Context(), store.RunFilter{Tenant: "one", Status: store.RunActive}, store.Page{})
		return err == nil && len(runs) == 2
	}, time.Minute, time.Millisecond)
	require.NotEqual(t, runs[0].ID, runs[1].ID)
	s.good(s.request("PUT", "/v1/canvas/cancel/"+runs[0].ID, "one", ""))
	first := <-ends
	require.Equal(t, runs[0].Session, first.session)
	require.Contains(t, first.text, "Task has been canceled")
	s.gate <- struct{}{}
	require.Contains(t, (<-ends).text, "waited")
	// The flag of a run that was cancelled stops no later one.
	s.gate <- struct{}{}
	a := s.good(s.post("/api/v1/agents/"+id+"/completions", `{"question":"x","stream":false,"session_id":"`+first.session+`"}`))
	require.Contains(t, a.data().Get("data").Get("content").Str(), "waited")
}

// TestSessionsKeepTheirCopy edits an agent whose sessions go on as they were.
func TestSessionsKeepTheirCopy(t *testing.T) {
	s := newSite(t)
	id := s.canvas("a", echo)
	session := s.good(s.post("/api/v1/agents/"+id+"/sessions", `{}`)).data().Get("id").Str()
	s.good(s.put("/api/v1/agents/"+id, `{"dsl":`+formed+`}`))
	a := s.good(s.post("/api/v1/agents/"+id+"/completions", `{"question":"x","stream":false,"session_id":"`+session+`"}`))
	require.Equal(t, "You said x", a.data().Get("data").Get("content").Str())
	a = s.post("/api/v1/agents/"+id+"/completions", `{"question":"x"}`)
	require.Contains(t, a.text, "Your city?", "a new session has the new copy")
	row := s.good(s.get("/v1/canvas/get/" + id)).data()
	require.Zero(t, row.Get("dsl").Get("history").Len(), "what sessions say stays there")
}

// TestFirstSessionOfACompletionIsReset lets a completion make its session from
// a canvas that an editor has talked with.
func TestFirstSessionOfACompletionIsReset(t *testing.T) {
	s := newSite(t)
	id := s.canvas("a", echo)
	s.post("/v1/canvas/completion", `{"id":"`+id+`","query":"of the editor"}`)
	a := s.good(s.post("/api/v1/agents/"+id+"/completions", `{"question":"x","stream":false}`))
	row := s.good(s.get("/api/v1/agents/" + id + "/sessions?id=" + a.data().Get("session_id").Str())).data().At(0)
	require.NotContains(t, row.JSON(), "of the editor")
}
