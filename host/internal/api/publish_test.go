package api

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/store"
)

// releaseContract is what the dialects answer about published versions. The
// older one knows none: it runs what is saved, and its rows say so.
var releaseContract = slices.Concat(
	both(contract{name: "make and publish", method: "POST", path: "/api/v1/agents", body: `{"title":"released {canvas}","dsl":{echo},"release":true}`},
		jsonValue("true"), func(t testing.TB, a answer) {
			jsonResult(canvasKeys+" release_time")(t, a)
			require.Equal(t, "true", a.data().Get("release").JSON())
			require.Equal(t, a.data().Get("update_time").JSON(), a.data().Get("last_publish_time").JSON())
			require.Equal(t, a.data().Get("update_time").JSON(), a.data().Get("release_time").JSON())
		}),
	both(contract{name: "publish what is saved", method: "PUT", path: "/api/v1/agents/{canvas}", body: `{"release":true}`}, jsonValue("true"), jsonResult("update_time")),
	both(contract{name: "release as text", method: "PUT", path: "/api/v1/agents/{canvas}", body: `{"release":"true","dsl":{formed}}`}, jsonValue("true"), jsonResult("update_time")),
	rows(contract{name: "release as an object", method: "PUT", body: `{"release":{}}`, want: jsonError(101, "argument release must be true or false")}, "/api/v1/agents/{canvas}"),
	rows(contract{name: "release as a list", method: "POST", body: `{"title":"x {canvas}","dsl":{echo},"release":[]}`, want: jsonError(101, "argument release must be true or false")}, "/api/v1/agents", "/v1/canvas/set"),
	both(contract{name: "publish what does not load", method: "POST", path: "/api/v1/agents", body: `{"title":"x {canvas}","release":true,"dsl":{"components":{"begin":{"obj":{"component_name":"Nothing","params":{}}}}}}`},
		jsonValue("true"), jsonError(101, "Nothing")),
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
	both(contract{name: "session without release", method: "POST", path: "/api/v1/agents/{canvas}/sessions", body: `{"release":"false"}`}, result("id"), func(t testing.TB, a answer) {
		result("id version_title")(t, a)
		require.Regexp(t, `^one_mine \d+_\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$|^mine \d+_\d{4}_`, a.data().Get("version_title").Str())
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
func verb(v string) string { return strings.Replace(echo, "said", v, 1) }

// TestPublishedVersion follows a canvas through editing and publishing in the
// 0.27 dialect.
func TestPublishedVersion(t *testing.T) {
	s := newSite(t)
	made := s.good(s.post("/0.27/api/v1/agents", `{"title":"a","dsl":`+verb("drew")+`}`)).data()
	id, path := made.Get("id").Str(), "/0.27/api/v1/agents/"+made.Get("id").Str()
	require.Equal(t, "null false null", made.Get("last_publish_time").JSON()+" "+made.Get("release").JSON()+" "+made.Get("release_time").JSON())
	row := func() engine.Value { return s.good(s.get(path)).data() }
	listed := func() engine.Value {
		return s.good(s.get("/0.27/api/v1/agents?keywords=a")).data().Get("canvas").At(0)
	}
	ask := func(release string) string {
		a := s.good(s.post("/0.27/api/v1/agents/chat/completions", `{"agent_id":"`+id+`","query":"x","release":`+release+`}`))
		return a.data().Get("data").Get("content").Str()
	}
	versions := func() (list []engine.Value) {
		for _, v := range s.good(s.get(path + "/versions")).data().Elements() {
			list = append(list, v)
		}
		return list
	}

	s.good(s.put(path, `{"dsl":`+verb("published")+`,"release":true}`))
	published := row()
	require.Equal(t, "true", published.Get("release").JSON())
	require.Equal(t, published.Get("last_publish_time").JSON(), listed().Get("release_time").JSON())
	require.Equal(t, "You published x", ask("true"))
	session := s.good(s.post(path+"/sessions", `{"release":true}`)).data()
	require.Equal(t, versions()[0].Get("title").Str(), session.Get("version_title").Str())
	require.Contains(t, session.Get("dsl").JSON(), "You published")

	s.good(s.put(path, `{"dsl":`+verb("sketched")+`}`))
	require.Equal(t, "false", row().Get("release").JSON(), "what is saved is not what is published")
	require.Equal(t, published.Get("last_publish_time").JSON(), row().Get("last_publish_time").JSON())
	require.Equal(t, "You published x", ask("true"))
	require.Equal(t, "You sketched x", ask("false"))
	s.good(s.put(path, `{"description":"d"}`))
	require.Equal(t, "You published x", ask(`"TRUE"`))
	list := versions()
	require.Len(t, list, 3)
	require.Equal(t, "false true false", list[0].Get("release").JSON()+" "+list[1].Get("release").JSON()+" "+list[2].Get("release").JSON())
	one := s.good(s.get(path + "/versions/" + list[1].Get("id").Str())).data()
	require.Equal(t, "true", one.Get("release").JSON())
	require.Equal(t, published.Get("last_publish_time").JSON(), one.Get("update_time").JSON())

	turn := s.good(s.post("/0.27/api/v1/agents/chat/completions", `{"agent_id":"`+id+`","query":"y","session_id":"`+session.Get("id").Str()+`"}`))
	require.Equal(t, "You published y", turn.data().Get("data").Get("content").Str())
	stored := s.good(s.get(path + "/sessions/" + session.Get("id").Str())).data()
	require.Equal(t, session.Get("version_title").Str(), stored.Get("version_title").Str())

	s.good(s.put(path, `{"release":true}`))
	require.Equal(t, "You sketched x", ask("true"), "what is saved can be published as it is")
	require.Len(t, versions(), 3)
	require.Equal(t, "true", row().Get("release").JSON())
	s.good(s.put(path, `{"dsl":`+verb("sketched")+`}`))
	require.Equal(t, "true", row().Get("release").JSON(), "saving the same again changes nothing")

	// The older dialect knows nothing of it.
	s.good(s.put("/api/v1/agents/"+id, `{"description":"d","release":true}`))
	s.good(s.post("/v1/canvas/set", `{"id":"`+id+`","title":"a","dsl":`+verb("drafted")+`,"release":true}`))
	require.Equal(t, "You sketched x", ask("true"))
	old := s.good(s.get("/v1/canvas/get/" + id)).data()
	require.Equal(t, "null", old.Get("last_publish_time").JSON())
	_, has := old.Lookup("release_time")
	require.False(t, has)
	for _, v := range s.good(s.get("/v1/canvas/getlistversion/" + id)).data().Elements() {
		require.Equal(t, "false", v.Get("release").JSON())
		require.Equal(t, v.Get("create_time").JSON(), v.Get("update_time").JSON())
	}
	for _, v := range s.good(s.get("/api/v1/agents/" + id + "/sessions")).data().Elements() {
		require.Equal(t, "null", v.Get("version_title").JSON())
	}
	s.good(s.put(path, `{"dsl":`+verb("erased")+`}`))
	a := s.good(s.post("/api/v1/agents/"+id+"/completions", `{"question":"x","release":true,"stream":false}`))
	require.Equal(t, "You erased x", a.data().Get("data").Get("content").Str())

	// Nor can another tenant reach it.
	require.Equal(t, 103, s.request("POST", "/0.27/api/v1/agents/chat/completions", "two", `{"agent_id":"`+id+`","query":"x","release":true}`).code())
	require.Equal(t, 103, s.request("PUT", path, "two", `{"release":true}`).code())
	require.Equal(t, "You sketched x", ask("true"))
}

// TestPublishInOurAPI publishes a draft and an older version, and runs what was
// published.
func TestPublishInOurAPI(t *testing.T) {
	s := newSite(t)
	id := s.as("one", "POST", "/api/v2/canvases", `{"title":"a","dsl":`+verb("first")+`,"release":true}`, 201).Get("id").Str()
	path := "/api/v2/canvases/" + id
	unpublished := func(a answer) {
		t.Helper()
		require.Equal(t, 409, a.status, a.text)
		require.Equal(t, "not_published", a.body.Get("error").Get("code").Str())
	}
	unpublished(s.post(path+"/runs", `{"query":"x","published":true}`))
	unpublished(s.post(path+"/sessions", `{"published":true}`))
	unpublished(s.post("/api/v2/schedules", `{"canvas":"`+id+`","every":"24h","published":true}`))
	_, has := s.get(path).body.Lookup("published")
	require.False(t, has)

	ask := func(body string) string {
		t.Helper()
		a := s.request("POST", path+"/runs", "one", body, "Accept", "text/event-stream")
		require.Equal(t, 200, a.status, a.text)
		return a.text
	}
	canvas := s.as("one", "POST", path+"/publish", ``, 200)
	first := canvas.Get("published").Get("version").Str()
	require.WithinDuration(t, time.Now(), timeOf(t, canvas.Get("published").Get("at").Str()), time.Minute)
	s.as("one", "PUT", path, `{"dsl":`+verb("second")+`}`, 200)
	require.Contains(t, ask(`{"query":"x","published":true}`), "You first")
	require.Contains(t, ask(`{"query":"x"}`), "You second")
	session := s.as("one", "POST", path+"/sessions", `{"published":true}`, 201).Get("id").Str()
	require.Contains(t, ask(`{"query":"x","session":"`+session+`"}`), "You first")

	require.Equal(t, 409, s.post(path+"/publish", `{"rev":1}`).status, "somebody saved meanwhile")
	rev := s.get(path).body.Get("rev").Text()
	s.as("one", "POST", path+"/publish", `{"rev":`+rev+`}`, 200)
	require.Contains(t, ask(`{"query":"x","published":true}`), "You second")
	list := s.get(path + "/versions").body.Get("items")
	require.Equal(t, 2, list.Len())
	require.Equal(t, "true false", list.At(0).Get("published").JSON()+" "+list.At(1).Get("published").JSON())
	require.Equal(t, first, list.At(1).Get("id").Str())
	require.NotEmpty(t, list.At(1).Get("published_at").Str(), "it was once")
	canvas = s.as("one", "POST", path+"/publish", `{"version":"`+first+`"}`, 200)
	require.Equal(t, first, canvas.Get("published").Get("version").Str())
	require.Contains(t, canvas.Get("dsl").JSON(), "You second", "the draft stays")
	require.Contains(t, ask(`{"query":"x","published":true}`), "You first")
	require.Contains(t, s.get(path+"/versions/"+first).body.Get("dsl").JSON(), "You first")

	schedule := s.as("one", "POST", "/api/v2/schedules", `{"canvas":"`+id+`","every":"24h","published":true,"session":"new"}`, 201)
	require.Equal(t, "true", schedule.Get("published").JSON())
	require.Equal(t, 422, s.put("/api/v2/schedules/"+schedule.Get("id").Str(), `{"session":"`+session+`"}`).status, "a session has a copy of its own")
	require.Equal(t, "false", s.as("one", "PUT", "/api/v2/schedules/"+schedule.Get("id").Str(), `{"session":"`+session+`","published":false}`, 200).Get("published").JSON())

	other := s.as("one", "POST", "/api/v2/canvases", `{"title":"b","dsl":`+echo+`}`, 201).Get("id").Str()
	foreign := s.get("/api/v2/canvases/" + other + "/versions").body.Get("items").At(0).Get("id").Str()
	theirs := s.as("two", "POST", "/api/v2/canvases", `{"title":"c","dsl":`+echo+`}`, 201).Get("id").Str()
	strange := s.request("GET", "/api/v2/canvases/"+theirs+"/versions", "two", "").body.Get("items").At(0).Get("id").Str()
	s.as("one", "PUT", "/api/v2/canvases/"+other, `{"dsl":{"components":{"x":{}}}}`, 200)
	bad := s.get("/api/v2/canvases/" + other + "/versions").body.Get("items").At(0).Get("id").Str()
	for _, c := range []struct {
		path, body string
		want       int
	}{
		{path, `{"version":"` + foreign + `"}`, 404}, // of another canvas
		{path, `{"version":"` + strange + `"}`, 404}, // of another tenant
		{path, `{"version":"` + nowhere + `"}`, 404},
		{path, `{"version":"` + first + `","rev":1}`, 422},
		{path, `{"version":7}`, 422},
		{path, `{"rev":"x"}`, 422},
		{path, `{"versoin":"x"}`, 422},
		{"/api/v2/canvases/" + theirs, `{}`, 404},
		{"/api/v2/canvases/" + nowhere, `{}`, 404},
		{"/api/v2/canvases/" + other, `{}`, 422}, // it does not load
		{"/api/v2/canvases/" + other, `{"version":"` + bad + `"}`, 422},
	} {
		require.Equal(t, c.want, s.post(c.path+"/publish", c.body).status, "%s %s", c.path, c.body)
	}
	require.Equal(t, 404, s.get(path+"/versions/"+foreign).status)
	require.Equal(t, 404, s.get(path+"/versions/"+strange).status)
	require.Equal(t, 422, s.post(path+"/runs", `{"published":true,"session":"`+session+`"}`).status)
	require.Equal(t, 422, s.post(path+"/runs", `{"published":[]}`).status)
	require.Equal(t, 422, s.post(path+"/sessions", `{"published":{}}`).status)
	require.Equal(t, 404, s.request("POST", path+"/runs", "two", `{"published":true}`).status)
	require.Equal(t, first, s.get(path).body.Get("published").Get("version").Str())

	_, reader, err := s.store.CreateKey(t.Context(), store.Key{Tenant: "one", User: "one", Scopes: []string{scopeRead, scopeRun}}, "")
	require.NoError(t, err)
	require.Equal(t, 403, s.request("POST", path+"/publish", reader, `{}`).status)
	require.Equal(t, 200, s.request("GET", path+"/versions", reader, "").status)
}

func timeOf(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	require.NoError(t, err)
	return at
}
