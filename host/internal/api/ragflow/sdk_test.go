package ragflow_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// These tests make the calls of the Python SDK, in both dialects, and read of
// the answers what it reads.

func TestSDK023(t *testing.T) {
	s := apitest.New(t)
	const agents = "/api/v1/agents"
	a := s.Good(s.Post(agents, `{"title":"helper","dsl":`+apitest.Echo+`}`))
	require.True(t, a.Data().True())
	a = s.Post(agents, `{"title":"helper","dsl":`+apitest.Echo+`}`)
	require.Equal(t, 102, a.Code())
	require.Equal(t, "Agent with title helper already exists.", a.Message())

	a = s.Good(s.Get(agents + "?page=1&page_size=30&orderby=update_time&desc=True"))
	require.Equal(t, engine.KindList, a.Data().Kind())
	row := a.Data().At(0)
	for _, key := range []string{
		"id", "title", "avatar", "user_id", "permission", "description", "canvas_type", "canvas_category", "dsl",
		"create_time", "create_date", "update_time", "update_date",
	} {
		_, ok := row.Lookup(key)
		require.True(t, ok, key)
	}
	require.Equal(t, engine.KindObject, row.Get("dsl").Kind())
	id := row.Get("id").Str()
	require.Equal(t, "The agent doesn't exist.", s.Get(agents+"?title=missing").Message())
	s.Good(s.Put(agents+"/"+id, `{"title":"renamed"}`))
	s.Good(s.Put(agents+"/"+id, `{"dsl":`+apitest.Echo+`}`))

	a = s.Good(s.Post(agents+"/"+id+"/sessions", `{"user_id":"u7"}`))
	_, has := a.Body.Lookup("message")
	require.False(t, has, "this envelope has no message")
	require.Equal(t, "u7", a.Data().Get("user_id").Str())
	require.Equal(t, id, a.Data().Get("agent_id").Str())
	require.Equal(t, "Welcome", a.Data().Get("message").At(0).Get("content").Str())
	require.Equal(t, engine.KindObject, a.Data().Get("dsl").Kind())
	session := a.Data().Get("id").Str()

	a = s.Good(s.Post(agents+"/"+id+"/completions", `{"question":"hello","stream":false,"session_id":"`+session+`"}`))
	require.Equal(t, "You said hello", a.Data().Get("data").Get("content").Str())
	require.Equal(t, session, a.Data().Get("session_id").Str())

	a = s.Post(agents+"/"+id+"/completions", `{"question":"again","stream":true,"session_id":"`+session+`"}`)
	require.Equal(t, "text/event-stream; charset=utf-8", a.Header.Get("Content-Type"))
	require.Equal(t, "message message message_end [DONE]", a.Kinds())
	list, _ := a.Events()
	for _, e := range list {
		require.Equal(t, session, e.Get("session_id").Str())
	}
	a = s.Post(agents+"/"+id+"/completions", `{"question":"again","session_id":"`+session+`","return_trace":true}`)
	require.Equal(t, "node_finished message message message_end node_finished [DONE]", a.Kinds())
	list, _ = a.Events()
	require.Equal(t, 2, list[4].Get("data").Get("trace").Len())

	a = s.Good(s.Get(agents + "/" + id + "/sessions?page=1&page_size=30&orderby=create_time&desc=True&id=" + session))
	require.Equal(t, 1, a.Data().Len())
	require.Equal(t, 7, a.Data().At(0).Get("messages").Len())
	require.True(t, a.Data().At(0).Get("dsl").Get("components").Truthy())
	require.True(t, s.Get(agents+"/"+id+"/sessions?dsl=False").Data().At(0).Get("dsl").IsNull())

	require.Equal(t, `{"code":0}`, s.Delete(agents+"/"+id+"/sessions", `{"ids":["`+session+`"]}`).Text)
	require.Equal(t, "Agent "+id+" has no sessions", s.Delete(agents+"/"+id+"/sessions", `{"ids":null}`).Message())
	s.Good(s.Delete(agents+"/"+id, `{}`))
	require.Equal(t, 103, s.Delete(agents+"/"+id, `{}`).Code())
}

