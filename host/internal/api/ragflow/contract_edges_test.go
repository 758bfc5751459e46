package ragflow_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// edgeContract lists requests at the edges of the protocol.
var edgeContract = slices.Concat(
	[]contract{
		{name: "title in another case", dialect: "old", method: "GET", path: "/api/v1/agents?title=MINE", want: dataError(102, "The agent doesn't exist.")},
		{name: "a page behind the last, by id", dialect: "old", method: "GET", path: "/api/v1/agents?id={canvas}&page=2", want: jsonEmpty},
		{name: "order by date", dialect: "old", method: "GET", path: "/api/v1/agents?orderby=create_date&desc=False", want: result(agentKeys)},
		{name: "page that is none", method: "GET", path: "/api/v1/agents?page=x", want: jsonError(101, "argument page must be a number")},
		{name: "page below the first", method: "GET", path: "/api/v1/agents?page=-1", want: jsonError(101, "argument page must be a number")},
		{name: "a document without components", method: "POST", path: "/api/v1/agents", body: `{"title":"empty {canvas}","dsl":{}}`, want: jsonError(101, "dsl has neither")},
		{name: "a document that is a list", method: "POST", path: "/api/v1/agents", body: `{"title":"x","dsl":[]}`, want: jsonError(101, "argument dsl must be an object")},
		{name: "a document as broken text", method: "POST", path: "/api/v1/agents", body: `{"title":"x","dsl":"{"}`, want: jsonError(101, "dsl is not a JSON object")},
		{name: "an empty title", method: "PUT", path: "/api/v1/agents/{canvas}", body: `{"title":"  "}`, want: jsonError(101, "No title in request.")},
		{name: "a title that is an object", method: "PUT", path: "/api/v1/agents/{canvas}", body: `{"title":{}}`, want: jsonError(101, "argument title must be text")},
		{name: "tags as text", method: "PUT", path: "/api/v1/agents/{canvas}/tags", body: `{"tags":"a, b,,a"}`, want: jsonValue("true")},
		{name: "tags of an unknown one", method: "PUT", path: "/api/v1/agents/{none}/tags", body: `{"tags":[]}`, want: jsonError(103, "Agent not found or no permission.")},
		{name: "settings without a title", method: "POST", path: "/v1/canvas/setting", body: `{"id":"{canvas}","title":"","permission":"me"}`, want: jsonError(101, "No title in request.")},
		{name: "settings without members", method: "POST", path: "/v1/canvas/setting", body: `{"id":"{canvas}"}`, want: lacks("title,permission")},
		{name: "rm without members", method: "POST", path: "/v1/canvas/rm", body: `{}`, want: lacks("canvas_ids")},
		{name: "input form of nothing", method: "GET", path: "/v1/canvas/input_form?id={canvas}", want: lacks("component_id")},
		{name: "debug of nothing", method: "POST", path: "/v1/canvas/debug", body: `{"params":{}}`, want: lacks("id,component_id")},
		{name: "trace of nothing", method: "GET", path: "/v1/canvas/trace?canvas_id={canvas}", want: lacks("message_id")},
		{name: "a question that is a list", method: "POST", path: "/v1/canvas/completion", body: `{"id":"{canvas}","query":[1]}`, want: jsonError(101, "argument query must be text")},
		{name: "inputs that are a list", method: "POST", path: "/v1/canvas/completion", body: `{"id":"{canvas}","inputs":[]}`, want: jsonError(101, "argument inputs must be an object")},
		{name: "messages before the agent", method: "POST", path: "/api/v1/agents_openai/{none}/chat/completions", body: `{"model":"m","messages":[]}`, want: openError(400, 102, "You must provide at least one message.")},
		{
			name: "no user messages", method: "POST", path: "/api/v1/agents_openai/{canvas}/chat/completions", body: `{"model":"m7","messages":[{"role":"system","content":"x"}]}`,
			want: func(t testing.TB, a apitest.Answer) {
				openWhole("No valid messages found (user or assistant).")(t, a)
				require.Equal(t, "m7", a.Body.Get("model").Str())
				require.Regexp(t, "^[0-9a-f]{32}$", a.Body.Get("id").Str())
			},
		},
		{
			name: "no user messages, streamed", method: "POST", path: "/api/v1/agents_openai/{canvas}/chat/completions", body: `{"model":"m7","stream":true,"messages":[{"role":"system","content":"x"}]}`,
			want: openStream("No valid messages found (user or assistant)."),
		},
		{name: "servers in an unknown order", method: "POST", path: "/v1/mcp_server/list?orderby=colour", body: `{}`, want: dataError(100, "colour")},
		{name: "update of no server", method: "POST", path: "/v1/mcp_server/update", body: `{}`, want: lacks("mcp_id")},
		{name: "import of nothing", method: "POST", path: "/v1/mcp_server/import", body: `{}`, want: lacks("mcpServers")},
		{name: "export of nothing", method: "POST", path: "/v1/mcp_server/export", body: `{}`, want: lacks("mcp_ids")},
		{name: "tools of nothing", method: "POST", path: "/v1/mcp_server/list_tools", body: `{}`, want: lacks("mcp_ids")},
		{name: "test of nothing", method: "POST", path: "/v1/mcp_server/test_mcp", body: `{"url":"http://127.0.0.1:1/"}`, want: lacks("server_type")},
		{name: "test of an unknown webhook", dialect: "new", method: "POST", path: "/api/v1/agents/{none}/webhook/test", want: jsonError(103, "Only the owner of the agent is authorized for this operation.")},
		{name: "test of an unknown webhook", dialect: "old", method: "POST", path: "/api/v1/webhook_test/{none}", want: jsonError(103, "Only owner of canvas authorized for this operation.")},
		{name: "a time that is none", method: "GET", path: "/api/v1/webhook_trace/{canvas}?since_ts=nan", want: jsonError(101, "since_ts must be a number")},
		{name: "statistics of wrong days", method: "GET", path: "/v1/api/stats?from_date=yesterday", want: jsonError(101, "from_date must look like")},
	},
	rows(contract{name: "unknown order", method: "GET", want: dataError(100, "colour")},
		"/api/v1/agents/{canvas}/sessions?orderby=colour", "/v1/canvas/{canvas}/sessions?orderby=colour"),
	rows(contract{name: "document as text", method: "POST", body: `{"id":"{canvas}","title":" {title} ","dsl":"{\"graph\":{\"nodes\":[1]}}","zzz":[1]}`, want: func(t testing.TB, a apitest.Answer) {
		jsonResult("id title dsl update_time update_date zzz")(t, a)
		require.Equal(t, `{"graph":{"nodes":[1]}}`, a.Data().Get("dsl").JSON(), "the editor gets an object back")
		require.Equal(t, strings.TrimSpace(a.Data().Get("title").Str()), a.Data().Get("title").Str())
	}}, "/v1/canvas/set"),
)

