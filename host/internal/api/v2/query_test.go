package v2_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

func TestUnknownQueryParameters(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", apitest.Echo)
	for path, want := range map[string]string{
		"/api/v2/runs?canvs=x":                                      `unknown query parameter "canvs" (one of canvas, session, schedule, status, source, `,
		"/api/v2/runs?statsu=running&page=1":                        "; did you mean status?",
		"/api/v2/canvases?page_size=5&colour=red":                   `unknown query parameter "colour" (one of keywords, `,
		"/api/v2/canvases/" + id + "?dsl=false":                     `unknown query parameter "dsl": this address takes no query parameters`,
		"/api/v2/runs/" + apitest.Nowhere + "/events?from=1":        `unknown query parameter "from" (one of lastEventId, after)`,
		"/api/v2/runs/" + apitest.Nowhere + "/events?lasteventid=1": "; did you mean lastEventId?",
	} {
		a := s.Get(path)
		require.Equal(t, 400, a.Status, "%s: %s", path, a.Text)
		require.Equal(t, "bad_argument", a.Body.Get("error").Get("code").Str())
		require.Contains(t, a.Body.Get("error").Get("message").Str(), want)
		require.Equal(t, 401, s.Request("GET", path, "", "").Status, "strangers learn nothing")
	}
	a := s.Get("/api/v2/runs?status=xyz")
	require.Equal(t, 400, a.Status, a.Text)
	const words = `status must be one of queued, running, paused, succeeded, failed or canceled, not "xyz"`
	require.Equal(t, words, a.Body.Get("error").Get("message").Str())
	for _, term := range engine.Statuses() {
		require.Equal(t, 200, s.Get("/api/v2/runs?status="+term.Word).Status, term.Word)
	}
	require.Equal(t, 400, s.Post("/api/v2/canvases/"+id+"/runs?stream=true", `{"query":"x"}`).Status)
	require.Equal(t, "0", s.Get("/api/v2/runs").Body.Get("total").Text(), "nothing was started")
	for _, path := range []string{"/api/v2/canvases?keywords=a&page=1&page_size=2&orderby=title&desc=false", "/api/v2/schedules?canvas=" + id} {
		require.Equal(t, 200, s.Get(path).Status, path)
	}
	for _, path := range []string{"/v1/canvas/list", "/api/v1/agents", "/0.27/api/v1/agents", "/api/v1/agents/" + id + "/sessions", "/api/llm/models"} {
		require.Equal(t, 200, s.Get(path+"?colour=red").Status, "%s: as in the original", path)
	}
}