func TestSDK027(t *testing.T) {
	s := apitest.New(t)
	const agents = "/0.27/api/v1/agents"
	a := s.Good(s.Post(agents, `{"title":"helper","dsl":`+apitest.Echo+`,"canvas_type":"Other"}`))
	id := a.Data().Get("id").Str()
	require.Equal(t, "HELPER already exists.", s.Post(agents, `{"title":"HELPER","dsl":`+apitest.Echo+`}`).Message())
	a = s.Good(s.Get(agents + "?page=1&page_size=30&orderby=update_time&desc=True"))
	require.Equal(t, id, a.Data().Get("canvas").At(0).Get("id").Str())
	require.Equal(t, "1", a.Data().Get("total").Text())
	require.Equal(t, "helper", s.Good(s.Get(agents+"/"+id)).Data().Get("title").Str())
	require.Positive(t, s.Good(s.Put(agents+"/"+id, `{"title":"renamed"}`)).Data().Get("update_time").Text())

	ask := `{"agent_id":"` + id + `","query":"hello","stream":%,"session_id":"#","openai-compatible":false}`
	with := func(stream, session string) string {
		return strings.NewReplacer("%", stream, "#", session).Replace(ask)
	}
	session := s.Good(s.Post(agents+"/"+id+"/sessions", `{"name":"n"}`)).Data().Get("id").Str()
	a = s.Good(s.Post(agents+"/chat/completions", with("false", session)))
	require.Equal(t, "You said hello", a.Data().Get("data").Get("content").Str())
	a = s.Post(agents+"/chat/completions", with("true", session))
	require.Equal(t, "node_finished message message message_end node_finished [DONE]", a.Kinds())
	a = s.Post(agents+"/chat/completions", with("true", ""))
	require.Equal(t, "workflow_started node_started node_finished node_started message message message_end node_finished workflow_finished [DONE]", a.Kinds())
	require.Equal(t, "`agent_id` is required.", s.Post(agents+"/chat/completions", `{}`).Message())
	a = s.Post(agents+"/chat/completions", `{"agent_id":"`+id+`","openai-compatible":true,"messages":[]}`)
	require.Equal(t, 102, a.Code())
	a = s.Post(agents+"/chat/completions", `{"agent_id":"`+id+`","openai-compatible":true,"messages":[{"role":"user","content":"hi"}]}`)
	require.Equal(t, "You said hi", a.Body.Get("choices").At(0).Get("message").Get("content").Str())

	a = s.Get(agents + "/" + id + "/sessions")
	require.Equal(t, "3", a.Body.Get("total").Text())
	s.Good(s.Delete(agents+"/"+id+"/sessions", `{"ids":null}`))
	require.Equal(t, "3", s.Get(agents+"/"+id+"/sessions").Body.Get("total").Text(), "no ids delete nothing")
	s.Good(s.Delete(agents+"/"+id+"/sessions", `{"ids":null,"delete_all":true}`))
	require.Equal(t, "0", s.Get(agents+"/"+id+"/sessions").Body.Get("total").Text())
	s.Good(s.Delete(agents+"/"+id, ""))
	require.Equal(t, 401, s.Request("GET", agents, "", "").Status)
}

func TestOpenAIStream(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", apitest.Echo)
	path := "/api/v1/agents_openai/" + id + "/chat/completions"
	a := s.Post(path, `{"model":"m","stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`)
	require.Contains(t, a.Text, "data: {")
	list, done := a.Events()
	require.True(t, done)
	text := ""
	for _, e := range list {
		require.Equal(t, "chat.completion.chunk", e.Get("object").Str())
		require.Equal(t, list[0].Get("id").Str(), e.Get("id").Str(), "one id, that of the session")
		text += e.Get("choices").At(0).Get("delta").Get("content").Str()
	}
	require.Equal(t, "You said hi", text)
	again := s.Post(path, `{"model":"m","session_id":"`+list[0].Get("id").Str()+`","messages":[{"role":"user","content":"more"}]}`)
	require.Equal(t, list[0].Get("id").Str(), again.Body.Get("id").Str())
	require.Equal(t, "required argument are missing: model,messages; ", s.Post(path, `{}`).Message())
}

func TestErrorsInsideAStreamCanBeRead(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", apitest.Broken)
	a := s.Post("/api/v1/agents/"+id+"/completions", `{"question":"x"}`)
	require.Equal(t, "message message_end message [DONE]", a.Kinds())
	list, _ := a.Events()
	require.Contains(t, list[2].Get("data").Get("content").Str(), "**ERROR**")
	a = s.Post("/v1/canvas/completion", `{"id":"`+id+`"}`)
	list, _ = a.Events()
	require.Equal(t, "500", list[len(list)-1].Get("code").Text())
	a = s.Post("/api/v1/agents/"+id+"/completions", `{"question":"x","stream":false}`)
	require.Equal(t, 100, a.Code())
	require.NotEmpty(t, a.Message())
}

func TestForms(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", apitest.Formed)
	a := s.Post("/v1/canvas/completion", `{"id":"`+id+`"}`)
	require.Equal(t, "workflow_started node_started node_finished user_inputs", a.Kinds())
	a = s.Post("/v1/canvas/completion", `{"id":"`+id+`","inputs":{"city":{"value":"Oslo"}}}`)
	require.Contains(t, a.Text, "Oslo")
	require.Contains(t, a.Kinds(), "workflow_finished")

	a = s.Post("/api/v1/agents/"+id+"/completions", `{"question":"x"}`)
	list, _ := a.Events()
	require.Equal(t, "Your city?", list[0].Get("data").Get("content").Str(), "clients that read content show the tips")
	session := list[0].Get("session_id").Str()
	a = s.Good(s.Post("/api/v1/agents/"+id+"/completions", `{"stream":false,"session_id":"`+session+`","inputs":{"city":{"value":"Rome"}}}`))
	require.Equal(t, "City Rome", a.Data().Get("data").Get("content").Str())
}