// jsonEmpty is an empty list in the envelope without a message.
func jsonEmpty(t testing.TB, a apitest.Answer) { require.Equal(t, `{"code":0,"data":[]}`, a.Text) }

// TestMethods sends methods that known paths do not take.
func TestMethods(t *testing.T) {
	s := apitest.New(t)
	for _, c := range []struct{ method, path, allow string }{
		{"DELETE", "/v1/canvas/list", "GET, HEAD, OPTIONS"},
		{"GET", "/api/v1/agents/chat/completions", "OPTIONS, POST"},
		{"POST", "/api/v1/agents/x", "DELETE, GET, HEAD, OPTIONS, PUT"},
		{"PROPFIND", "/api/v1/webhook/x", "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"},
		{"DELETE", "/api/v2/models", "GET, HEAD, OPTIONS"},
	} {
		a := s.Request(c.method, c.path, "one", "")
		require.Equal(t, c.allow, a.Header.Get("Allow"), "%s %s", c.method, c.path)
		if strings.HasPrefix(c.path, "/api/v2/") {
			require.Equal(t, http.StatusMethodNotAllowed, a.Status)
			continue
		}
		require.Equal(t, 200, a.Status)
		require.Equal(t, `{"code":100,"data":null,"message":"<MethodNotAllowed '405: Method Not Allowed'>"}`, a.Text)
	}
	a := s.Request("OPTIONS", "/v1/canvas/list", "", "")
	require.Equal(t, http.StatusNoContent, a.Status)
	require.Equal(t, "GET, HEAD, OPTIONS", a.Header.Get("Allow"))
	a = s.Request("HEAD", "/v1/canvas/list", "one", "")
	require.Equal(t, 200, a.Status)
	require.Empty(t, a.Text)
	require.Equal(t, 0, s.Get("/v1/canvas/list/").Code(), "a slash at the end changes nothing")
}

