package openai_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// agentChats are the addresses at which agents answer in OpenAI's form.
func agentChats(canvas string) map[string]string {
	return map[string]string{
		"/api/v1/agents_openai/" + canvas + "/chat/completions":      "",
		"/0.27/api/v1/agents_openai/" + canvas + "/chat/completions": "",
		"/0.27/api/v1/agents/chat/completions":                       `"agent_id":"` + canvas + `","openai-compatible":true,`,
	}
}

// chunksOf are the chunks of a stream, which ends with [DONE].
func chunksOf(t testing.TB, a apitest.Answer) []engine.Value {
	t.Helper()
	require.Equal(t, 200, a.Status, a.Text)
	list, done := a.Events()
	require.True(t, done, a.Text)
	require.NotEmpty(t, list)
	return list
}

func choiceOf(chunk engine.Value) engine.Value { return chunk.Get("choices").At(0) }

// Clients such as Open WebUI send the whole conversation with each question.
func TestOpenAIMessagesAreTheConversation(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", sketch.Canvas(`begin Begin -> Message:A`,
		`Message:A Message {"content":["{sys.query}, {sys.conversation_turns}, {sys.history}"]}`))
	for path, more := range agentChats(id) {
		ask := func(messages, more string) string {
			a := s.Post(path, `{`+more+`"model":"m","stream":false,"messages":[`+messages+`]}`)
			require.Equal(t, 200, a.Status, a.Text)
			return choiceOf(a.Body).Get("message").Get("content").Str()
		}
		const conversation = `{"role":"system","content":"be rude"},{"role":"user","content":"one"},
			{"role":"assistant","content":"first"},{"role":"tool","content":"x"},
			{"role":"user","content":[{"type":"text","text":"two"}]},{"role":"assistant","content":"second"},
			{"role":"user","content":"three"}`
		require.Equal(t, `three, 3, ["user: one", "assistant: first", "user: two", "assistant: second", "user: three"]`,
			strings.ReplaceAll(ask(conversation, more), "'", `"`), path)
		const calls = `{"role":"user","content":"one"},{"role":"assistant","content":null,"tool_calls":[{}]},
			{"role":"tool","content":"x"},{"role":"assistant","content":[{"type":"image_url"}]},
			{"role":"assistant","content":""},
			{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:"}}]},{"role":5,"content":"x"},"x",
			{"role":"assistant","content":"first"},{"role":"developer","content":"be rude"},
			{"role":"user","content":"two"}`
		require.Equal(t, `two, 3, ["user: one", "user: ", "assistant: first", "user: two"]`,
			strings.ReplaceAll(ask(calls, more), "'", `"`), path)
		const prefilled = `{"role":"user","content":"one"},{"role":"assistant","content":"prefill"}`
		require.Contains(t, ask(prefilled, more), "one, 1,")

		opened := s.Good(s.Post("/api/v1/agents/"+id+"/sessions", `{}`)).Data().Get("id").Str()
		answer := ask(conversation, more+`"session_id":"`+opened+`",`)
		require.Contains(t, answer, "three, 1,", "a session has its own history")
		require.NotContains(t, answer, "first")
	}
}

