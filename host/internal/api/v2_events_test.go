package api

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHeartbeatOfAnEndedStream lets a heartbeat wait for a slow client, and the stream end before
// it is its turn: the answer is over then, and a write to it would end the host.
func TestHeartbeatOfAnEndedStream(t *testing.T) {
	w := httptest.NewRecorder()
	e := &eventReader{s: &sse{started: true, w: w, flush: http.NewResponseController(w)}}
	e.still()
	require.Equal(t, ": still here\n\n", w.Body.String())
	w.Body.Reset()
	e.mu.Lock()
	done := make(chan struct{})
	go func() {
		e.still()
		close(done)
	}()
	e.over = true
	e.mu.Unlock()
	<-done
	require.Empty(t, w.Body.String())
}

// An EventSource reconnects after the end of an answer, and stops when it gets 204.
func TestEventsAfterTheEnd(t *testing.T) {
	s := newSite(t)
	for title, dsl := range map[string]string{"done": echo, "failed": broken, "paused": formed} {
		id := s.canvas(title, dsl)
		started := s.request("POST", "/api/v2/canvases/"+id+"/runs", "one", `{"query":"x"}`, "Accept", "text/event-stream")
		require.Equal(t, 200, started.status, started.text)
		ids := regexp.MustCompile(`(?m)^id: (.*)$`).FindAllStringSubmatch(started.text, -1)
		last, before := ids[len(ids)-1][1], ids[len(ids)-2][1]
		events := "/api/v2/runs/" + started.header.Get(runHeader) + "/events"
		for _, ask := range []func(id string) answer{
			func(id string) answer { return s.request("GET", events, "one", "", "Last-Event-ID", id) },
			func(id string) answer { return s.get(events + "?lastEventId=" + url.QueryEscape(id)) },
			func(id string) answer { return s.get(events + "?after=" + url.QueryEscape(id)) },
			func(id string) answer {
				return s.request("GET", events+"?lastEventId="+url.QueryEscape(ids[0][1]), "one", "", "Last-Event-ID", id)
			},
		} {
			a := ask(last)
			require.Equal(t, 204, a.status, "%s: %s", title, a.text)
			require.Empty(t, a.text)
			require.Empty(t, a.header.Get("Content-Type"))
			a = ask(before)
			require.Equal(t, 200, a.status, a.text)
			require.Equal(t, 1, strings.Count(a.text, "id: "), a.text)
			require.Contains(t, a.text, "event: end")
		}
		require.Equal(t, len(ids), strings.Count(s.get(events).text, "id: "), "a new reader gets all")
	}
}

// A run that has not ended has more to tell, and its reader the header at once.
func TestEventsBeforeTheEnd(t *testing.T) {
	s := newSite(t)
	a := s.post("/api/v2/canvases/"+s.canvas("slow", slow)+"/runs", `{"query":"x"}`)
	req, err := http.NewRequestWithContext(t.Context(), "GET", s.url+a.body.Get("events_url").Str()+"?after=1000-1000", nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer one")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.Equal(t, 200, res.StatusCode)
	require.NoError(t, res.Body.Close())
	s.gate <- struct{}{}
}

func TestRunHeader(t *testing.T) {
	s := newSite(t)
	id := s.canvas("a", echo)
	beta, err := s.store.BetaFor(t.Context(), "one", id)
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
		a := s.request("POST", c.path, c.key, c.body)
		run := a.header.Get(runHeader)
		require.NotEmpty(t, run, c.path)
		require.Contains(t, a.header.Get("Access-Control-Expose-Headers"), runHeader)
		require.Equal(t, 200, s.get("/api/v2/runs/"+run).status, c.path)
	}
	refused := s.post("/v1/canvas/completion", `{"id":"`+nowhere+`","query":"x"}`)
	require.Empty(t, refused.header.Get(runHeader))
}