// TestBodiesOfForms sends forms of both kinds where JSON is expected.
func TestBodiesOfForms(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", apitest.Echo)
	body, kind := apitest.Form("f.txt", "x")
	body = strings.Replace(body, "--", "--"+strings.TrimPrefix(kind, "multipart/form-data; boundary=")+"\r\nContent-Disposition: form-data; name=\"description\"\r\n\r\nof a form\r\n--", 1)
	s.Good(s.Request("PUT", "/api/v1/agents/"+id, "one", body, "Content-Type", kind))
	require.Equal(t, "of a form", s.Get("/v1/canvas/get/"+id).Data().Get("description").Str())
	s.Good(s.Request("PUT", "/api/v1/agents/"+id, "one", "description=x%20y", "Content-Type", "application/x-www-form-urlencoded"))
	require.Equal(t, "x y", s.Get("/v1/canvas/get/"+id).Data().Get("description").Str())
	require.Equal(t, 100, s.Request("PUT", "/api/v1/agents/"+id, "one", "--x\r\nbroken", "Content-Type", "multipart/form-data; boundary=x").Code())
}

func TestTags(t *testing.T) {
	s := apitest.New(t)
	a, b, c := s.Canvas("a", apitest.Echo), s.Canvas("b", apitest.Echo), s.Canvas("c", apitest.Echo)
	s.Good(s.Put("/api/v1/agents/"+a+"/tags", `{"tags":["x","y"]}`))
	s.Good(s.Put("/api/v1/agents/"+b+"/tags", `{"tags":"z, y"}`))
	require.Equal(t, `[{"count":2,"tag":"y"},{"count":1,"tag":"x"},{"count":1,"tag":"z"}]`, s.Good(s.Get("/api/v1/agents/tags")).Data().JSON())
	list := s.Good(s.Get("/0.27/api/v1/agents?tags=x,z&orderby=title&desc=false&page=2&page_size=1")).Data()
	require.Equal(t, "2", list.Get("total").Text())
	require.Equal(t, b, list.Get("canvas").At(0).Get("id").Str())
	filter := s.Good(s.Get("/0.27/api/v1/agents?type=filter&page_size=1")).Data()
	require.Equal(t, "3", filter.Get("total").Text(), "all are counted, not a page of them")
	require.Equal(t, `[{"count":3,"id":"one","label":"one"}]`, filter.Get("filter").Get("owner").JSON())
	require.NotEmpty(t, c)
	require.Equal(t, "3", s.Good(s.Get("/v1/canvas/list?canvas_category=,&owner_ids=,&tags=,")).Data().Get("total").Text(), "no names, no filter")
}

// TestFramesOfFailedRuns looks for the three ids that pages read off any frame.
func TestFramesOfFailedRuns(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", apitest.Broken)
	for path, body := range map[string]string{
		"/api/v1/agents/" + id + "/completions":         `{"question":"x"}`,
		"/0.27/api/v1/agents/" + id + "/completions":    `{"question":"x","stream":true}`,
		"/api/v1/agents/chat/completions":               `{"agent_id":"` + id + `","query":"x","stream":true}`,
		"/api/v1/agentbots/" + id + "/completions":      `{"query":"x"}`,
		"/0.27/api/v1/agentbots/" + id + "/completions": `{"query":"x"}`,
	} {
		list, _ := s.Post(path, body).Events()
		first, last := list[0], list[len(list)-1]
		require.Regexp(t, "(?i)error", last.Get("data").Get("content").Str(), path)
		for _, name := range []string{"message_id", "task_id", "session_id"} {
			require.Equal(t, first.Get(name).Str(), last.Get(name).Str(), "%s %s", path, name)
			require.NotEmpty(t, last.Get(name).Str())
		}
	}
}

