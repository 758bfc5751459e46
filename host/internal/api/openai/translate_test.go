package openai_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/model"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
	"github.com/easel-canvas/easel/host/internal/testing/modeltest"
)

const tools = `"tools":[{"type":"function","function":{"name":"look","description":"looks","parameters":` +
	`{"type":"object","properties":{"q":{"type":"string"}}}}}],"tool_choice":"auto"`

// A chat completion reaches models whose servers have another API, with calls, signatures of
// reasoning, images and a schema.
func TestCompletionsOfVendors(t *testing.T) {
	for _, form := range modeltest.Forms() {
		t.Run(form.Name, func(t *testing.T) {
			server := modeltest.NewVendor(form, modeltest.Saying(
				modeltest.Reply{
					Thought: "Hm.", Signature: "c2lnbmVk",
					Calls: []modeltest.Call{{Name: "look", Arguments: `{"q":"tea"}`}},
				},
				modeltest.Reply{Text: "It is tea."},
			))
			t.Cleanup(server.Close)
			host, err := model.New(model.Config{Providers: []model.Provider{{
				Name: "V", API: model.API(form.Name), BaseURL: server.BaseURL(), Key: "sk-secret",
			}}})
			require.NoError(t, err)
			s := apitest.New(t, func(c *apitest.Config) { c.Models.Host = host })
			start := `{"role":"system","content":"Be short."},` +
				`{"role":"user","content":[{"type":"text","text":"What is it?"},` +
				`{"type":"image_url","image_url":{"url":"data:image/png;base64,aW1hZ2U="}}]}`
			ask := func(more string) []engine.Value {
				const head = `{"model":"m@V","stream":true,"stream_options":{"include_usage":true},`
				a := s.Post(apitest.Completions, head+tools+`,"messages":[`+start+more+`]}`)
				require.Equal(t, 200, a.Status, a.Text)
				require.Empty(t, server.Faults())
				list, done := a.Events()
				require.True(t, done, a.Text)
				return list
			}
			message, finish, used := engine.Object("role", "assistant", "content", engine.Null), "", engine.Null
			for _, e := range ask("") {
				delta := e.Get("choices").At(0).Get("delta")
				for _, name := range []string{"tool_calls", model.OpaqueMember} {
					if v, ok := delta.Lookup(name); ok {
						message = message.With(name, v)
					}
				}
				finish += e.Get("choices").At(0).Get("finish_reason").Str()
				used = e.Get("usage")
			}
			require.Equal(t, "tool_calls", finish)
			require.Equal(t, `{"q":"tea"}`, message.Get("tool_calls").At(0).Get("function").Get("arguments").Str())
			all := modeltest.FreshTokens + modeltest.CachedTokens + modeltest.WrittenTokens
			require.Equal(t, all, intOf(used.Get("prompt_tokens")))
			id := message.Get("tool_calls").At(0).Get("id").JSON()
			text := ""
			result := `{"role":"tool","tool_call_id":` + id + `,"content":"tea"}`
			for _, e := range ask(`,` + message.JSON() + `,` + result) {
				text += e.Get("choices").At(0).Get("delta").Get("content").Str()
			}
			require.Equal(t, "It is tea.", text)
			sent := server.Requests()
			require.Contains(t, sent[0].Raw, "aW1hZ2U=")
			require.Contains(t, sent[0].Raw, "Be short.")
			require.Contains(t, sent[1].Raw, "c2lnbmVk")
			require.Contains(t, sent[1].Raw, "tea")
		})
	}
}

func intOf(v engine.Value) int {
	n, _ := v.Int()
	return int(n)
}

func TestCompletionsThatVendorsHaveNoPlaceFor(t *testing.T) {
	server := modeltest.NewVendor(modeltest.FormOf("anthropic"), modeltest.Saying(modeltest.Reply{Text: "Hi."}))
	t.Cleanup(server.Close)
	host, err := model.New(model.Config{Providers: []model.Provider{{
		Name: "V", API: model.Anthropic, BaseURL: server.BaseURL(), Key: "sk-secret",
	}}})
	require.NoError(t, err)
	s := apitest.New(t, func(c *apitest.Config) { c.Models.Host = host })
	const schema = `{"type":"object","properties":{"a":{"type":"string"}}}`
	for more, status := range map[string]int{
		`"temperature":0.5,"top_p":null,"stop":"x","n":1,"user":null`:                      200,
		`"logprobs":false,"parallel_tool_calls":true,"store":false`:                        200,
		`"max_completion_tokens":9,"stop":["a","b"],"response_format":{"type":"text"}`:     200,
		`"response_format":{"type":"json_schema","json_schema":{"schema":` + schema + `}}`: 200,
		`"seed":7`:            400,
		`"n":2`:               400,
		`"temperature":"hot"`: 400,
		`"response_format":{"type":"json_object"}`: 400,
		`"tool_choice":"required"`:                 400,
		`"tools":[{"type":"web_search"}]`:          400,
		`"tools":"x"`:                              400,
	} {
		a := s.Post(apitest.Completions, `{"model":"m@V","messages":[{"role":"user","content":"x"}],`+more+`}`)
		require.Equal(t, status, a.Status, more+a.Text)
		if status == 400 {
			require.Equal(t, "model_not_relayed", a.Body.Get("error").Get("code").Str())
			require.Contains(t, a.Body.Get("error").Get("message").Str(), strings.SplitN(more, `"`, 3)[1])
		} else {
			require.Equal(t, "Hi.", a.Body.Get("choices").At(0).Get("message").Get("content").Str())
		}
	}
	for _, messages := range []string{
		`[{"role":"poet","content":"x"}]`, `[{"role":"user","content":[{"type":"input_audio"}]}]`, `["x"]`,
		`[{"role":"assistant","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,eA=="}}]},` +
			`{"role":"user","content":"x"}]`,
	} {
		a := s.Post(apitest.Completions, `{"model":"m@V","messages":`+messages+`}`)
		require.Equal(t, 422, a.Status, messages+a.Text)
		require.Contains(t, a.Text, "messages[")
	}
	require.Empty(t, server.Faults())
}

