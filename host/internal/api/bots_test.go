package api

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/store"
)

// private is a canvas that holds what its owner shows to nobody; each text of that kind has PRIVATE
// in it.
var private = parts(
	[4]string{"begin", "Begin", `{"prologue":"Welcome","mode":"conversational","inputs":{"city":{"name":"City","type":"line","optional":true}},
		"security":{"auth_type":"token","token":{"token_header":"X","token_value":"PRIVATE key of a webhook"}}}`, "LLM:L"},
	[4]string{"LLM:L", "LLM", `{"sys_prompt":"PRIVATE prompt","prompts":[{"role":"user","content":"{sys.query}"}]}`, "StringTransform:S"},
	[4]string{"StringTransform:S", "StringTransform", `{"method":"merge","script":"PRIVATE result {sys.query}","delimiters":[","]}`, "Message:A"},
	[4]string{"Message:A", "Message", `{"content":["You said {sys.query}"]}`, "StringTransform:T"},
	[4]string{"StringTransform:T", "StringTransform", `{"method":"merge","script":"PRIVATE end","delimiters":[","]}`, ""},
)

// embedded makes a canvas that its owner has tested, and the token of the page that embeds it.
func (s *site) embedded(dsl string) (id, token string) {
	s.t.Helper()
	a := s.good(s.post("/v1/canvas/set", `{"title":"shown","description":"PRIVATE note","dsl":`+dsl+`}`))
	id = a.data().Get("id").Str()
	a = s.post("/v1/canvas/completion", `{"id":"`+id+`","query":"PRIVATE question of a test"}`)
	require.Contains(s.t, a.kinds(), "workflow_started")
	beta, err := s.store.BetaFor(s.t.Context(), "one", id)
	require.NoError(s.t, err)
	return id, beta.Text
}

// Whatever a token of an embedding page opens shows nothing of how the canvas is made, nor of what
// its owner tried.
func TestEmbedTokenShowsNothingPrivate(t *testing.T) {
	s := newSite(t)
	id, token := s.embedded(private)
	require.Contains(t, s.get("/v1/canvas/getsse/"+id).text, "PRIVATE key", "the owner sees it")
	runs, _, err := s.store.Runs(t.Context(), store.RunFilter{Tenant: "one", Canvas: id}, store.Page{})
	require.NoError(t, err)
	require.Len(t, runs, 1)
	b := nobodys
	b.canvas, b.run, b.message = id, runs[0].ID, runs[0].Message
	opened := 0
	eachRoute(func(r route, method string) {
		if r.need != needBeta {
			return
		}
		opened++
		for _, body := range []string{
			`{"query":"hi","inputs":{}}`, `{"query":"hi","stream":false}`, `{"query":"hi","stream":false,"return_trace":true}`,
			`{"query":"hi","return_trace":true}`, `{"action":"stop"}`,
		} {
			if method == "GET" {
				body = ""
			}
			a := s.request(method, b.fill(r.path)+"?canvas_id="+id+"&message_id="+b.message, token, body)
			require.NotContains(t, a.text, "PRIVATE", "%s %s %s", method, r.path, body)
		}
	})
	require.Equal(t, 28, opened, "a new route that such a token opens is thought about here")

	stream := s.request("POST", "/api/v1/agentbots/"+id+"/completions", token, `{"query":"hi"}`)
	list, _ := stream.events()
	said := ""
	for _, e := range list {
		if e.Get("event").Str() == "message" {
			said += e.Get("data").Get("content").Str()
		}
		if e.Get("event").Str() == "node_finished" {
			require.Equal(t, "{}", e.Get("data").Get("outputs").JSON())
			require.NotEmpty(t, e.Get("data").Get("component_id").Str())
		}
	}
	require.Equal(t, "You said hi", said)
	whole := s.good(s.request("POST", "/api/v1/agentbots/"+id+"/completions", token, `{"query":"hi","stream":false}`))
	require.Equal(t, "You said hi", whole.data().Get("data").Get("content").Str())
	owners := s.request("POST", "/api/v1/agentbots/"+id+"/completions", "one", `{"query":"hi"}`)
	require.Contains(t, owners.text, "PRIVATE result", "a key sees the run as before")
}

