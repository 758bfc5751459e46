package ragflow_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// releaseContract contains the responses of the dialects about published versions. The
// older one has none: it runs the saved document, as its rows show.
var releaseContract = slices.Concat(
	both(contract{name: "make and publish", method: "POST", path: "/api/v1/agents", body: `{"title":"released {canvas}","dsl":{echo},"release":true}`},
		jsonValue("true"), func(t testing.TB, a apitest.Answer) {
			jsonResult(canvasKeys+" release_time")(t, a)
			require.Equal(t, "true", a.Data().Get("release").JSON())
			require.Equal(t, a.Data().Get("update_time").JSON(), a.Data().Get("last_publish_time").JSON())
			require.Equal(t, a.Data().Get("update_time").JSON(), a.Data().Get("release_time").JSON())
		}),
	both(contract{name: "publish what is saved", method: "PUT", path: "/api/v1/agents/{canvas}", body: `{"release":true}`}, jsonValue("true"), jsonResult("update_time")),
	both(contract{name: "release as text", method: "PUT", path: "/api/v1/agents/{canvas}", body: `{"release":"true","dsl":{formed}}`}, jsonValue("true"), jsonResult("update_time")),
	rows(contract{name: "release as an object", method: "PUT", body: `{"release":{}}`, want: jsonError(101, "argument release must be true or false")}, "/api/v1/agents/{canvas}"),
	rows(contract{name: "release as a list", method: "POST", body: `{"title":"x {canvas}","dsl":{echo},"release":[]}`, want: jsonError(101, "argument release must be true or false")}, "/api/v1/agents", "/v1/canvas/set"),
	both(contract{name: "publish what does not load", method: "POST", path: "/api/v1/agents", body: `{"title":"x {canvas}","release":true,"dsl":{"components":{"begin":{"obj":{"component_name":"Nothing","params":{}}}}}}`},
		jsonError(101, "Nothing"), jsonError(101, "Nothing")),
	both(contract{name: "publish a new one that does not load", method: "POST", path: "/v1/canvas/set", body: `{"title":"x {canvas}","release":true,"dsl":{"components":{"begin":{"obj":{"component_name":"Nothing","params":{}}}}}}`},
		jsonResult("id"), jsonError(101, "Nothing")),
	both(contract{name: "publish an unknown one", method: "PUT", path: "/api/v1/agents/{none}", body: `{"release":true}`},
		jsonError(103, "Only owner of canvas authorized for this operation."), jsonError(103, "Make sure you have permission to access the agent.")),

	both(contract{name: "session of nothing published", method: "POST", path: "/api/v1/agents/{canvas}/sessions", body: `{"release":true}`},
		result("id"), dataError(102, "No available published version")),
	both(contract{name: "session of nothing published, asked in the address", method: "POST", path: "/api/v1/agents/{canvas}/sessions?release=true", body: `{}`},
		result("id"), dataError(102, "No available published version")),
	both(contract{name: "session of a release that is no flag", method: "POST", path: "/api/v1/agents/{canvas}/sessions", body: `{"release":{}}`},
		result("id"), jsonError(101, "argument release must be true or false")),
	both(contract{name: "session without release", method: "POST", path: "/api/v1/agents/{canvas}/sessions", body: `{"release":"false"}`}, result("id"), func(t testing.TB, a apitest.Answer) {
		result("id version_title")(t, a)
		require.Regexp(t, `^one_mine \d+_\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$|^mine \d+_\d{4}_`, a.Data().Get("version_title").Str())
	}),
	both(contract{name: "completion of nothing published", method: "POST", path: "/api/v1/agents/{canvas}/completions", body: `{"question":"x","release":true,"stream":false}`},
		result("event"), dataError(102, "No available published version")),
	rows(contract{name: "completion of nothing published", method: "POST", body: `{"agent_id":"{canvas}","query":"x","release":true,"stream":true}`, want: dataError(102, "No available published version")},
		"/api/v1/agents/chat/completions"),
	rows(contract{name: "a turn of a session, which has a copy of its own", method: "POST", body: `{"agent_id":"{canvas}","session_id":"{session}","query":"x","release":true}`, want: result("event")},
		"/api/v1/agents/chat/completions"),
	rows(contract{name: "release that is no flag", method: "POST", body: `{"agent_id":"{canvas}","query":"x","release":[1]}`, want: jsonError(101, "argument release must be true or false")},
		"/api/v1/agents/chat/completions"),
	both(contract{name: "OpenAI's form of nothing published", method: "POST", path: "/api/v1/agents_openai/{canvas}/chat/completions", body: `{"model":"m","messages":[{"role":"user","content":"x"}],"release":true}`},
		openWhole("You said x"), openError(409, 102, "No available published version")),
	both(contract{name: "embedded page of nothing published", method: "POST", path: "/api/v1/agentbots/{canvas}/completions", as: "beta", body: `{"query":"x","release":true,"stream":false}`},
		result("event"), dataError(102, "No available published version")),
	both(contract{name: "inputs of nothing published", method: "GET", path: "/api/v1/agentbots/{canvas}/inputs?release=true", as: "beta"},
		result("inputs"), dataError(102, "No available published version")),
)

