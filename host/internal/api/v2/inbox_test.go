package v2_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// pausedRun starts a run of a canvas and returns it when it waits.
func pausedRun(s *apitest.Site, canvas, key string) string {
	s.T.Helper()
	a := s.Request("POST", "/api/v2/canvases/"+canvas+"/runs", key, `{"query":"x"}`, "Accept", "text/event-stream")
	require.Contains(s.T, a.Text, "event: user_inputs")
	return a.Header.Get("X-Easel-Run")
}

func itemsOf(a apitest.Answer) (ids []string) {
	for _, v := range a.Body.Get("items").Elements() {
		ids = append(ids, v.Get("id").Str())
	}
	return ids
}

// The inbox and the list of paused runs have what waits, and nothing that was answered.
func TestAnsweredRunsWaitNoLonger(t *testing.T) {
	s := apitest.New(t)
	canvas := s.Canvas("form", apitest.Formed)
	first, second := pausedRun(s, canvas, "one"), pausedRun(s, canvas, "one")
	require.Equal(t, []string{second, first}, itemsOf(s.Get("/api/v2/inbox?state=open&mine=1")))
	require.Equal(t, []string{second, first}, itemsOf(s.Get("/api/v2/runs?status=paused")))
	shown := s.Get("/api/v2/inbox").Body.Get("items").At(1)
	require.Equal(t, "form", shown.Get("kind").Str(), shown.JSON())
	require.False(t, shown.Get("inputs").Get("city").IsNull(), shown.JSON())

	a := s.Post("/api/v2/inbox/"+first+"/answer", `{"inputs":{"city":"Oslo"}}`)
	require.Equal(t, http.StatusAccepted, a.Status, a.Text)
	next := a.Body.Get("id").Str()
	require.Equal(t, []string{second}, itemsOf(s.Get("/api/v2/runs?status=paused")))
	require.Equal(t, []string{second}, itemsOf(s.Get("/api/v2/inbox?state=open")))
	wait := s.Get("/api/v2/runs/" + first).Body.Get("wait")
	require.Equal(t, []string{"answered", next, "one"}, []string{
		wait.Get("state").Str(), wait.Get("next").Str(), wait.Get("answered_by").Get("user").Str(),
	}, wait.JSON())

	for _, path := range []string{"/api/v2/inbox/" + first + "/answer", "/api/v2/runs/" + first + "/resume"} {
		again := s.Post(path, `{"inputs":{"city":"Bergen"}}`)
		require.Equal(t, http.StatusConflict, again.Status, again.Text)
		require.Contains(t, again.Text, "answered by user one at 20")
		require.Contains(t, again.Text, next)
	}
	for query, status := range map[string]int{"state=done": 400, "mine=x": 400, "mine=0&state=answered": 200} {
		require.Equal(t, status, s.Get("/api/v2/inbox?"+query).Status, query)
	}
}

// Other tenants, and keys that may not run, neither see nor answer it.
func TestInboxOfOthers(t *testing.T) {
	s := apitest.New(t)
	run := pausedRun(s, s.Canvas("form", apitest.Formed), "one")
	require.Empty(t, itemsOf(s.Request("GET", "/api/v2/inbox", "two", "")))
	path := "/api/v2/inbox/" + run + "/answer"
	require.Equal(t, 404, s.Request("POST", path, "two", `{"inputs":{"city":"Oslo"}}`).Status)
	require.Equal(t, 403, s.Request("POST", path, keyWith(s, app.ScopeRead), `{"inputs":{"city":"Oslo"}}`).Status)
	require.Equal(t, []string{run}, itemsOf(s.Get("/api/v2/inbox?state=open")))
}

// A form is answered without the log and the trace of its run.
func TestFormOutlivesItsTrace(t *testing.T) {
	s := apitest.New(t)
	s.As("one", "PUT", "/api/v2/settings/traces", `{"days":0}`, 200)
	run := pausedRun(s, s.Canvas("form", apitest.Formed), "one")
	s.ForgetRun(run)
	require.Equal(t, 410, s.Get("/api/v2/runs/"+run+"/trace").Status)
	a := s.Request("POST", "/api/v2/runs/"+run+"/resume", "one", `{"inputs":{"city":"Oslo"}}`,
		"Accept", "text/event-stream")
	require.Equal(t, 200, a.Status, a.Text)
	require.Contains(t, a.Text, "Oslo")
}

// Of many answers at once one counts, with and without a session.
func TestOneAnswerCounts(t *testing.T) {
	s := apitest.New(t)
	canvas := s.Canvas("form", apitest.Formed)
	session := s.As("one", "POST", "/api/v2/canvases/"+canvas+"/sessions", `{}`, 201).Get("id").Str()
	bodies := map[string]string{"no session": `{"query":"x"}`, "session": `{"query":"x","session":"` + session + `"}`}
	for name, body := range bodies {
		a := s.Request("POST", "/api/v2/canvases/"+canvas+"/runs", "one", body, "Accept", "text/event-stream")
		run := a.Header.Get("X-Easel-Run")
		const many = 16
		answers := make([]apitest.Answer, many)
		var all sync.WaitGroup
		for i := range many {
			all.Go(func() {
				answers[i] = s.Post("/api/v2/inbox/"+run+"/answer", fmt.Sprintf(`{"inputs":{"city":"Oslo %d"}}`, i))
			})
		}
		all.Wait()
		var won []string
		for _, a := range answers {
			if a.Status == http.StatusAccepted {
				won = append(won, a.Body.Get("id").Str())
				continue
			}
			require.Equal(t, http.StatusConflict, a.Status, a.Text)
			require.Contains(t, a.Text, "answered by user one", name)
		}
		require.Len(t, won, 1, name)
		require.Equal(t, won[0], s.Get("/api/v2/runs/"+run).Body.Get("wait").Get("next").Str())
	}
}
