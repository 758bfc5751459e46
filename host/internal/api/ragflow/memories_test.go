package ragflow_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// newMemory creates a memory of tenant one and returns its id.
func newMemory(s *apitest.Site, name, types string) string {
	s.T.Helper()
	a := s.Good(
		s.Post("/api/v1/memories", `{"name":"`+name+`","memory_type":`+types+`,"embd_id":"e@E","llm_id":"m@M"}`),
	)
	return a.Data().Get("id").Str()
}

func TestMemories(t *testing.T) {
	s := apitest.New(t)
	for body, want := range map[string]string{
		`{"name":"x"}`: "required argument are missing: memory_type,embd_id,llm_id; ",
		`{"name":" ","memory_type":["raw"],"embd_id":"e","llm_id":"l"}`: "Memory name " +
			"cannot be empty or whitespace.",
		`{"name":"x","memory_type":"raw","embd_id":"e","llm_id":"l"}`: "Memory type " +
			"must be a list.",
		`{"name":"x","memory_type":["something"],"embd_id":"e","llm_id":"l"}`: "Memory type " +
			"'{'something'}' is not supported.",
		`{"name":"` + strings.Repeat("a", 129) +
			`","memory_type":[],"embd_id":"e","llm_id":"l"}`: "Memory name '" + strings.Repeat("a", 129) +
			"' exceeds limit of 128.",
	} {
		a := s.Post("/api/v1/memories", body)
		require.Equal(t, 101, a.Code(), body)
		require.Equal(t, want, a.Message())
	}
	a := s.Good(
		s.Post(
			"/api/v1/memories",
			`{"name":"Test_Memory","memory_type":["semantic","raw"],"embd_id":"e@E","llm_id":"m@M"}`,
		),
	)
	require.True(t, a.Body.Get("message").True())
	id := a.Data().Get("id").Str()
	require.Equal(t, `["raw", "semantic"]`, a.Data().Get("memory_type").Text())
	for _, member := range []string{
		"name", "avatar", "tenant_id", "owner_name", "memory_type", "storage_type", "embd_id", "llm_id",
		"permissions", "description",
		"memory_size", "forgetting_policy", "temperature", "system_prompt", "user_prompt", "create_time",
		"create_date", "update_time", "update_date",
	} {
		_, has := s.Good(s.Get("/api/v1/memories/" + id + "/config")).Data().Lookup(member)
		require.True(t, has, member)
	}
	other := newMemory(s, "Test_Memory", `["raw"]`)
	require.Equal(t, "Test_Memory(1)", s.Good(s.Get("/v1/memories/"+other+"/config")).Data().Get("name").Str())
	require.Equal(t, 2, s.Good(s.Get("/api/v1/memories")).Data().Get("memory_list").Len())
	for query, want := range map[string]string{
		"?memory_type=semantic": "1", "?memory_type=episodic&memory_type=procedural": "0",
		"?memory_type=semantic,raw": "2", "?keywords=(1": "1",
		"?storage_type=graph": "0", "?tenant_id=two": "0", "?page=2&page_size=1": "2",
	} {
		require.Equal(t, want, s.Good(s.Get("/api/v1/memories"+query)).Data().Get("total_count").Text(), query)
	}
	require.Equal(t, 1, s.Good(s.Get("/api/v1/memories?page=2&page_size=1")).Data().Get("memory_list").Len())

	for body, want := range map[string]string{
		`{"name":""}`:                 "Memory name cannot be empty or whitespace.",
		`{"permissions":"all"}`:       "Unknown permission 'all'.",
		`{"memory_size":10485761}`:    "Memory size should be in range (0, 10485760] Bytes.",
		`{"temperature":1.5}`:         "Temperature should be in range [0, 1].",
		`{"forgetting_policy":"LRU"}`: "Forgetting policy 'LRU' is not supported.",
	} {
		a := s.Put("/api/v1/memories/"+id, body)
		require.Equal(t, 101, a.Code())
		require.Equal(t, want, a.Message())
	}
	change := `{"name":"Papers","permissions":"team","memory_size":1048576,"temperature":0.7,"llm_id":"glm-4@ZHIPU-AI",
		"description":"d","system_prompt":"This is a system prompt.","user_prompt":"u","memory_type":["raw"],
		"avatar":"data:image/png;base64,x"}`
	changed := s.Good(s.Put("/api/v1/memories/"+id, change)).Data()
	want, err := engine.ParseJSONText(change)
	require.NoError(t, err)
	for name, v := range want.Fields() {
		require.Equal(t, v.JSON(), changed.Get(name).JSON(), name)
	}
	s.Good(
		s.Post(
			"/api/v1/messages",
			`{"memory_id":["`+id+`"],"agent_id":"a","session_id":"s","user_input":"q","agent_response":"r"}`,
		),
	)
	a = s.Put("/api/v1/memories/"+id, `{"memory_type":["semantic"],"embd_id":"f@E"}`)
	require.Equal(t, "Can't update ['embd_id', 'memory_type'] when memory isn't empty.", a.Message())

	s.Good(s.Delete("/api/v1/memories/"+id, `{}`))
	for _, a := range []apitest.Answer{
		s.Delete("/api/v1/memories/"+id, `{}`), s.Put(
			"/api/v1/memories/"+id, `{"name":"x"}`,
		), s.Get("/api/v1/memories/" + id), s.Get("/api/v1/memories/" + id + "/config"),
		s.Request("GET", "/api/v1/memories/"+id, "two", ""),
	} {
		require.Equal(t, 404, a.Code())
		require.Equal(t, "Memory '"+id+"' not found.", a.Message())
	}
}