// verb is echo with another verb.
func verb(v string) string { return strings.Replace(apitest.Echo, "said", v, 1) }

// TestPublishedVersion follows a canvas through editing and publishing in the
// 0.27 dialect.
func TestPublishedVersion(t *testing.T) {
	s := apitest.New(t)
	made := s.Good(s.Post("/0.27/api/v1/agents", `{"title":"a","dsl":`+verb("drew")+`}`)).Data()
	id, path := made.Get("id").Str(), "/0.27/api/v1/agents/"+made.Get("id").Str()
	require.Equal(t, "null false null", made.Get("last_publish_time").JSON()+" "+made.Get("release").JSON()+" "+made.Get("release_time").JSON())
	row := func() engine.Value { return s.Good(s.Get(path)).Data() }
	listed := func() engine.Value {
		return s.Good(s.Get("/0.27/api/v1/agents?keywords=a")).Data().Get("canvas").At(0)
	}
	ask := func(release string) string {
		a := s.Good(s.Post("/0.27/api/v1/agents/chat/completions", `{"agent_id":"`+id+`","query":"x","release":`+release+`}`))
		return a.Data().Get("data").Get("content").Str()
	}
	versions := func() (list []engine.Value) {
		for _, v := range s.Good(s.Get(path + "/versions")).Data().Elements() {
			list = append(list, v)
		}
		return list
	}

	s.Good(s.Put(path, `{"dsl":`+verb("published")+`,"release":true}`))
	published := row()
	require.Equal(t, "true", published.Get("release").JSON())
	require.Equal(t, published.Get("last_publish_time").JSON(), listed().Get("release_time").JSON())
	require.Equal(t, "You published x", ask("true"))
	session := s.Good(s.Post(path+"/sessions", `{"release":true}`)).Data()
	require.Equal(t, versions()[0].Get("title").Str(), session.Get("version_title").Str())
	require.Contains(t, session.Get("dsl").JSON(), "You published")

	s.Good(s.Put(path, `{"dsl":`+verb("sketched")+`}`))
	require.Equal(t, "false", row().Get("release").JSON(), "what is saved is not what is published")
	require.Equal(t, published.Get("last_publish_time").JSON(), row().Get("last_publish_time").JSON())
	require.Equal(t, "You published x", ask("true"))
	require.Equal(t, "You sketched x", ask("false"))
	s.Good(s.Put(path, `{"description":"d"}`))
	require.Equal(t, "You published x", ask(`"TRUE"`))
	list := versions()
	require.Len(t, list, 3)
	require.Equal(t, "false true false", list[0].Get("release").JSON()+" "+list[1].Get("release").JSON()+" "+list[2].Get("release").JSON())
	one := s.Good(s.Get(path + "/versions/" + list[1].Get("id").Str())).Data()
	require.Equal(t, "true", one.Get("release").JSON())
	require.Equal(t, published.Get("last_publish_time").JSON(), one.Get("update_time").JSON())

	turn := s.Good(s.Post("/0.27/api/v1/agents/chat/completions", `{"agent_id":"`+id+`","query":"y","session_id":"`+session.Get("id").Str()+`"}`))
	require.Equal(t, "You published y", turn.Data().Get("data").Get("content").Str())
	stored := s.Good(s.Get(path + "/sessions/" + session.Get("id").Str())).Data()
	require.Equal(t, session.Get("version_title").Str(), stored.Get("version_title").Str())

	s.Good(s.Put(path, `{"release":true}`))
	require.Equal(t, "You sketched x", ask("true"), "what is saved can be published as it is")
	require.Len(t, versions(), 3)
	require.Equal(t, "true", row().Get("release").JSON())
	s.Good(s.Put(path, `{"dsl":`+verb("sketched")+`}`))
	require.Equal(t, "true", row().Get("release").JSON(), "saving the same again changes nothing")

	// The older dialect ignores it.
	s.Good(s.Put("/api/v1/agents/"+id, `{"description":"d","release":true}`))
	s.Good(s.Post("/v1/canvas/set", `{"id":"`+id+`","title":"a","dsl":`+verb("drafted")+`,"release":true}`))
	require.Equal(t, "You sketched x", ask("true"))
	old := s.Good(s.Get("/v1/canvas/get/" + id)).Data()
	require.Equal(t, "null", old.Get("last_publish_time").JSON())
	_, has := old.Lookup("release_time")
	require.False(t, has)
	for _, v := range s.Good(s.Get("/v1/canvas/getlistversion/" + id)).Data().Elements() {
		require.Equal(t, "false", v.Get("release").JSON())
		require.Equal(t, v.Get("create_time").JSON(), v.Get("update_time").JSON())
	}
	for _, v := range s.Good(s.Get("/api/v1/agents/" + id + "/sessions")).Data().Elements() {
		require.Equal(t, "null", v.Get("version_title").JSON())
	}
	s.Good(s.Put(path, `{"dsl":`+verb("erased")+`}`))
	a := s.Good(s.Post("/api/v1/agents/"+id+"/completions", `{"question":"x","release":true,"stream":false}`))
	require.Equal(t, "You erased x", a.Data().Get("data").Get("content").Str())

	// Nor can another tenant reach it.
	require.Equal(t, 103, s.Request("POST", "/0.27/api/v1/agents/chat/completions", "two", `{"agent_id":"`+id+`","query":"x","release":true}`).Code())
	require.Equal(t, 103, s.Request("PUT", path, "two", `{"release":true}`).Code())
	require.Equal(t, "You sketched x", ask("true"))
}

