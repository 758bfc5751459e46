package ragflow_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// Defects of the original that are not copied, in addition to those of the contract: a real 401,
// and refusals before the first byte of a stream.

// TestEditDuringARunIsNotLost saves a canvas while it runs: the run's state
// goes into what was saved.
func TestEditDuringARunIsNotLost(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", apitest.Slow)
	done := make(chan apitest.Answer, 1)
	go func() { done <- s.Post("/v1/canvas/completion", `{"id":"`+id+`","query":"first"}`) }()
	require.Eventually(t, func() bool {
		list, _, err := s.Store.Runs.List(
			t.Context(), store.RunFilter{Tenant: "one", Status: store.RunActive}, store.Page{},
		)
		return err == nil && len(list) == 1
	}, 2*time.Minute, time.Millisecond)
	edited := sketch.Canvas("begin Begin -> Wait:W", "Wait:W Wait -> Message:A",
		`Message:A Message {"content":["edited {Wait:W@result}"]}`)
	s.Good(s.Post("/v1/canvas/set", `{"id":"`+id+`","title":"edited","dsl":`+edited+`}`))
	s.Gate <- struct{}{}
	require.Contains(t, (<-done).Kinds(), "workflow_finished")
	row := s.Good(s.Get("/v1/canvas/get/" + id)).Data()
	require.Equal(t, "edited", row.Get("title").Str())
	require.Equal(t, `["edited {Wait:W@result}"]`, row.Get("dsl").Get("components").Get("Message:A").Get("obj").Get("params").Get("content").JSON())
	require.Equal(t, 2, row.Get("dsl").Get("history").Len(), "what was said is kept as well")
}

// TestRunsHaveTasksOfTheirOwn cancels one of two runs of the same agent.
func TestRunsHaveTasksOfTheirOwn(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", apitest.Slow)
	type end struct{ session, text string }
	ends := make(chan end, 2)
	for range 2 {
		session := s.Good(s.Post("/api/v1/agents/"+id+"/sessions", `{}`)).Data().Get("id").Str()
		go func() {
			a := s.Post("/api/v1/agents/"+id+"/completions", `{"question":"x","stream":false,"session_id":"`+session+`"}`)
			ends <- end{session, a.Text}
		}()
	}
	var runs []store.Run
	require.Eventually(t, func() bool {
		var err error
		runs, _, err = s.Store.Runs.List(
			t.Context(), store.RunFilter{Tenant: "one", Status: store.RunActive}, store.Page{},
		)
		return err == nil && len(runs) == 2
	}, 2*time.Minute, time.Millisecond)
	require.NotEqual(t, runs[0].ID, runs[1].ID)
	s.Good(s.Request("PUT", "/v1/canvas/cancel/"+runs[0].ID, "one", ""))
	first := <-ends
	require.Equal(t, runs[0].Session, first.session)
	require.Contains(t, first.text, "Task has been canceled")
	s.Gate <- struct{}{}
	require.Contains(t, (<-ends).text, "waited")
	// The flag of a run that was cancelled stops no later one.
	s.Gate <- struct{}{}
	a := s.Good(s.Post("/api/v1/agents/"+id+"/completions", `{"question":"x","stream":false,"session_id":"`+first.session+`"}`))
	require.Contains(t, a.Data().Get("data").Get("content").Str(), "waited")
}

// TestSessionsKeepTheirCopy edits an agent; its sessions continue unchanged.
func TestSessionsKeepTheirCopy(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", apitest.Echo)
	session := s.Good(s.Post("/api/v1/agents/"+id+"/sessions", `{}`)).Data().Get("id").Str()
	s.Good(s.Put("/api/v1/agents/"+id, `{"dsl":`+apitest.Formed+`}`))
	a := s.Good(s.Post("/api/v1/agents/"+id+"/completions", `{"question":"x","stream":false,"session_id":"`+session+`"}`))
	require.Equal(t, "You said x", a.Data().Get("data").Get("content").Str())
	a = s.Post("/api/v1/agents/"+id+"/completions", `{"question":"x"}`)
	require.Contains(t, a.Text, "Your city?", "a new session has the new copy")
	row := s.Good(s.Get("/v1/canvas/get/" + id)).Data()
	require.Zero(t, row.Get("dsl").Get("history").Len(), "what sessions say stays there")
}

// TestFirstSessionOfACompletionIsReset lets a completion make its session from
// a canvas that an editor has talked with.
func TestFirstSessionOfACompletionIsReset(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", apitest.Echo)
	s.Post("/v1/canvas/completion", `{"id":"`+id+`","query":"of the editor"}`)
	a := s.Good(s.Post("/api/v1/agents/"+id+"/completions", `{"question":"x","stream":false}`))
	row := s.Good(s.Get("/api/v1/agents/" + id + "/sessions?id=" + a.Data().Get("session_id").Str())).Data().At(0)
	require.NotContains(t, row.JSON(), "of the editor")
}
