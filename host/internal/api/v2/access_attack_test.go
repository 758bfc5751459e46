package v2_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// Hostile bodies about who reads and who may do what are refused and change nothing.
func TestHostileAccess(t *testing.T) {
	s := apitest.New(t)
	dataset := s.As("one", "POST", "/api/v2/datasets", `{"name":"d","embedding_model":"none"}`, 201).Get("id").Str()
	canvas := s.Canvas("form", apitest.Formed)
	documents := "/api/v2/datasets/" + dataset + "/access/documents"
	refusals := []int{
		http.StatusBadRequest, http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity,
	}
	long := strings.Repeat("x", 1<<20)
	for _, c := range []struct{ path, body string }{
		{documents, `{"documents":[],"access":["all"]}`},
		{documents, `{"documents":null,"access":["all"]}`},
		{documents, `{"documents":"all","access":["all"]}`},
		{documents, `{"documents":[""],"access":["all"]}`},
		{documents, `{"documents":["unknown"],"access":["all"]}`},
		{documents, `{"documents":["unknown"],"access":["everyone"]}`},
		{documents, `{"documents":["unknown"],"access":["group:a\nall"]}`},
		{"/api/v2/datasets/" + dataset + "/access", `{"enforce":"yes"}`},
		{"/api/v2/grants", `{"subject":1,"object":"canvas:` + canvas + `","role":"viewer"}`},
		{"/api/v2/grants", `{"subject":null,"object":"canvas:` + canvas + `","role":"viewer"}`},
		{"/api/v2/grants", `{"subject":["user:one"],"object":"canvas:` + canvas + `","role":"viewer"}`},
		{"/api/v2/grants", `{"subject":"user:missing","object":"canvas:` + canvas + `","role":"viewer"}`},
		{"/api/v2/grants", `{"subject":"key:missing","object":"canvas:` + canvas + `","role":"viewer"}`},
		{"/api/v2/grants", `{"subject":"group:","object":"canvas:` + canvas + `","role":"viewer"}`},
		{"/api/v2/grants", `{"subject":"group:a\u0000","object":"canvas:` + canvas + `","role":"viewer"}`},
		{"/api/v2/grants", `{"subject":"group:` + long + `","object":"canvas:` + canvas + `","role":"viewer"}`},
		{"/api/v2/grants", `{"subject":"group:a","object":"canvas:` + canvas + `","role":"owner"}`},
		{"/api/v2/grants", `{"subject":"group:a","object":"canvas:` + canvas + `","role":5}`},
		{"/api/v2/grants", `{"subject":"group:a","object":"secret:PASS","role":"viewer"}`},
		{"/api/v2/grants", `{"subject":"group:a","object":"canvas:","role":"viewer"}`},
		{"/api/v2/grants", `{"subject":"group:a","object":"project:unknown","role":"viewer"}`},
		{"/api/v2/grants", `{"subject":"group:a","object":"dataset:` + canvas + `","role":"viewer"}`},
	} {
		a := s.Request("PUT", c.path, "one", c.body)
		assert.Contains(t, refusals, a.Status, "%s %.200s: %s", c.path, c.body, a.Text)
	}
	require.Empty(t, itemsOf(s.Get("/api/v2/grants?object=canvas:"+canvas)))
	for _, body := range []string{`{"name":"` + long + `"}`, `{"name":""}`, `{"name":null}`, `{"name":7}`} {
		a := s.Post("/api/v2/projects", body)
		assert.Contains(t, refusals, a.Status, a.Text)
	}
	for _, group := range []string{"部门", "a%", "_", "!", "Ä b", "group:hr"} {
		a := s.Request("PUT", "/api/v2/grants", "one",
			`{"subject":"group:`+group+`","object":"canvas:`+canvas+`","role":"viewer"}`)
		require.Equal(t, http.StatusOK, a.Status, a.Text)
		require.Equal(t, "group:"+group, a.Body.Get("subject").Str())
	}
}

// Runs that wait in a canvas are canceled with it: no one could answer them, and the history would
// keep them for ever.
func TestDeletedCanvasesDoNotWait(t *testing.T) {
	s := apitest.New(t)
	canvas := s.Canvas("form", apitest.Formed)
	a := s.Request("POST", "/api/v2/canvases/"+canvas+"/runs", "one", `{"query":"x"}`, "Accept", "text/event-stream")
	run := a.Header.Get("X-Easel-Run")
	require.Equal(t, []string{run}, itemsOf(s.Get("/api/v2/inbox?state=open")))
	s.As("one", "DELETE", "/api/v2/canvases/"+canvas, "", 204)
	require.Empty(t, itemsOf(s.Get("/api/v2/inbox?state=open")))
	require.Empty(t, itemsOf(s.Get("/api/v2/runs?status=paused")))
	require.Equal(t, "the canvas was deleted", s.Get("/api/v2/runs/"+run).Body.Get("error").Str())
	require.Equal(t, http.StatusConflict, s.Post("/api/v2/runs/"+run+"/resume", `{"inputs":{"city":"Oslo"}}`).Status)
}

// A session that is deleted takes what waits in it along.
func TestDeletedSessionsDoNotWait(t *testing.T) {
	s := apitest.New(t)
	canvas := s.Canvas("form", apitest.Formed)
	sessions := "/api/v2/canvases/" + canvas + "/sessions"
	session := s.As("one", "POST", sessions, `{}`, 201).Get("id").Str()
	a := s.Request("POST", "/api/v2/canvases/"+canvas+"/runs", "one", `{"query":"x","session":"`+session+`"}`,
		"Accept", "text/event-stream")
	run := a.Header.Get("X-Easel-Run")
	require.Equal(t, []string{run}, itemsOf(s.Get("/api/v2/inbox?state=open")))
	require.Equal(t, 200, s.Request("DELETE", "/api/v1/agents/"+canvas+"/sessions", "one",
		`{"ids":["`+session+`"]}`).Status)
	require.Empty(t, itemsOf(s.Get("/api/v2/inbox")))
	require.Empty(t, itemsOf(s.Get("/api/v2/runs?status=paused")))
	require.Equal(t, http.StatusConflict, s.Post("/api/v2/runs/"+run+"/resume", `{"inputs":{"city":"Oslo"}}`).Status)
}