// TestMessageThatStartsAgain lets a run tell that a text starts again, as after
// a crash.
func TestMessageThatStartsAgain(t *testing.T) {
	s := apitest.New(t)
	e, err := s.Log.Claim(t.Context(), runlog.Run{ID: "r"})
	require.NoError(t, err)
	require.NoError(t, s.Store.Runs.Start(t.Context(), store.Run{
		ID: "r", Tenant: "one", Canvas: s.Canvas("c", apitest.Echo), Message: "m",
	}))
	record := func(kind, data string) runlog.Record {
		return runlog.Record{Kind: kind, Data: []byte(`{"event":"` + kind + `","message_id":"m","created_at":1,"task_id":"r","data":` + data + `}`)}
	}
	_, err = e.Append(t.Context(), record("message", `{"content":"Hel"}`), record("message_reset", `{}`), record("message", `{"content":"Hello"}`))
	require.NoError(t, err)
	require.NoError(t, e.End(t.Context()))
	w := httptest.NewRecorder()
	site := api.New(api.Config{Services: s.Services, Routes: []api.Route{{
		Method: "POST", Path: "/", Need: api.NeedNone, Body: api.BodyNone,
		Handler: func(context.Context, *api.Request) (api.Response, error) {
			return api.StreamRun(app.Job{ID: "r", Message: "m"}, api.Frames{Session: "s"}), nil
		},
	}}})
	site.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "POST", "/", nil))
	const head = `data:{"event": "message", "message_id": "m", "created_at": 1, "task_id": "r", "data": {"content": "`
	require.Equal(t, head+`Hel"}, "session_id": "s"}`+"\n\n"+head+`\n"}, "session_id": "s"}`+"\n\n"+head+`Hello"}, "session_id": "s"}`+"\n\n", w.Body.String())
}

// TestServersInOrder lists MCP servers by name and by time.
func TestServersInOrder(t *testing.T) {
	s := apitest.New(t)
	for _, name := range []string{"b", "C", "a"} {
		s.Good(s.Post("/v1/mcp_server/create", `{"name":"`+name+`","url":"http://127.0.0.1:1/","server_type":"sse","timeout":1}`))
	}
	for query, want := range map[string]string{
		"orderby=name&desc=false": "a b C", "orderby=name": "C b a", "orderby=name&desc=false&page=2&page_size=2": "C", "keywords=A": "a", "page=9&page_size=1": "",
	} {
		var got []string
		for _, row := range s.Good(s.Post("/v1/mcp_server/list?"+query, `{}`)).Data().Get("mcp_servers").Elements() {
			got = append(got, row.Get("name").Str())
		}
		require.Equal(t, want, strings.Join(got, " "), query)
	}
}

// TestSessionsHaveTheirTokens calls a model in a session of the newer dialect: the event that ends
// the run has its usage and nothing else.
func TestSessionsHaveTheirTokens(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", sketch.Canvas("begin Begin -> LLM:L",
		`LLM:L LLM {"prompts":[{"role":"user","content":"{sys.query}"}]} -> Message:A`,
		`Message:A Message {"content":["{LLM:L@content}"]}`))
	session := s.Good(s.Post("/api/v1/agents/"+id+"/sessions", `{}`)).Data().Get("id").Str()
	list, done := s.Post("/api/v1/agents/chat/completions", `{"agent_id":"`+id+`","query":"x","stream":true,"session_id":"`+session+`"}`).Events()
	require.True(t, done)
	last := list[len(list)-1]
	require.Equal(t, "workflow_finished", last.Get("event").Str())
	require.Equal(t, 1, last.Get("data").Len(), last.JSON())
	require.Equal(t, "1", last.Get("data").Get("usage").Get("calls").Text())
	require.Equal(t, session, last.Get("session_id").Str())
	a := s.Good(s.Post("/api/v1/agents/chat/completions", `{"agent_id":"`+id+`","query":"x","session_id":"`+session+`"}`))
	require.Equal(t, "message_end", a.Data().Get("event").Str())
	require.Equal(t, "1", a.Data().Get("data").Get("usage").Get("calls").Text())
	list, _ = s.Post("/api/v1/agents/"+id+"/completions", `{"question":"x","session_id":"`+session+`"}`).Events()
	require.Equal(t, "message_end", list[len(list)-1].Get("event").Str(), "older clients get messages only")
}

