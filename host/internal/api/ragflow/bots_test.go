package ragflow_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// private is a canvas with private content of its owner; each such text contains
// PRIVATE.
var private = sketch.Canvas(
	`begin Begin {"prologue":"Welcome","mode":"conversational",
		"inputs":{"city":{"name":"City","type":"line","optional":true}},
		"security":{"auth_type":"token","token":{"token_header":"X","token_value":"PRIVATE key of a webhook"}}}
		-> LLM:L`,
	`LLM:L LLM {"sys_prompt":"PRIVATE prompt","prompts":[{"role":"user","content":"{sys.query}"}]}
		-> StringTransform:S`,
	`StringTransform:S StringTransform {"method":"merge","script":"PRIVATE result {sys.query}","delimiters":[","]}
		-> Message:A`,
	`Message:A Message {"content":["You said {sys.query}"]} -> StringTransform:T`,
	`StringTransform:T StringTransform {"method":"merge","script":"PRIVATE end","delimiters":[","]}`,
)

// embedded makes a canvas that its owner has tested, and the token of the page that embeds it.
func embedded(s *apitest.Site, dsl string) (id, token string) {
	s.T.Helper()
	a := s.Good(s.Post("/v1/canvas/set", `{"title":"shown","description":"PRIVATE note","dsl":`+dsl+`}`))
	id = a.Data().Get("id").Str()
	a = s.Post("/v1/canvas/completion", `{"id":"`+id+`","query":"PRIVATE question of a test"}`)
	require.Contains(s.T, a.Kinds(), "workflow_started")
	beta, err := s.Store.Betas.For(s.T.Context(), "one", id)
	require.NoError(s.T, err)
	return id, beta.Text
}

// No route that a token of an embedding page opens shows the document of the canvas, nor the test
// conversation of its owner.
func TestEmbedTokenShowsNothingPrivate(t *testing.T) {
	s := apitest.New(t)
	id, token := embedded(s, private)
	require.Contains(t, s.Get("/v1/canvas/getsse/"+id).Text, "PRIVATE key", "the owner sees it")
	runs, _, err := s.Store.Runs.List(t.Context(), store.RunFilter{Tenant: "one", Canvas: id}, store.Page{})
	require.NoError(t, err)
	require.Len(t, runs, 1)
	b := apitest.Unknown
	b.Canvas, b.Run, b.Message = id, runs[0].ID, runs[0].Message
	opened := 0
	apitest.EachRoute(s, func(r api.Route, method string) {
		if r.Need != api.NeedBeta {
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
			a := s.Request(method, b.Fill(r.Path)+"?canvas_id="+id+"&message_id="+b.Message, token, body)
			require.NotContains(t, a.Text, "PRIVATE", "%s %s %s", method, r.Path, body)
		}
	})
	require.Equal(t, 51, opened, "a new route that such a token opens is thought about here")

	stream := s.Request("POST", "/api/v1/agentbots/"+id+"/completions", token, `{"query":"hi"}`)
	list, _ := stream.Events()
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
	whole := s.Good(s.Request("POST", "/api/v1/agentbots/"+id+"/completions", token, `{"query":"hi","stream":false}`))
	require.Equal(t, "You said hi", whole.Data().Get("data").Get("content").Str())
	owners := s.Request("POST", "/api/v1/agentbots/"+id+"/completions", "one", `{"query":"hi"}`)
	require.Contains(t, owners.Text, "PRIVATE result", "a key sees the run as before")
}

