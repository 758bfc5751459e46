package api

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// These tests make the calls of the Python SDK, in both dialects, and read of
// the answers what it reads.

func TestSDK023(t *testing.T) {
	s := newSite(t)
	const agents = "/api/v1/agents"
	a := s.good(s.post(agents, `{"title":"helper","dsl":`+echo+`}`))
	require.True(t, a.data().True())
	a = s.post(agents, `{"title":"helper","dsl":`+echo+`}`)
	require.Equal(t, 102, a.code())
	require.Equal(t, "Agent with title helper already exists.", a.message())

	a = s.good(s.get(agents + "?page=1&page_size=30&orderby=update_time&desc=True"))
	require.Equal(t, engine.KindList, a.data().Kind())
	row := a.data().At(0)
	for _, key := range []string{
		"id", "title", "avatar", "user_id", "permission", "description", "canvas_type", "canvas_category", "dsl",
		"create_time", "create_date", "update_time", "update_date",
	} {
		_, ok := row.Lookup(key)
		require.True(t, ok, key)
	}
	require.Equal(t, engine.KindObject, row.Get("dsl").Kind())
	id := row.Get("id").Str()
	require.Equal(t, "The agent doesn't exist.", s.get(agents+"?title=missing").message())
	s.good(s.put(agents+"/"+id, `{"title":"renamed"}`))
	s.good(s.put(agents+"/"+id, `{"dsl":`+echo+`}`))

	a = s.good(s.post(agents+"/"+id+"/sessions", `{"user_id":"u7"}`))
	_, has := a.body.Lookup("message")
	require.False(t, has, "this envelope has no message")
	require.Equal(t, "u7", a.data().Get("user_id").Str())
	require.Equal(t, id, a.data().Get("agent_id").Str())
	require.Equal(t, "Welcome", a.data().Get("message").At(0).Get("content").Str())
	require.Equal(t, engine.KindObject, a.data().Get("dsl").Kind())
	session := a.data().Get("id").Str()

	a = s.good(s.post(agents+"/"+id+"/completions", `{"question":"hello","stream":false,"session_id":"`+session+`"}`))
	require.Equal(t, "You said hello", a.data().Get("data").Get("content").Str())
	require.Equal(t, session, a.data().Get("session_id").Str())

	a = s.post(agents+"/"+id+"/completions", `{"question":"again","stream":true,"session_id":"`+session+`"}`)
	require.Equal(t, "text/event-stream; charset=utf-8", a.header.Get("Content-Type"))
	require.Equal(t, "message message message_end [DONE]", a.kinds())
	list, _ := a.events()
	for _, e := range list {
		require.Equal(t, session, e.Get("session_id").Str())
	}
	a = s.post(agents+"/"+id+"/completions", `{"question":"again","session_id":"`+session+`","return_trace":true}`)
	require.Equal(t, "node_finished message message message_end node_finished [DONE]", a.kinds())
	list, _ = a.events()
	require.Equal(t, 2, list[4].Get("data").Get("trace").Len())

	a = s.good(s.get(agents + "/" + id + "/sessions?page=1&page_size=30&orderby=create_time&desc=True&id=" + session))
	require.Equal(t, 1, a.data().Len())
	require.Equal(t, 7, a.data().At(0).Get("messages").Len())
	require.True(t, a.data().At(0).Get("dsl").Get("components").Truthy())
	require.True(t, s.get(agents+"/"+id+"/sessions?dsl=False").data().At(0).Get("dsl").IsNull())

	require.Equal(t, `{"code":0}`, s.delete(agents+"/"+id+"/sessions", `{"ids":["`+session+`"]}`).text)
	require.Equal(t, "Agent "+id+" has no sessions", s.delete(agents+"/"+id+"/sessions", `{"ids":null}`).message())
	s.good(s.delete(agents+"/"+id, `{}`))
	require.Equal(t, 103, s.delete(agents+"/"+id, `{}`).code())
}

