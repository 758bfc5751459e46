package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
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
func chunksOf(t testing.TB, a answer) []engine.Value {
	t.Helper()
	require.Equal(t, 200, a.status, a.text)
	list, done := a.events()
	require.True(t, done, a.text)
	require.NotEmpty(t, list)
	return list
}

func choiceOf(chunk engine.Value) engine.Value { return chunk.Get("choices").At(0) }

func TestOpenAIChunks(t *testing.T) {
	s := newSite(t)
	for path, more := range agentChats(s.canvas("a", echo)) {
		body := `{` + more + `"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]`
		list := chunksOf(t, s.post(path, body+`}`))
		for i, chunk := range list {
			requireKeys(t, chunk, "id object created model system_fingerprint choices")
			created, _ := chunk.Get("created").Int()
			require.Positive(t, created, path)
			require.Equal(t, list[0].Get("created").Text(), chunk.Get("created").Text())
			require.Equal(t, "assistant", choiceOf(chunk).Get("delta").Get("role").Str())
			require.True(t, chunk.Get("usage").IsNull(), "nobody asked for it")
			want := "null"
			if i == len(list)-1 {
				want = `"stop"`
			}
			require.Equal(t, want, choiceOf(chunk).Get("finish_reason").JSON(), path)
		}
		list = chunksOf(t, s.post(path, body+`,"stream_options":{"include_usage":true}}`))
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
	s := newSite(t)
	id := s.canvas("a", echo)
	good := `"model":"m","messages":[{"role":"user","content":"hi"}]`
	for path, more := range agentChats(id) {
		elsewhere := strings.ReplaceAll(path, id, nowhere)
		unknown := strings.ReplaceAll(more, id, nowhere)
		unknownStatus, unknownCode := 404, "not_found"
		if more != "" {
			unknownStatus, unknownCode = 403, "forbidden"
		}
		for _, c := range []struct {
			name, path, key, body string
			status                int
			kind, code, param     string
		}{
			{"no messages", path, "one", more + `"model":"m","messages":[]`, 400, "invalid_request_error", "bad_argument", "messages"},
			{"messages that are no list", path, "one", more + `"model":"m","messages":"hi"`, 400, "invalid_request_error", "bad_argument", "messages"},
			{"options that are no object", path, "one", more + good + `,"stream_options":[]`, 400, "invalid_request_error", "bad_argument", "stream_options"},
			{"an unknown session", path, "one", more + good + `,"session_id":"` + nowhere + `"`, 404, "invalid_request_error", "not_found", ""},
			{"an unknown agent", elsewhere, "one", unknown + good, unknownStatus, map[int]string{403: "permission_error", 404: "invalid_request_error"}[unknownStatus], unknownCode, ""},
		} {
			for _, stream := range []string{"false", "true"} {
				a := s.request("POST", c.path, c.key, `{`+c.body+`,"stream":`+stream+`}`)
				require.Equal(t, c.status, a.status, "%s: %s: %s", path, c.name, a.text)
				problem := a.body.Get("error")
				require.Equal(t, a.message(), problem.Get("message").Str(), "the dialect's members say the same")
				require.NotEmpty(t, a.message())
				require.NotZero(t, a.code())
				require.Equal(t, c.kind, problem.Get("type").Str(), c.name)
				require.Equal(t, c.code, problem.Get("code").Str(), c.name)
				require.Equal(t, c.param, problem.Get("param").Text(), c.name)
			}
		}
	}
	a := s.request("POST", "/api/v1/agents_openai/"+id+"/chat/completions", "wrong", `{`+good+`}`)
	require.Equal(t, 401, a.status)
	require.Equal(t, "authentication_error", a.body.Get("error").Get("type").Str())
	a = s.post("/api/v1/agents_openai/"+id+"/chat/completions", `{"messages":[]}`)
	require.Equal(t, 400, a.status)
	require.Equal(t, "model", a.body.Get("error").Get("param").Str())
	a = s.post("/0.27/api/v1/agents/chat/completions", `{"agent_id":"`+nowhere+`"}`)
	require.Equal(t, 200, a.status, "the dialect's own form has no statuses")
}

// A run that fails is an error to every client, and none that would make a client repeat it.
func TestOpenAIRunFails(t *testing.T) {
	s := newSite(t)
	for path, more := range agentChats(s.canvas("a", broken)) {
		body := `{` + more + `"model":"m","messages":[{"role":"user","content":"hi"}],"stream":`
		a := s.post(path, body+`false}`)
		require.Equal(t, 400, a.status, a.text)
		require.Equal(t, "api_error", a.body.Get("error").Get("type").Str())
		require.Equal(t, "run_failed", a.body.Get("error").Get("code").Str())
		require.NotEmpty(t, a.body.Get("error").Get("message").Str())
		list := chunksOf(t, s.post(path, body+`true}`))
		told, problem := list[len(list)-2], list[len(list)-1]
		require.Contains(t, choiceOf(told).Get("delta").Get("content").Str(), "**ERROR**: ")
		require.Equal(t, "stop", choiceOf(told).Get("finish_reason").Str())
		require.JSONEq(t, a.body.Get("error").JSON(), problem.Get("error").JSON())
	}
}

// The code says what failed, and whatever it says, the request was right.
func TestOpenAIRunFailsByALimit(t *testing.T) {
	for code, want := range map[string]struct {
		status     int
		kind, code string
	}{
		"":              {400, "api_error", "run_failed"},
		"text_too_long": {400, "api_error", "text_too_long"},
		"quota_used_up": {429, "insufficient_quota", "insufficient_quota"},
	} {
		s := runStatus(runs.End{Status: store.RunFailed, Code: code, Error: "why"})
		problem := openAIError(s.code, s.message, "").Get("error")
		require.Equal(t, want.status, s.http, code)
		require.Equal(t, want.kind, problem.Get("type").Str(), code)
		require.Equal(t, want.code, problem.Get("code").Str(), code)
	}
}

func TestOpenAIForms(t *testing.T) {
	s := newSite(t)
	talking := strings.Replace(formed, `"downstream":["UserFillUp:F"]`, `"downstream":["Message:Before"]`, 1)
	talking = strings.Replace(talking, `"components":{`, `"components":{"Message:Before":{"obj":{"component_name":"Message","params":{"content":["Hello."]}},"downstream":["UserFillUp:F"],"upstream":["begin"]},`, 1)
	silent := strings.Replace(formed, `"enable_tips":true`, `"enable_tips":false`, 1)
	for title, c := range map[string]struct{ dsl, want string }{
		"tips":         {formed, "Your city?"},
		"after a text": {talking, "Hello.\nYour city?"},
		"no tips":      {silent, "City"},
	} {
		id := s.canvas(title, c.dsl)
		for path, more := range agentChats(id) {
			body := `{` + more + `"model":"m","messages":[{"role":"user","content":"hi"}]`
			whole := s.post(path, body+`}`)
			require.Equal(t, c.want, choiceOf(whole.body).Get("message").Get("content").Str(), "%s: %s", title, whole.text)
			text := ""
			for _, chunk := range chunksOf(t, s.post(path, body+`,"stream":true}`)) {
				text += choiceOf(chunk).Get("delta").Get("content").Str()
			}
			require.Equal(t, c.want, text, title)
			next := s.post(path, `{`+more+`"model":"m","messages":[{"role":"user","content":"Oslo"}],"session_id":"`+
				whole.body.Get("id").Str()+`","inputs":{"city":{"value":"Oslo"}}}`)
			require.Equal(t, "City Oslo", choiceOf(next.body).Get("message").Get("content").Str(), next.text)
		}
	}
}

func TestOpenAIContentParts(t *testing.T) {
	s := newSite(t)
	for path, more := range agentChats(s.canvas("a", echo)) {
		a := s.post(path, `{`+more+`"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"one"},`+
			`{"type":"image_url","image_url":{"url":"data:,"}},{"type":"text","text":"two"}]}]}`)
		require.Equal(t, "You said one\ntwo", choiceOf(a.body).Get("message").Get("content").Str(), a.text)
	}
}

// The offline model answers in the same form.
func TestOpenAIChunksOfTheOfflineModel(t *testing.T) {
	s := newSite(t)
	list := chunksOf(t, s.post("/api/llm/chat/completions",
		`{"stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}]}`))
	last := list[len(list)-1]
	total, _ := last.Get("usage").Get("total_tokens").Int()
	require.Positive(t, total)
	require.Equal(t, "stop", choiceOf(list[len(list)-2]).Get("finish_reason").Str())
}