// The system messages of a client follow the system prompt of the canvas if its settings allow it.
func TestOpenAISystemMessages(t *testing.T) {
	s := apitest.New(t)
	systems := make(chan string, 1)
	vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		v, _ := engine.ParseJSON(body)
		if m := v.Get("messages").At(0); m.Get("role").Str() == "system" {
			systems <- m.Get("content").Text()
		} else {
			systems <- ""
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"ok"}}]}`+"\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(vendor.Close)
	s.As("one", "PUT", "/api/v2/providers/V", `{"base_url":"`+vendor.URL+`/v1","key":"k","models":[{"name":"m"}]}`, 200)
	const messages = `{"role":"system","content":"be brief"},{"role":"user","content":"hi"},
		{"role":"developer","content":[{"type":"text","text":"be kind"}]}`
	for setting, want := range map[string]string{"false": "be easel", "true": "be easel\n\nbe brief\n\nbe kind"} {
		id := s.Canvas(setting, sketch.Canvas("begin Begin -> L", `L LLM {"llm_id":"m@V","sys_prompt":"be easel"} -> M`,
			`M Message {"content":["{L@content}"]}`, `@settings {"caller_instructions": `+setting+`}`))
		for path, more := range agentChats(id) {
			a := s.Post(path, `{`+more+`"model":"m","stream":false,"messages":[`+messages+`]}`)
			require.Equal(t, 200, a.Status, a.Text)
			require.Equal(t, want, <-systems, path)
		}
	}
}

func TestOpenAIChunks(t *testing.T) {
	s := apitest.New(t)
	for path, more := range agentChats(s.Canvas("a", apitest.Echo)) {
		body := `{` + more + `"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]`
		list := chunksOf(t, s.Post(path, body+`}`))
		for i, chunk := range list {
			apitest.RequireKeys(t, chunk, "id object created model system_fingerprint choices")
			created, _ := chunk.Get("created").Int()
			require.Positive(t, created, path)
			require.Equal(t, list[0].Get("created").Text(), chunk.Get("created").Text())
			require.Equal(t, "assistant", choiceOf(chunk).Get("delta").Get("role").Str())
			require.True(t, chunk.Get("usage").IsNull(), "it was not requested")
			want := "null"
			if i == len(list)-1 {
				want = `"stop"`
			}
			require.Equal(t, want, choiceOf(chunk).Get("finish_reason").JSON(), path)
		}
		list = chunksOf(t, s.Post(path, body+`,"stream_options":{"include_usage":true}}`))
		last := list[len(list)-1]
		require.Equal(t, "[]", last.Get("choices").JSON(), path)
		require.Equal(t, "1 3 4", fmt.Sprint(last.Get("usage").Get("prompt_tokens").Text(), " ",
			last.Get("usage").Get("completion_tokens").Text(), " ", last.Get("usage").Get("total_tokens").Text()))
		for _, chunk := range list[:len(list)-1] {
			_, there := chunk.Lookup("usage")
			require.True(t, there)
			require.True(t, chunk.Get("usage").IsNull())
		}
		require.Equal(t, `"stop"`, choiceOf(list[len(list)-2]).Get("finish_reason").JSON())
	}
}

func TestOpenAIErrors(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", apitest.Echo)
	good := `"model":"m","messages":[{"role":"user","content":"hi"}]`
	for path, more := range agentChats(id) {
		elsewhere := strings.ReplaceAll(path, id, apitest.Nowhere)
		unknown := strings.ReplaceAll(more, id, apitest.Nowhere)
		unknownStatus, unknownCode := 404, "not_found"
		if more != "" {
			unknownStatus, unknownCode = 403, "forbidden"
		}
		for _, c := range []struct {
			name, path, key, body string
			status                int
			kind, code, param     string
		}{
			{"missing messages", path, "one", more + `"model":"m","messages":[]`, 400, "invalid_request_error", "bad_argument", "messages"},
			{"messages that are not a list", path, "one", more + `"model":"m","messages":"hi"`, 400, "invalid_request_error", "bad_argument", "messages"},
			{"options that are not an object", path, "one", more + good + `,"stream_options":[]`, 400, "invalid_request_error", "bad_argument", "stream_options"},
			{"an unknown session", path, "one", more + good + `,"session_id":"` + apitest.Nowhere + `"`, 404, "invalid_request_error", "not_found", ""},
			{"an unknown agent", elsewhere, "one", unknown + good, unknownStatus, map[int]string{403: "permission_error", 404: "invalid_request_error"}[unknownStatus], unknownCode, ""},
		} {
			for _, stream := range []string{"false", "true"} {
				a := s.Request("POST", c.path, c.key, `{`+c.body+`,"stream":`+stream+`}`)
				require.Equal(t, c.status, a.Status, "%s: %s: %s", path, c.name, a.Text)
				problem := a.Body.Get("error")
				require.Equal(t, a.Message(), problem.Get("message").Str(), "the dialect's members say the same")
				require.NotEmpty(t, a.Message())
				require.NotZero(t, a.Code())
				require.Equal(t, c.kind, problem.Get("type").Str(), c.name)
				require.Equal(t, c.code, problem.Get("code").Str(), c.name)
				require.Equal(t, c.param, problem.Get("param").Text(), c.name)
			}
		}
	}
	a := s.Request("POST", "/api/v1/agents_openai/"+id+"/chat/completions", "wrong", `{`+good+`}`)
	require.Equal(t, 401, a.Status)
	require.Equal(t, "authentication_error", a.Body.Get("error").Get("type").Str())
	a = s.Post("/api/v1/agents_openai/"+id+"/chat/completions", `{"messages":[]}`)
	require.Equal(t, 400, a.Status)
	require.Equal(t, "model", a.Body.Get("error").Get("param").Str())
	a = s.Post("/0.27/api/v1/agents/chat/completions", `{"agent_id":"`+apitest.Nowhere+`"}`)
	require.Equal(t, 200, a.Status, "the dialect's own form has no statuses")
}

