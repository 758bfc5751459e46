package v2_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// An EventSource reconnects after the end of an answer, and stops when it gets 204.
func TestEventsAfterTheEnd(t *testing.T) {
	s := apitest.New(t)
	for title, dsl := range map[string]string{"done": apitest.Echo, "failed": apitest.Broken, "paused": apitest.Formed} {
		id := s.Canvas(title, dsl)
		started := s.Request("POST", "/api/v2/canvases/"+id+"/runs", "one", `{"query":"x"}`, "Accept", "text/event-stream")
		require.Equal(t, 200, started.Status, started.Text)
		ids := regexp.MustCompile(`(?m)^id: (.*)$`).FindAllStringSubmatch(started.Text, -1)
		last, before := ids[len(ids)-1][1], ids[len(ids)-2][1]
		events := "/api/v2/runs/" + started.Header.Get(api.RunHeader) + "/events"
		for _, ask := range []func(id string) apitest.Answer{
			func(id string) apitest.Answer { return s.Request("GET", events, "one", "", "Last-Event-ID", id) },
			func(id string) apitest.Answer { return s.Get(events + "?lastEventId=" + url.QueryEscape(id)) },
			func(id string) apitest.Answer { return s.Get(events + "?after=" + url.QueryEscape(id)) },
			func(id string) apitest.Answer {
				return s.Request("GET", events+"?lastEventId="+url.QueryEscape(ids[0][1]), "one", "", "Last-Event-ID", id)
			},
		} {
			a := ask(last)
			require.Equal(t, 204, a.Status, "%s: %s", title, a.Text)
			require.Empty(t, a.Text)
			require.Empty(t, a.Header.Get("Content-Type"))
			a = ask(before)
			require.Equal(t, 200, a.Status, a.Text)
			require.Equal(t, 1, strings.Count(a.Text, "id: "), a.Text)
			require.Contains(t, a.Text, "event: end")
		}
		require.Equal(t, len(ids), strings.Count(s.Get(events).Text, "id: "), "a new reader gets all")
	}
}

// A run that has not ended has further events, and its reader gets the header immediately.
func TestEventsBeforeTheEnd(t *testing.T) {
	s := apitest.New(t)
	a := s.Post("/api/v2/canvases/"+s.Canvas("slow", apitest.Slow)+"/runs", `{"query":"x"}`)
	req, err := http.NewRequestWithContext(t.Context(), "GET", s.URL+a.Body.Get("events_url").Str()+"?after=1000-1000", nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer one")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.Equal(t, 200, res.StatusCode)
	require.NoError(t, res.Body.Close())
	s.Gate <- struct{}{}
}

func TestRunHeader(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", apitest.Echo)
	beta, err := s.Store.Betas.For(t.Context(), "one", id)
	require.NoError(t, err)
	for _, c := range []struct{ path, key, body string }{
		{"/v1/canvas/completion", "one", `{"id":"` + id + `","query":"x"}`},
		{"/api/v1/agents/" + id + "/completions", "one", `{"question":"x"}`},
		{"/api/v1/agents/" + id + "/completions", "one", `{"question":"x","stream":false}`},
		{"/0.27/api/v1/agents/chat/completions", "one", `{"agent_id":"` + id + `","query":"x","stream":true}`},
		{"/api/v1/agents_openai/" + id + "/chat/completions", "one", `{"model":"m","messages":[{"role":"user","content":"x"}]}`},
		{"/api/v1/agentbots/" + id + "/completions", beta.Text, `{"query":"x"}`},
		{"/api/v2/canvases/" + id + "/runs", "one", `{"query":"x"}`},
	} {
		a := s.Request("POST", c.path, c.key, c.body)
		run := a.Header.Get(api.RunHeader)
		require.NotEmpty(t, run, c.path)
		require.Contains(t, a.Header.Get("Access-Control-Expose-Headers"), api.RunHeader)
		require.Equal(t, 200, s.Get("/api/v2/runs/"+run).Status, c.path)
	}
	refused := s.Post("/v1/canvas/completion", `{"id":"`+apitest.Nowhere+`","query":"x"}`)
	require.Empty(t, refused.Header.Get(api.RunHeader))
}