// The row of an embedded page has the members of any row, and of the document only what greets.
func TestEmbeddedRow(t *testing.T) {
	s := apitest.New(t)
	id, token := embedded(s, private)
	for _, path := range []string{"/v1/canvas/getsse/", "/0.27/v1/canvas/getsse/"} {
		row := s.Good(s.Request("GET", path+id, token, "")).Data()
		apitest.RequireKeys(t, row, canvasKeys)
		require.Equal(t, "shown", row.Get("title").Str())
		begin := engine.StartParams(row.Get("dsl"))
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
	s := apitest.New(t)
	failing := sketch.Canvas("begin Begin -> Invoke:X",
		`Invoke:X Invoke {"url":"http://127.0.0.1:1/PRIVATE","method":"get","variables":[],
			"headers":"{\"X-Key\":\"PRIVATE\"}"}`)
	id, token := embedded(s, failing)
	path := "/api/v1/agentbots/" + id + "/completions"
	require.Contains(t, s.Request("POST", path, "one", `{"query":"x"}`).Text, "PRIVATE")
	a := s.Request("POST", path, token, `{"query":"x"}`)
	require.NotContains(t, a.Text, "PRIVATE")
	require.Contains(t, a.Text, "Error 100: ")
	a = s.Request("POST", path, token, `{"query":"x","stream":false}`)
	require.Equal(t, 100, a.Code())
	require.NotContains(t, a.Text, "PRIVATE")
	require.NotEmpty(t, a.Message())
}

// An embedding page stops and traces its own runs, not those of the canvas's owner.
func TestEmbedTokenReachesItsOwnRunsOnly(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("slow", apitest.Slow)
	beta, err := s.Store.Betas.For(t.Context(), "one", id)
	require.NoError(t, err)
	run := s.As("one", "POST", "/api/v2/canvases/"+id+"/runs", `{"inputs":{"query":"x"}}`, http.StatusAccepted).Get("id").Str()
	s.Good(s.Request("PUT", "/v1/canvas/cancel/"+run, beta.Text, ""))
	require.Equal(t, store.RunActive, s.Get("/api/v2/runs/"+run).Body.Get("status").Str())
	s.Gate <- struct{}{}
	for _, path := range []string{"/v1/canvas/upload/" + id, "/api/v1/agents/" + id + "/upload"} {
		a := s.Request("POST", path+"?url=http://example.org/", beta.Text, "")
		require.Equal(t, 108, a.Code(), "a visitor has no use for the host's way to the web: %s", a.Text)
	}
}

// Visitors of a canvas that does not load see only that fact.
func TestEmbeddedCanvasThatDoesNotLoad(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("broken", sketch.Canvas("begin Begin -> LLM:L", `LLM:L LLM {"temperature":"PRIVATE"}`))
	beta, err := s.Store.Betas.For(t.Context(), "one", id)
	require.NoError(t, err)
	apitest.EachRoute(s, func(r api.Route, method string) {
		if r.Need != api.NeedBeta {
			return
		}
		b := apitest.Unknown
		b.Canvas = id
		body := `{"query":"x","stream":false}`
		if method == "GET" {
			body = ""
		}
		a := s.Request(method, b.Fill(r.Path), beta.Text, body)
		require.NotContains(t, a.Text, "PRIVATE", "%s %s", method, r.Path)
	})
}

// A page whose stream broke off reads its run again: the same frames, and none of other runs.
func TestEmbeddedRunIsReadAgain(t *testing.T) {
	s := apitest.New(t)
	id, token := embedded(s, private)
	path := "/api/v1/agentbots/" + id
	first := s.Request("POST", path+"/completions", token, `{"query":"hi"}`)
	run := first.Header.Get(api.RunHeader)
	session := "?session_id=" + first.Header.Get(api.SessionHeader)
	again := s.Request("GET", path+"/events/"+run+session, token, "")
	require.Equal(t, first.Text, again.Text)
	require.NotContains(t, again.Text, "PRIVATE")

	other := s.Canvas("other", apitest.Echo)
	runs, _, err := s.Store.Runs.List(t.Context(), store.RunFilter{Tenant: "one", Canvas: id}, store.Page{})
	require.NoError(t, err)
	require.Len(t, runs, 2)
	owners := runs[0].ID
	if owners == run {
		owners = runs[1].ID
	}
	for _, refused := range []string{
		"/api/v1/agentbots/" + other + "/events/" + run + session, path + "/events/none" + session,
		path + "/events/" + owners + session, path + "/events/" + run,
	} {
		require.NotEqual(t, 0, s.Request("GET", refused, token, "").Code(), refused)
	}
	require.Equal(t, http.StatusUnauthorized, s.Request("GET", path+"/events/"+run, "", "").Status)
	require.NotEqual(t, 0, s.Request("GET", path+"/events/"+run, "two", "").Code(), "another tenant")
}