// The row of an embedded page has the members of any row, and of the document only what greets.
func TestEmbeddedRow(t *testing.T) {
	s := newSite(t)
	id, token := s.embedded(private)
	for _, path := range []string{"/v1/canvas/getsse/", "/0.27/v1/canvas/getsse/"} {
		row := s.good(s.request("GET", path+id, token, "")).data()
		requireKeys(t, row, canvasKeys)
		require.Equal(t, "shown", row.Get("title").Str())
		begin := beginOf(row.Get("dsl"))
		require.Equal(t, "Welcome", begin.Get("prologue").Str())
		require.Equal(t, "City", begin.Get("inputs").Get("city").Get("name").Str())
		require.Equal(t, 1, row.Get("dsl").Get("components").Len())
		for _, name := range []string{"user_id", "tenant_id", "nickname"} {
			require.Empty(t, row.Get(name).Str(), name)
		}
	}
}

// A failed run of a visitor does not say what a node was sending where.
func TestEmbeddedErrorsShowNothingPrivate(t *testing.T) {
	s := newSite(t)
	failing := parts([4]string{"begin", "Begin", `{}`, "Invoke:X"},
		[4]string{"Invoke:X", "Invoke", `{"url":"http://127.0.0.1:1/PRIVATE","method":"get","variables":[],"headers":"{\"X-Key\":\"PRIVATE\"}"}`, ""})
	id, token := s.embedded(failing)
	path := "/api/v1/agentbots/" + id + "/completions"
	require.Contains(t, s.request("POST", path, "one", `{"query":"x"}`).text, "PRIVATE")
	a := s.request("POST", path, token, `{"query":"x"}`)
	require.NotContains(t, a.text, "PRIVATE")
	require.Contains(t, a.text, "Error 100: ")
	a = s.request("POST", path, token, `{"query":"x","stream":false}`)
	require.Equal(t, 100, a.code())
	require.NotContains(t, a.text, "PRIVATE")
	require.NotEmpty(t, a.message())
}

// An embedding page stops and traces its own runs, not those of the canvas's owner.
func TestEmbedTokenReachesItsOwnRunsOnly(t *testing.T) {
	s := newSite(t)
	id := s.canvas("slow", slow)
	beta, err := s.store.BetaFor(t.Context(), "one", id)
	require.NoError(t, err)
	run := s.as("one", "POST", "/api/v2/canvases/"+id+"/runs", `{"inputs":{"query":"x"}}`, http.StatusAccepted).Get("id").Str()
	s.good(s.request("PUT", "/v1/canvas/cancel/"+run, beta.Text, ""))
	require.Equal(t, store.RunActive, s.get("/api/v2/runs/"+run).body.Get("status").Str())
	s.gate <- struct{}{}
	for _, path := range []string{"/v1/canvas/upload/" + id, "/api/v1/agents/" + id + "/upload"} {
		a := s.request("POST", path+"?url=http://example.org/", beta.Text, "")
		require.Equal(t, codeForbidden, a.code(), "a visitor has no use for the host's way to the web: %s", a.text)
	}
}

func TestEmbeddedTraceIsBare(t *testing.T) {
	full := engine.List(engine.Object("component_id", "Agent:A", "trace", engine.List(
		engine.Object("path", "Agent-->Search", "tool_name", "search", "arguments", engine.Object("q", "PRIVATE"), "result", "PRIVATE", "elapsed_time", 1))))
	bare := bareTrace(full)
	require.NotContains(t, bare.JSON(), "PRIVATE")
	entry := bare.At(0).Get("trace").At(0)
	require.Equal(t, "search", entry.Get("tool_name").Str())
	require.True(t, strings.Contains(entry.JSON(), `"elapsed_time":1`))
}

// A canvas that does not load says to visitors only that.
func TestEmbeddedCanvasThatDoesNotLoad(t *testing.T) {
	s := newSite(t)
	id := s.canvas("broken", parts([4]string{"begin", "Begin", `{}`, "LLM:L"}, [4]string{"LLM:L", "LLM", `{"temperature":"PRIVATE"}`, ""}))
	beta, err := s.store.BetaFor(t.Context(), "one", id)
	require.NoError(t, err)
	eachRoute(func(r route, method string) {
		if r.need != needBeta {
			return
		}
		b := nobodys
		b.canvas = id
		body := `{"query":"x","stream":false}`
		if method == "GET" {
			body = ""
		}
		a := s.request(method, b.fill(r.path), beta.Text, body)
		require.NotContains(t, a.text, "PRIVATE", "%s %s", method, r.path)
	})
}