func TestMemoryMessages(t *testing.T) {
	s := apitest.New(t)
	id := newMemory(s, "m", `["raw"]`)
	canvas := s.Canvas("Tea house", apitest.Echo)
	add := func(agent, session, input string) {
		a := s.Good(
			s.Post(
				"/api/v1/messages",
				`{"memory_id":["`+id+`"],"agent_id":"`+agent+`","session_id":"`+session+`","user_id":"u",`+
					`"user_input":"`+input+`","agent_response":"sure"}`,
			),
		)
		require.Equal(t, "All add to task.", a.Message())
	}
	add(canvas, "s1", "I like green tea")
	add("a2", "s2", "my cat is Tom")
	a := s.Post(
		"/api/v1/messages",
		`{"memory_id":["`+id+`","nope"],"agent_id":"a","session_id":"s3","user_input":"x","agent_response":"y"}`,
	)
	require.Equal(t, 500, a.Code())
	require.Contains(t, a.Message(), "Some messages failed to add. Detail:")
	require.Equal(
		t, "required argument are missing: agent_id,session_id,user_input,agent_response; ",
		s.Post("/api/v1/messages", `{"memory_id":["x"]}`).Message(),
	)

	list := s.Good(s.Get("/api/v1/memories/" + id)).Data()
	require.Equal(t, "table", list.Get("storage_type").Str())
	require.Equal(t, "3", list.Get("messages").Get("total_count").Text())
	first := list.Get("messages").Get("message_list").At(2)
	require.Equal(t, `"Tea house" "raw" true null [] {}`, strings.Join([]string{
		first.Get("agent_name").JSON(), first.Get("message_type").JSON(), first.Get("status").JSON(),
		first.Get("forget_at").JSON(), first.Get("extract").JSON(), first.Get("task").JSON(),
	}, " "))
	require.Regexp(t, `^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$`, first.Get("valid_at").Str())
	for query, want := range map[string]string{
		"?agent_id=a2": "1", "?agent_id=a2," + canvas: "2", "?keywords=s1": "1", "?page_size=1": "3",
	} {
		require.Equal(
			t, want, s.Good(s.Get("/api/v1/memories/"+id+query)).Data().Get("messages").Get("total_count").Text(),
			query,
		)
	}

	require.Equal(t, "memory_ids is required.", s.Get("/api/v1/messages").Message())
	require.Equal(
		t, "page_size must be less than or equal to 100", s.Get("/api/v1/messages?memory_id=x&limit=1000").Message(),
	)
	require.Equal(t, 2, s.Good(s.Get("/api/v1/messages?limit=2&memory_id="+id)).Data().Len())
	require.Equal(t, 1, s.Good(s.Get("/api/v1/messages?agent_id=a2&memory_id="+id+",nope")).Data().Len())
	require.Equal(t, 0, s.Good(s.Request("GET", "/api/v1/messages?memory_id="+id, "two", "")).Data().Len())

	search := func(query string) engine.Value { return s.Good(s.Get("/api/v1/messages/search?" + query)).Data() }
	require.Equal(
		t, "User Input: I like green tea\nAgent Response: sure",
		search("query=green%20teas&memory_id="+id).At(0).Get("content").Str(),
	)
	require.Equal(t, 0, search("query=green&session_id=s2&memory_id="+id).Len())
	require.Equal(t, 0, search("query=green&memory_id=nope").Len())
	require.Equal(t, "memory_id, query can't be empty.", s.Get("/api/v1/messages/search").Message())

	one := "/api/v1/messages/" + id + ":1"
	require.Equal(
		t, "User Input: I like green tea\nAgent Response: sure",
		s.Good(s.Get(one+"/content")).Data().Get("content").Str(),
	)
	_, has := s.Good(s.Get(one + "/content")).Data().Lookup("content_embed")
	require.True(t, has)
	require.Equal(t, "Status must be a boolean.", s.Put(one, `{"status":"false"}`).Message())
	s.Good(s.Put(one, `{"status":false}`))
	require.Equal(t, 0, search("query=green&memory_id="+id).Len())
	s.Good(s.Put(one, `{"status":true}`))
	require.Equal(t, 1, search("query=green&memory_id="+id).Len())
	s.Good(s.Delete(one, `{}`))
	require.Equal(t, 0, search("query=green&memory_id="+id).Len())
	require.NotEqual(t, engine.Null, s.Good(s.Get(one+"/content")).Data().Get("forget_at"))

	for path, want := range map[string]string{
		id + ":99": "Message '99' in memory '" + id + "' not found.",
		id + ":x":  "Message 'x' in memory '" + id + "' not found.",
		"nope:1":   "Memory 'nope' not found.", "nope": "Memory 'nope' not found.",
	} {
		a := s.Get("/api/v1/messages/" + path + "/content")
		require.Equal(t, 404, a.Code())
		require.Equal(t, want, a.Message())
	}
	a = s.Delete("/api/v1/messages/"+id+":99", `{}`)
	require.Equal(t, 500, a.Code())
	require.Equal(t, "Failed to forget message '99' in memory '"+id+"'.", a.Message())
}