// A run that fails is an error to every client, and none that would make a client repeat it.
func TestOpenAIRunFails(t *testing.T) {
	s := apitest.New(t)
	for path, more := range agentChats(s.Canvas("a", apitest.Broken)) {
		body := `{` + more + `"model":"m","messages":[{"role":"user","content":"hi"}],"stream":`
		a := s.Post(path, body+`false}`)
		require.Equal(t, 400, a.Status, a.Text)
		require.Equal(t, "api_error", a.Body.Get("error").Get("type").Str())
		require.Equal(t, "run_failed", a.Body.Get("error").Get("code").Str())
		require.NotEmpty(t, a.Body.Get("error").Get("message").Str())
		list := chunksOf(t, s.Post(path, body+`true}`))
		told, problem := list[len(list)-2], list[len(list)-1]
		require.Contains(t, choiceOf(told).Get("delta").Get("content").Str(), "**ERROR**: ")
		require.Equal(t, "stop", choiceOf(told).Get("finish_reason").Str())
		require.JSONEq(t, a.Body.Get("error").JSON(), problem.Get("error").JSON())
	}
}

func TestOpenAIForms(t *testing.T) {
	s := apitest.New(t)
	talking := sketch.Chain("begin Begin", `Message:Before Message {"content":["Hello."]}`,
		`UserFillUp:F UserFillUp {"enable_tips":true,"tips":"Your city?",
			"inputs":{"city":{"name":"City","type":"line","optional":false}}}`,
		`Message:A Message {"content":["City {UserFillUp:F@city}"]}`)
	silent := strings.Replace(apitest.Formed, `"enable_tips":true`, `"enable_tips":false`, 1)
	for title, c := range map[string]struct{ dsl, want string }{
		"tips":         {apitest.Formed, "Your city?"},
		"after a text": {talking, "Hello.\nYour city?"},
		"no tips":      {silent, "City"},
	} {
		id := s.Canvas(title, c.dsl)
		for path, more := range agentChats(id) {
			body := `{` + more + `"model":"m","messages":[{"role":"user","content":"hi"}]`
			whole := s.Post(path, body+`}`)
			require.Equal(t, c.want, choiceOf(whole.Body).Get("message").Get("content").Str(), "%s: %s", title, whole.Text)
			text := ""
			for _, chunk := range chunksOf(t, s.Post(path, body+`,"stream":true}`)) {
				text += choiceOf(chunk).Get("delta").Get("content").Str()
			}
			require.Equal(t, c.want, text, title)
			next := s.Post(path, `{`+more+`"model":"m","messages":[{"role":"user","content":"Oslo"}],"session_id":"`+
				whole.Body.Get("id").Str()+`","inputs":{"city":{"value":"Oslo"}}}`)
			require.Equal(t, "City Oslo", choiceOf(next.Body).Get("message").Get("content").Str(), next.Text)
		}
	}
}

func TestOpenAIContentParts(t *testing.T) {
	s := apitest.New(t)
	for path, more := range agentChats(s.Canvas("a", apitest.Echo)) {
		a := s.Post(path, `{`+more+`"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"one"},`+
			`{"type":"image_url","image_url":{"url":"data:,"}},{"type":"text","text":"two"}]}]}`)
		require.Equal(t, "You said one\ntwo", choiceOf(a.Body).Get("message").Get("content").Str(), a.Text)
	}
}

// The offline model answers in the same form.
func TestOpenAIChunksOfTheOfflineModel(t *testing.T) {
	s := apitest.New(t)
	list := chunksOf(t, s.Post("/api/llm/chat/completions",
		`{"stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}]}`))
	last := list[len(list)-1]
	total, _ := last.Get("usage").Get("total_tokens").Int()
	require.Positive(t, total)
	require.Equal(t, "stop", choiceOf(list[len(list)-2]).Get("finish_reason").Str())
}