// What a model call has no place for reaches a provider with chat completions as it was sent, also
// from a page.
func TestCompletionsThatAreRelayed(t *testing.T) {
	server := apitest.Vendor(t)
	host, err := model.New(model.Config{Providers: []model.Provider{{
		Name: "V", BaseURL: server.URL + "/v1", Key: "sk-vendor",
	}}})
	require.NoError(t, err)
	s := apitest.New(t, func(c *apitest.Config) { c.Models.Host = host })
	for _, body := range []string{
		`{"model":"m@V","messages":[{"role":"user","content":[{"type":"input_audio","input_audio":{}}]}]}`,
		`{"model":"m@V","messages":[{"role":"function","name":"f","content":"x"}]}`,
		`{"model":"m@V","seed":7,"messages":[{"role":"user","content":"x"}]}`,
		`{"model":"m@V","messages":[{"role":"user","content":"x"}]}`,
	} {
		for _, mark := range []string{"", api.PageRun} {
			a := s.Request("POST", apitest.Completions, "one", body, api.PageHeader, mark)
			require.Equal(t, 200, a.Status, body+a.Text)
			require.Contains(t, a.Text, "Hello from m")
		}
	}
}

// A failure of the server before the first piece has its status, one after it is an event.
func TestCompletionsOfVendorsThatFail(t *testing.T) {
	refusal := modeltest.Answer{Status: 403, Body: `{"error":{"message":"not allowed, sk-secret"}}`}
	server := modeltest.NewVendor(modeltest.FormOf("gemini"), modeltest.Saying(refusal))
	t.Cleanup(server.Close)
	host, err := model.New(model.Config{Providers: []model.Provider{{
		Name: "V", API: model.Gemini, BaseURL: server.BaseURL(), Key: "sk-secret", Retries: new(int),
	}}})
	require.NoError(t, err)
	s := apitest.New(t, func(c *apitest.Config) { c.Models.Host = host })
	for _, stream := range []string{"true", "false"} {
		a := s.Post(apitest.Completions,
			`{"model":"m@V","stream":`+stream+`,"messages":[{"role":"user","content":"x"}]}`)
		require.Equal(t, 403, a.Status, a.Text)
		require.Contains(t, a.Text, "not allowed")
		require.NotContains(t, a.Text, "sk-secret")
	}
}

func TestCutCompletionsOfVendors(t *testing.T) {
	for _, form := range modeltest.Forms() {
		server := modeltest.NewVendor(form, modeltest.Saying(modeltest.Reply{Text: "cut", Finish: modeltest.Length}))
		t.Cleanup(server.Close)
		host, err := model.New(model.Config{Providers: []model.Provider{{
			Name: "V", API: model.API(form.Name), BaseURL: server.BaseURL(), Key: "sk-secret",
		}}})
		require.NoError(t, err)
		s := apitest.New(t, func(c *apitest.Config) { c.Models.Host = host })
		const body = `"model":"m@V","max_tokens":3,"messages":[{"role":"user","content":"x"}]}`
		choice := s.Post(apitest.Completions, `{`+body).Body.Get("choices").At(0)
		require.Equal(t, "length", choice.Get("finish_reason").Str(), form.Name)
		require.Equal(t, "cut", choice.Get("message").Get("content").Str(), form.Name)
		list, _ := s.Post(apitest.Completions, `{"stream":true,`+body).Events()
		text, reason := "", ""
		for _, e := range list {
			choice := e.Get("choices").At(0)
			text += choice.Get("delta").Get("content").Str()
			reason += choice.Get("finish_reason").Str()
		}
		require.Equal(t, "cut length", text+" "+reason, form.Name)
	}
}

// The memory of a request stays reserved while the model call that was read from it lasts.
func TestCompletionsHoldTheirMemory(t *testing.T) {
	var s *apitest.Site
	var held int64
	server := modeltest.NewVendor(modeltest.FormOf("anthropic"), func(int, *modeltest.Request) any {
		held = s.Memory.Used() + s.SmallMemory.Used()
		return modeltest.Reply{Text: "Hi."}
	})
	t.Cleanup(server.Close)
	host, err := model.New(model.Config{Providers: []model.Provider{{
		Name: "V", API: model.Anthropic, BaseURL: server.BaseURL(), Key: "sk-secret",
	}}})
	require.NoError(t, err)
	s = apitest.New(t, func(c *apitest.Config) { c.Models.Host = host })
	text := strings.Repeat("tea ", 1<<20)
	a := s.Post(apitest.Completions, `{"model":"m@V","messages":[{"role":"user","content":"`+text+`"}]}`)
	require.Equal(t, 200, a.Status, a.Text)
	require.Greater(t, held, int64(len(text)))
	require.Zero(t, s.Memory.Used()+s.SmallMemory.Used())
}