func TestSDK027(t *testing.T) {
	s := newSite(t)
	const agents = "/0.27/api/v1/agents"
	a := s.good(s.post(agents, `{"title":"helper","dsl":`+echo+`,"canvas_type":"Other"}`))
	id := a.data().Get("id").Str()
	require.Equal(t, "HELPER already exists.", s.post(agents, `{"title":"HELPER","dsl":`+echo+`}`).message())
	a = s.good(s.get(agents + "?page=1&page_size=30&orderby=update_time&desc=True"))
	require.Equal(t, id, a.data().Get("canvas").At(0).Get("id").Str())
	require.Equal(t, "1", a.data().Get("total").Text())
	require.Equal(t, "helper", s.good(s.get(agents+"/"+id)).data().Get("title").Str())
	require.Positive(t, s.good(s.put(agents+"/"+id, `{"title":"renamed"}`)).data().Get("update_time").Text())

	ask := `{"agent_id":"` + id + `","query":"hello","stream":%,"session_id":"#","openai-compatible":false}`
	with := func(stream, session string) string {
		return strings.NewReplacer("%", stream, "#", session).Replace(ask)
	}
	session := s.good(s.post(agents+"/"+id+"/sessions", `{"name":"n"}`)).data().Get("id").Str()
	a = s.good(s.post(agents+"/chat/completions", with("false", session)))
	require.Equal(t, "You said hello", a.data().Get("data").Get("content").Str())
	a = s.post(agents+"/chat/completions", with("true", session))
	require.Equal(t, "node_finished message message message_end node_finished [DONE]", a.kinds())
	a = s.post(agents+"/chat/completions", with("true", ""))
	require.Equal(t, "workflow_started node_started node_finished node_started message message message_end node_finished workflow_finished [DONE]", a.kinds())
	require.Equal(t, "`agent_id` is required.", s.post(agents+"/chat/completions", `{}`).message())
	a = s.post(agents+"/chat/completions", `{"agent_id":"`+id+`","openai-compatible":true,"messages":[]}`)
	require.Equal(t, 102, a.code())
	a = s.post(agents+"/chat/completions", `{"agent_id":"`+id+`","openai-compatible":true,"messages":[{"role":"user","content":"hi"}]}`)
	require.Equal(t, "You said hi", a.body.Get("choices").At(0).Get("message").Get("content").Str())

	a = s.get(agents + "/" + id + "/sessions")
	require.Equal(t, "3", a.body.Get("total").Text())
	s.good(s.delete(agents+"/"+id+"/sessions", `{"ids":null}`))
	require.Equal(t, "3", s.get(agents+"/"+id+"/sessions").body.Get("total").Text(), "no ids delete nothing")
	s.good(s.delete(agents+"/"+id+"/sessions", `{"ids":null,"delete_all":true}`))
	require.Equal(t, "0", s.get(agents+"/"+id+"/sessions").body.Get("total").Text())
	s.good(s.delete(agents+"/"+id, ""))
	require.Equal(t, 401, s.request("GET", agents, "", "").status)
}

func TestOpenAIStream(t *testing.T) {
	s := newSite(t)
	id := s.canvas("a", echo)
	path := "/api/v1/agents_openai/" + id + "/chat/completions"
	a := s.post(path, `{"model":"m","stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`)
	require.Contains(t, a.text, "data: {")
	list, done := a.events()
	require.True(t, done)
	text := ""
	for _, e := range list {
		require.Equal(t, "chat.completion.chunk", e.Get("object").Str())
		require.Equal(t, list[0].Get("id").Str(), e.Get("id").Str(), "one id, that of the session")
		text += e.Get("choices").At(0).Get("delta").Get("content").Str()
	}
	require.Equal(t, "You said hi", text)
	again := s.post(path, `{"model":"m","session_id":"`+list[0].Get("id").Str()+`","messages":[{"role":"user","content":"more"}]}`)
	require.Equal(t, list[0].Get("id").Str(), again.body.Get("id").Str())
	require.Equal(t, "required argument are missing: model,messages; ", s.post(path, `{}`).message())
}

func TestErrorsInsideAStreamCanBeRead(t *testing.T) {
	s := newSite(t)
	id := s.canvas("a", broken)
	a := s.post("/api/v1/agents/"+id+"/completions", `{"question":"x"}`)
	require.Equal(t, "message message_end message [DONE]", a.kinds())
	list, _ := a.events()
	require.Contains(t, list[2].Get("data").Get("content").Str(), "**ERROR**")
	a = s.post("/v1/canvas/completion", `{"id":"`+id+`"}`)
	list, _ = a.events()
	require.Equal(t, "500", list[len(list)-1].Get("code").Text())
	a = s.post("/api/v1/agents/"+id+"/completions", `{"question":"x","stream":false}`)
	require.Equal(t, 100, a.code())
	require.NotEmpty(t, a.message())
}

func TestForms(t *testing.T) {
	s := newSite(t)
	id := s.canvas("a", formed)
	a := s.post("/v1/canvas/completion", `{"id":"`+id+`"}`)
	require.Equal(t, "workflow_started node_started node_finished user_inputs", a.kinds())
	a = s.post("/v1/canvas/completion", `{"id":"`+id+`","inputs":{"city":{"value":"Oslo"}}}`)
	require.Contains(t, a.text, "Oslo")
	require.Contains(t, a.kinds(), "workflow_finished")

	a = s.post("/api/v1/agents/"+id+"/completions", `{"question":"x"}`)
	list, _ := a.events()
	require.Equal(t, "Your city?", list[0].Get("data").Get("content").Str(), "clients that read content show the tips")
	session := list[0].Get("session_id").Str()
	a = s.good(s.post("/api/v1/agents/"+id+"/completions", `{"stream":false,"session_id":"`+session+`","inputs":{"city":{"value":"Rome"}}}`))
	require.Equal(t, "City Rome", a.data().Get("data").Get("content").Str())
}
