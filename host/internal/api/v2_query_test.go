package api

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnknownQueryParameters(t *testing.T) {
	s := newSite(t)
	id := s.canvas("a", echo)
	for path, want := range map[string]string{
		"/api/v2/runs?canvs=x":                              `unknown query parameter "canvs" (one of canvas, session, schedule, status, `,
		"/api/v2/runs?statsu=running&page=1":                "; did you mean status?",
		"/api/v2/canvases?page_size=5&colour=red":           `unknown query parameter "colour" (one of keywords, `,
		"/api/v2/canvases/" + id + "?dsl=false":             `unknown query parameter "dsl": there are none here`,
		"/api/v2/runs/" + nowhere + "/events?from=1":        `unknown query parameter "from" (one of lastEventId, after)`,
		"/api/v2/runs/" + nowhere + "/events?lasteventid=1": "; did you mean lastEventId?",
	} {
		a := s.get(path)
		require.Equal(t, 400, a.status, "%s: %s", path, a.text)
		require.Equal(t, "bad_argument", a.body.Get("error").Get("code").Str())
		require.Contains(t, a.body.Get("error").Get("message").Str(), want)
		require.Equal(t, 401, s.request("GET", path, "", "").status, "strangers learn nothing")
	}
	require.Equal(t, 400, s.post("/api/v2/canvases/"+id+"/runs?stream=true", `{"query":"x"}`).status)
	require.Equal(t, "0", s.get("/api/v2/runs").body.Get("total").Text(), "nothing was started")
	for _, path := range []string{"/api/v2/canvases?keywords=a&page=1&page_size=2&orderby=title&desc=false", "/api/v2/schedules?canvas=" + id} {
		require.Equal(t, 200, s.get(path).status, path)
	}
	for _, path := range []string{"/v1/canvas/list", "/api/v1/agents", "/0.27/api/v1/agents", "/api/v1/agents/" + id + "/sessions", "/api/llm/models"} {
		require.Equal(t, 200, s.get(path+"?colour=red").status, "%s: as in the original", path)
	}
}