// TestCanvasRemembers lets one run say something and another one recall it.
func TestCanvasRemembers(t *testing.T) {
	s := apitest.New(t)
	id := newMemory(s, "m", `["raw"]`)
	saying := s.Canvas("says", sketch.Canvas("begin Begin -> Message:A",
		`Message:A Message {"content":["I noted: {sys.query}"],"memory_ids":["`+id+`"]}`))
	recalling := s.Canvas("recalls", sketch.Canvas("begin Begin -> Retrieval:R",
		`Retrieval:R Retrieval {"memory_ids":["`+id+`"],"retrieval_from":"memory","empty_response":"nothing"}
			-> Message:A`,
		`Message:A Message {"content":["{Retrieval:R@formalized_content}"]}`))
	ask := func(key, canvas, text string) string {
		a := s.Request("POST", "/api/v1/agents/"+canvas+"/completions", key, `{"question":"`+text+`","stream":false}`)
		return s.Good(a).Data().Get("data").Get("content").Str()
	}
	require.Equal(t, "nothing", ask("one", recalling, "Which tea does she like?"))
	require.Equal(t, "I noted: Ann likes green tea", ask("one", saying, "Ann likes green tea"))
	require.Equal(
		t, "User Input: Ann likes green tea\nAgent Response: I noted: Ann likes green tea",
		ask("one", recalling, "Which tea does she like?"),
	)
	row := s.Good(s.Get("/api/v1/messages?memory_id=" + id)).Data().At(0)
	require.Equal(t, saying, row.Get("agent_id").Str())

	thief := sketch.Canvas("begin Begin -> Retrieval:R",
		`Retrieval:R Retrieval {"memory_ids":["`+id+`"]} -> Message:A`,
		`Message:A Message {"content":["{Retrieval:R@formalized_content}"]}`)
	made := s.Good(s.Request("POST", "/v1/canvas/set", "two", `{"title":"thief","dsl":`+thief+`}`))
	foreign := made.Data().Get("id").Str()
	a := s.Request("POST", "/api/v1/agents/"+foreign+"/completions", "two", `{"question":"tea","stream":false}`)
	require.Contains(t, a.Text, "memory not found")
	require.NotContains(t, a.Text, "Ann")
}