// TestRenaming sets titles that are taken, and clears texts.
func TestRenaming(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("first", apitest.Echo)
	s.Canvas("second", apitest.Echo)
	for _, c := range []struct{ method, path, body string }{
		{"PUT", "/api/v1/agents/" + id, `{"title":"second"}`},
		{"PUT", "/0.27/api/v1/agents/" + id, `{"title":"SECOND"}`},
		{"POST", "/v1/canvas/set", `{"id":"` + id + `","title":"second","dsl":` + apitest.Echo + `}`},
		{"POST", "/v1/canvas/setting", `{"id":"` + id + `","title":"second","permission":"me"}`},
	} {
		a := s.Request(c.method, c.path, "one", c.body)
		require.Equal(t, 102, a.Code(), c.path)
		require.Contains(t, a.Message(), "already exists.")
	}
	s.Good(s.Put("/api/v1/agents/"+id, `{"title":"first","description":"d","avatar":"a"}`))
	s.Good(s.Post("/v1/canvas/setting", `{"id":"`+id+`","title":"first","permission":"me","description":"","avatar":""}`))
	row := s.Good(s.Get("/v1/canvas/get/" + id)).Data()
	require.True(t, row.Get("description").IsNull())
	require.True(t, row.Get("avatar").IsNull())
}

// TestEqualDocumentsMakeNoVersion saves a canvas again as it is, as pages do
// every few seconds.
func TestEqualDocumentsMakeNoVersion(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", apitest.Echo)
	for range 3 {
		s.Good(s.Put("/api/v1/agents/"+id, `{"dsl":`+apitest.Echo+`}`))
		s.Good(s.Post("/v1/canvas/set", `{"id":"`+id+`","title":"a","dsl":`+apitest.Echo+`}`))
	}
	require.Equal(t, 1, s.Good(s.Get("/v1/canvas/getlistversion/"+id)).Data().Len())
	s.Good(s.Put("/api/v1/agents/"+id, `{"dsl":`+apitest.Formed+`}`))
	require.Equal(t, 2, s.Good(s.Get("/v1/canvas/getlistversion/"+id)).Data().Len())
}

// TestDebugOfANodeThatFails shows its error among its outputs.
func TestDebugOfANodeThatFails(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", apitest.Broken)
	a := s.Good(s.Post("/v1/canvas/debug", `{"id":"`+id+`","component_id":"Invoke:X","params":{}}`))
	require.Contains(t, a.Data().Get("_ERROR").Str(), "127.0.0.1:1")
	apitest.RequireKeys(t, a.Data(), "_ERROR _created_time _elapsed_time")
	a = s.Good(s.Post("/v1/canvas/debug", `{"id":"`+id+`","component_id":"Message:A","params":{}}`))
	_, failed := a.Data().Lookup("_ERROR")
	require.False(t, failed)
}

// TestNamesOfSessions names the session that a completion makes.
func TestNamesOfSessions(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", apitest.Echo)
	for body, want := range map[string]string{
		`"query":"` + strings.Repeat("ü🙂", 200) + `"`: strings.Repeat("ü🙂", 125), `"query":"x","name":"mine"`: "mine", `"question":"y"`: "y",
	} {
		a := s.Good(s.Post("/api/v1/agents/chat/completions", `{"agent_id":"`+id+`",`+body+`}`))
		row := s.Good(s.Get("/api/v1/agents/" + id + "/sessions/" + a.Data().Get("session_id").Str())).Data()
		require.Equal(t, want, row.Get("name").Str())
		require.Equal(t, "workflow", row.Get("source").Str())
	}
}