// TestPublishInOurAPI publishes a draft and an older version, and runs what was
// published.
func TestPublishInOurAPI(t *testing.T) {
	s := apitest.New(t)
	id := s.As("one", "POST", "/api/v2/canvases", `{"title":"a","dsl":`+verb("first")+`,"release":true}`, 201).Get("id").Str()
	path := "/api/v2/canvases/" + id
	unpublished := func(a apitest.Answer) {
		t.Helper()
		require.Equal(t, 409, a.Status, a.Text)
		require.Equal(t, "not_published", a.Body.Get("error").Get("code").Str())
	}
	unpublished(s.Post(path+"/runs", `{"query":"x","published":true}`))
	unpublished(s.Post(path+"/sessions", `{"published":true}`))
	unpublished(s.Post("/api/v2/schedules", `{"canvas":"`+id+`","every":"24h","published":true}`))
	_, has := s.Get(path).Body.Lookup("published")
	require.False(t, has)

	ask := func(body string) string {
		t.Helper()
		a := s.Request("POST", path+"/runs", "one", body, "Accept", "text/event-stream")
		require.Equal(t, 200, a.Status, a.Text)
		return a.Text
	}
	canvas := s.As("one", "POST", path+"/publish", ``, 200)
	first := canvas.Get("published").Get("version").Str()
	require.WithinDuration(t, time.Now(), timeOf(t, canvas.Get("published").Get("at").Str()), time.Minute)
	s.As("one", "PUT", path, `{"dsl":`+verb("second")+`}`, 200)
	require.Contains(t, ask(`{"query":"x","published":true}`), "You first")
	require.Contains(t, ask(`{"query":"x"}`), "You second")
	session := s.As("one", "POST", path+"/sessions", `{"published":true}`, 201).Get("id").Str()
	require.Contains(t, ask(`{"query":"x","session":"`+session+`"}`), "You first")

	require.Equal(t, 409, s.Post(path+"/publish", `{"rev":1}`).Status, "somebody saved meanwhile")
	rev := s.Get(path).Body.Get("rev").Text()
	s.As("one", "POST", path+"/publish", `{"rev":`+rev+`}`, 200)
	require.Contains(t, ask(`{"query":"x","published":true}`), "You second")
	list := s.Get(path + "/versions").Body.Get("items")
	require.Equal(t, 2, list.Len())
	require.Equal(t, "true false", list.At(0).Get("published").JSON()+" "+list.At(1).Get("published").JSON())
	require.Equal(t, first, list.At(1).Get("id").Str())
	require.NotEmpty(t, list.At(1).Get("published_at").Str(), "it was once")
	canvas = s.As("one", "POST", path+"/publish", `{"version":"`+first+`"}`, 200)
	require.Equal(t, first, canvas.Get("published").Get("version").Str())
	require.Contains(t, canvas.Get("dsl").JSON(), "You second", "the draft stays")
	require.Contains(t, ask(`{"query":"x","published":true}`), "You first")
	require.Contains(t, s.Get(path+"/versions/"+first).Body.Get("dsl").JSON(), "You first")

	schedule := s.As("one", "POST", "/api/v2/schedules", `{"canvas":"`+id+`","every":"24h","published":true,"session":"new"}`, 201)
	require.Equal(t, "true", schedule.Get("published").JSON())
	require.Equal(t, 422, s.Put("/api/v2/schedules/"+schedule.Get("id").Str(), `{"session":"`+session+`"}`).Status, "a session has a copy of its own")
	require.Equal(t, "false", s.As("one", "PUT", "/api/v2/schedules/"+schedule.Get("id").Str(), `{"session":"`+session+`","published":false}`, 200).Get("published").JSON())

	other := s.As("one", "POST", "/api/v2/canvases", `{"title":"b","dsl":`+apitest.Echo+`}`, 201).Get("id").Str()
	foreign := s.Get("/api/v2/canvases/" + other + "/versions").Body.Get("items").At(0).Get("id").Str()
	theirs := s.As("two", "POST", "/api/v2/canvases", `{"title":"c","dsl":`+apitest.Echo+`}`, 201).Get("id").Str()
	strange := s.Request("GET", "/api/v2/canvases/"+theirs+"/versions", "two", "").Body.Get("items").At(0).Get("id").Str()
	s.As("one", "PUT", "/api/v2/canvases/"+other, `{"dsl":{"components":{"x":{}}}}`, 200)
	bad := s.Get("/api/v2/canvases/" + other + "/versions").Body.Get("items").At(0).Get("id").Str()
	for _, c := range []struct {
		path, body string
		want       int
	}{
		{path, `{"version":"` + foreign + `"}`, 404}, // of another canvas
		{path, `{"version":"` + strange + `"}`, 404}, // of another tenant
		{path, `{"version":"` + apitest.Nowhere + `"}`, 404},
		{path, `{"version":"` + first + `","rev":1}`, 422},
		{path, `{"version":7}`, 422},
		{path, `{"rev":"x"}`, 422},
		{path, `{"versoin":"x"}`, 422},
		{"/api/v2/canvases/" + theirs, `{}`, 404},
		{"/api/v2/canvases/" + apitest.Nowhere, `{}`, 404},
		{"/api/v2/canvases/" + other, `{}`, 422}, // it does not load
		{"/api/v2/canvases/" + other, `{"version":"` + bad + `"}`, 422},
	} {
		require.Equal(t, c.want, s.Post(c.path+"/publish", c.body).Status, "%s %s", c.path, c.body)
	}
	require.Equal(t, 404, s.Get(path+"/versions/"+foreign).Status)
	require.Equal(t, 404, s.Get(path+"/versions/"+strange).Status)
	require.Equal(t, 422, s.Post(path+"/runs", `{"published":true,"session":"`+session+`"}`).Status)
	require.Equal(t, 422, s.Post(path+"/runs", `{"published":[]}`).Status)
	require.Equal(t, 422, s.Post(path+"/sessions", `{"published":{}}`).Status)
	require.Equal(t, 404, s.Request("POST", path+"/runs", "two", `{"published":true}`).Status)
	require.Equal(t, first, s.Get(path).Body.Get("published").Get("version").Str())

	_, reader, err := s.Store.Keys.Create(
		t.Context(), store.Key{Tenant: "one", User: "one", Scopes: []string{app.ScopeRead, app.ScopeRun}}, "",
	)
	require.NoError(t, err)
	require.Equal(t, 403, s.Request("POST", path+"/publish", reader, `{}`).Status)
	require.Equal(t, 200, s.Request("GET", path+"/versions", reader, "").Status)
}

func timeOf(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	require.NoError(t, err)
	return at
}
