package model

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/testing/modeltest"
)

// vendor starts a server in the form of a vendor, and the models of a provider there.
func vendor(t *testing.T, form modeltest.Form, replies ...any) (*modeltest.Vendor, *Models) {
	t.Helper()
	return vendorBy(t, form, modeltest.Saying(replies...))
}

func vendorBy(t *testing.T, form modeltest.Form, next func(int, *modeltest.Request) any) (*modeltest.Vendor, *Models) {
	t.Helper()
	server := modeltest.NewVendor(form, next)
	t.Cleanup(server.Close)
	m, err := New(Config{Providers: []Provider{{
		Name: "Test", API: API(form.Name), BaseURL: server.BaseURL(), Key: "sk-secret", Models: []Entry{{Name: "m"}},
	}}})
	require.NoError(t, err)
	for _, p := range m.providers {
		p.timeout = 3 * time.Second
		p.sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	}
	return server, m
}

// eachDialect runs a test for each form of a vendor, streamed and whole.
func eachDialect(t *testing.T, test func(t *testing.T, form modeltest.Form, stream bool)) {
	for _, form := range modeltest.Forms() {
		for name, stream := range map[string]bool{"streamed": true, "whole": false} {
			t.Run(form.Name+"/"+name, func(t *testing.T) { test(t, form, stream) })
		}
	}
}

const thought = "Let me see, ähem."

func TestAnswersOfVendors(t *testing.T) {
	eachDialect(t, func(t *testing.T, form modeltest.Form, stream bool) {
		server, m := vendor(t, form, modeltest.Reply{Thought: thought, Text: helloText})
		req := hello(stream)
		req.System = "Be short."
		text, last, err := collect(m.Generate(t.Context(), req))
		require.NoError(t, err)
		require.Empty(t, server.Faults())
		require.Equal(t, "<think>"+thought+"</think>"+helloText, text)
		require.Equal(t, modeltest.FreshTokens+modeltest.CachedTokens+modeltest.WrittenTokens, last.Usage.Prompt)
		require.Equal(t, modeltest.TextTokens+modeltest.ThoughtTokens, last.Usage.Completion)
		cached := map[string][2]int{
			"anthropic": {modeltest.CachedTokens, modeltest.WrittenTokens},
			"gemini":    {modeltest.CachedTokens}, "responses": {modeltest.CachedTokens},
			"bedrock": {modeltest.CachedTokens, modeltest.WrittenTokens},
		}
		require.Equal(t, cached[form.Name], [2]int{last.Usage.Cached, last.Usage.Written})
		require.Empty(t, last.ToolCalls)
	})
}

func TestVendorsInNodes(t *testing.T) {
	for kind, n := range nodes {
		eachDialect(t, func(t *testing.T, form modeltest.Form, stream bool) {
			server, m := vendor(t, form, modeltest.Reply{Thought: thought, Text: n.text})
			r := runNode(t, m, kind, stream)
			require.NoError(t, r.err)
			require.Empty(t, server.Faults())
			require.Len(t, server.Requests(), 1)
			require.Equal(t, n.want, engine.WithoutReasoning(r.out))
			if stream {
				require.Equal(t, n.want, engine.WithoutReasoning(r.message))
			}
			if kind == "Structured" {
				sent := strings.ReplaceAll(server.Requests()[0].Raw, `\`, "") // Bedrock's schema is a string
				require.Contains(t, sent, `"days":{"type":"integer"}`)
			}
		})
	}
}

// parallel are two calls of one answer.
var parallel = []modeltest.Call{
	{Name: "echo_tool_0", Arguments: `{"query":"a"}`}, {Name: "echo_tool_1", Arguments: `{"query":"b"}`},
}

func TestCallsOfVendorsInAgents(t *testing.T) {
	eachDialect(t, func(t *testing.T, form modeltest.Form, stream bool) {
		server, m := vendor(t, form,
			modeltest.Reply{
				Thought: thought, Signature: "c2lnbmVk", Redacted: "aGlkZGVu", Text: "I shall look.",
				Calls: parallel,
			},
			modeltest.Reply{Signature: "YWdhaW4=", Calls: parallel[:1]},
			modeltest.Reply{Text: helloText})
		r := runNode(t, m, "Agent", stream)
		require.NoError(t, r.err)
		require.Empty(t, server.Faults())
		require.True(t, strings.HasSuffix(engine.WithoutReasoning(r.out), helloText), r.out)
		requests := server.Requests()
		require.Len(t, requests, 3)
		require.NotContains(t, requests[0].Raw, "c2lnbmVk")
		require.Equal(t, 1, strings.Count(requests[2].Raw, "c2lnbmVk"))
		require.Equal(t, 1, strings.Count(requests[2].Raw, "YWdhaW4="))
		for _, want := range []string{`{"query":"a"}`, `{"query":"b"}`} {
			require.Contains(t, strings.ReplaceAll(requests[1].Raw, `\`, ""), want)
		}
	})
}

func TestAddressesOfAzure(t *testing.T) {
	const resource = "https://x.openai.azure.com"
	const deployed = resource + "/openai/deployments/gpt%204/chat/completions?api-version="
	for base, want := range map[string]string{
		resource:                     deployed + azureVersion,
		resource + "/":               deployed + azureVersion,
		resource + "/openai":         deployed + azureVersion,
		resource + "/openai/":        deployed + azureVersion,
		resource + "?api-version=v9": deployed + "v9",
		resource + "/openai/deployments/other/chat/completions?api-version=v9": deployed + "v9",
		resource + "/openai/v1":                  resource + "/openai/v1/chat/completions",
		resource + "/openai/v1/":                 resource + "/openai/v1/chat/completions",
		resource + "/openai/v1/chat/completions": resource + "/openai/v1/chat/completions",
		"https://gateway/azure": "https://gateway/azure" +
			"/openai/deployments/gpt%204/chat/completions?api-version=" + azureVersion,
	} {
		require.Equal(t, want, azureDialect{}.address(base, chatPath, "gpt 4", true), base)
	}
}

func TestFailuresOfVendors(t *testing.T) {
	eachDialect(t, func(t *testing.T, form modeltest.Form, stream bool) {
		for name, c := range map[string]struct {
			reply     any
			want      string
			status    int
			retryable bool
		}{
			"refused": {
				modeltest.Reply{Text: "I", Finish: modeltest.Refused, Why: "weapons"},
				"weapons",
				0, false,
			},
			"status": {
				modeltest.Answer{Status: 404, Body: `{"error":{"message":"no such model: m"}}`},
				"no such model: m",
				404, false,
			},
			"busy": {modeltest.Answer{Status: 503, Body: "busy"}, "busy", 503, true},
			"key": {
				modeltest.Answer{Status: 401, Body: `{"error":{"message":"wrong key: sk-secret"}}`},
				"wrong key: ***",
				401, false,
			},
			"another form": {modeltest.Plain(stream), "is not in the form of api " + form.Name, 0, false},
			"page":         {modeltest.Answer{Body: "<html><title>Welcome</title></html>"}, "Welcome", 0, false},
			"cut":          {modeltest.Answer{Body: `{"type":`}, "broke off", 0, true},
			"empty":        {modeltest.Reply{}, "is empty", 0, false},
		} {
			switch {
			case name == "refused" && form.Name == "ollama":
				continue // it has no such reason
			case name == "refused" && form.Name == "bedrock":
				c.want = "content filter" // without words of the server
			}
			t.Run(name, func(t *testing.T) {
				_, m := vendor(t, form, c.reply)
				_, _, err := collect(m.Generate(t.Context(), hello(stream)))
				var e *Error
				require.ErrorAs(t, err, &e)
				require.ErrorContains(t, err, c.want)
				require.Equal(t, c.status, e.Status)
				require.Equal(t, c.retryable, e.Retryable())
			})
		}
	})
}

func TestCutAnswersOfVendors(t *testing.T) {
	eachDialect(t, func(t *testing.T, form modeltest.Form, stream bool) {
		_, m := vendor(t, form, modeltest.Reply{Text: helloText, Finish: modeltest.Length})
		text, _, err := collect(m.Generate(t.Context(), hello(stream)))
		require.NoError(t, err)
		require.Equal(t, helloText+"\n\n[The answer was cut at the limit of its length.]", text)
	})
}

// A conversation may begin with the model, have neighbours of one role, empty texts, results
// without calls and calls without results, and calls of other providers.
func TestOddConversationsWithVendors(t *testing.T) {
	user := func(text string) engine.ModelMessage { return engine.ModelMessage{Role: "user", Content: text} }
	model := func(text string, calls ...engine.ToolCall) engine.ModelMessage {
		return engine.ModelMessage{Role: "assistant", Content: text, ToolCalls: calls}
	}
	result := func(id, text string) engine.ModelMessage {
		return engine.ModelMessage{Role: "tool", ToolID: id, Content: text}
	}
	a := engine.ToolCall{ID: "functions.a:0", Name: "echo_tool_0", Arguments: `{"query":"q"}`}
	b := engine.ToolCall{ID: "call_1", Name: "echo_tool_1", Arguments: "not JSON"}
	for name, messages := range map[string][]engine.ModelMessage{
		"the model begins":    {model("Hi! "), user("Hello")},
		"neighbours":          {user("a"), user("b"), model("c"), model("d"), user("e"), user("f")},
		"empty texts":         {user(""), model(" "), user("x"), model(""), user(" \n")},
		"nothing":             {},
		"ends with the model": {user("a"), model("b ")},
		"no result":           {user("a"), model("", a, b), result("call_1", "r"), user("x")},
		"no results":          {user("a"), model("I look. ", a, b)},
		"no call":             {user("a"), result("x", "r"), model("b"), result("y", "s"), user("c")},
		"the same id twice":   {user("a"), model("", a, a), result(a.ID, "1"), result(a.ID, "2"), result(a.ID, "3")},
		"rounds": {
			user("a"), model("", a), result(a.ID, ""), model("", a), result(a.ID, "2"), model("fine"),
			user("b"),
		},
	} {
		eachDialect(t, func(t *testing.T, form modeltest.Form, stream bool) {
			for _, effort := range []string{"", "high"} {
				server, m := vendor(t, form, modeltest.Reply{Text: helloText})
				req := asking(engine.PurposeAnswer)
				req.Messages, req.Stream, req.Tools, req.Config.Thinking = messages, stream, offered, effort
				text, _, err := collect(m.Generate(t.Context(), req))
				require.NoError(t, err, name)
				require.Empty(t, server.Faults(), name)
				require.Equal(t, helloText, text)
			}
		})
	}
}

func TestImagesToVendors(t *testing.T) {
	eachDialect(t, func(t *testing.T, form modeltest.Form, stream bool) {
		server, m := vendor(t, form, modeltest.Reply{Text: helloText})
		req := hello(stream)
		req.Messages[0].Images = []string{"data:image/png;base64,aW1hZ2U="}
		req.Messages = append(req.Messages,
			engine.ModelMessage{
				Role: "assistant", ToolCalls: []engine.ToolCall{{ID: "c1", Name: "draw", Arguments: "{}"}},
			},
			engine.ModelMessage{Role: "tool", ToolID: "c1", Content: "drawn"},
			engine.ModelMessage{Role: "user", Content: "It:", Images: []string{"data:image/gif,GIF89a"}},
		)
		_, _, err := collect(m.Generate(t.Context(), req))
		require.NoError(t, err)
		require.Empty(t, server.Faults())
		sent := server.Requests()[0].Raw
		first, second := strings.Index(sent, "aW1hZ2U="), strings.Index(sent, "R0lGODlh")
		drawn := strings.Index(sent, "drawn")
		require.Positive(t, first)
		require.Greater(t, drawn, first, "each image is in the message that has it")
		require.Greater(t, second, drawn)
	})
}

// What one provider attached is not sent to another one, nor to the same one in another form.
func TestAttachedMembersStayWithTheirProvider(t *testing.T) {
	eachDialect(t, func(t *testing.T, form modeltest.Form, stream bool) {
		_, m := vendor(t, form, modeltest.Reply{Thought: thought, Signature: "c2lnbmVk", Calls: parallel})
		req := asking(engine.PurposeAnswer)
		req.Tools, req.Stream = offered, stream
		var asked engine.ModelMessage
		for piece, err := range m.Generate(t.Context(), req) {
			require.NoError(t, err)
			if piece.ToolCalls != nil {
				asked = engine.ModelMessage{Role: "assistant", ToolCalls: piece.ToolCalls, Opaque: piece.Opaque}
			}
		}
		require.False(t, asked.Opaque.IsNull())
		req.Messages = append(req.Messages, asked)
		for _, c := range asked.ToolCalls {
			req.Messages = append(req.Messages, engine.ModelMessage{Role: "tool", ToolID: c.ID, Content: "r"})
		}
		sends := func(change func(*Provider)) bool {
			server, m := vendor(t, form, modeltest.Reply{Text: helloText})
			change(&m.providers[0].config)
			_, _, err := collect(m.Generate(t.Context(), req))
			require.NoError(t, err)
			require.Empty(t, server.Faults())
			return strings.Contains(server.Requests()[0].Raw, "c2lnbmVk")
		}
		require.True(t, sends(func(*Provider) {}))
		require.False(t, sends(func(p *Provider) { p.Name = "Other" }))
		p := &provider{config: Provider{Name: "Test"}}
		own := openAIDialect{}.request(&call{provider: p, model: "m", request: req, learned: &Lesson{}})
		require.NotContains(t, own.JSON(), "c2lnbmVk")
	})
}

// A call without a name is not a call: with several tools offered, it may mean any of them.
func TestNamelessCallsOfVendors(t *testing.T) {
	eachDialect(t, func(t *testing.T, form modeltest.Form, stream bool) {
		reply := modeltest.Reply{Text: helloText, Calls: []modeltest.Call{{Arguments: `{"query":"a"}`}}}
		for n, want := range []string{"", "echo_tool_0", "without a name"} {
			_, m := vendor(t, form, reply)
			req := hello(stream)
			req.Tools = offered[:n]
			_, last, err := collect(m.Generate(t.Context(), req))
			if n == 2 {
				require.ErrorContains(t, err, want)
				continue
			}
			require.NoError(t, err)
			require.Len(t, last.ToolCalls, n)
			for _, c := range last.ToolCalls {
				require.Equal(t, want, c.Name)
			}
		}
	})
}

// A setting that the API of a vendor has no member for leaves one warning.
func TestSettingsWithoutPlace(t *testing.T) {
	half, most := 0.5, 100
	config := engine.ModelConfig{
		Temperature: &half, TopP: &half, PresencePenalty: &half, FrequencyPenalty: &half, MaxTokens: &most,
		Stop: []string{"|", " "},
	}
	for _, c := range []struct{ api, model, thinking, want string }{
		{"openai", "m", "", ""},
		{"openai", "gpt-5", "", "temperature, top_p, presence_penalty, frequency_penalty, stop"},
		{"azure", "m", "", ""},
		{"ollama", "m", "", ""},
		{"gemini", "m", "", ""},
		{"anthropic", "m", "", "presence_penalty, frequency_penalty"},
		{"anthropic", "m", "high", "temperature, top_p, presence_penalty, frequency_penalty"},
		{"responses", "m", "", "presence_penalty, frequency_penalty, stop"},
		{"bedrock", "m", "", "presence_penalty, frequency_penalty"},
		{"responses", "gpt-5", "", "temperature, top_p, presence_penalty, frequency_penalty, stop"},
	} {
		if API(c.api).relays() {
			p, _ := judging(t, func(engine.Value) string { return "" })
			p.config.API = API(c.api)
			requireWarnings(t, p, c.model, c.thinking, &config, c.want)
			continue
		}
		_, m := vendor(t, modeltest.FormOf(c.api), modeltest.Reply{Text: "fine"})
		requireWarnings(t, m.providers[0], c.model, c.thinking, &config, c.want)
	}
}

// requireWarnings requires one warning, in the first of two calls.
func requireWarnings(t *testing.T, p *provider, model, thinking string, config *engine.ModelConfig, want string) {
	t.Helper()
	var warnings []string
	for range 2 {
		req := hello(true)
		req.Config = *config
		req.Config.Thinking = thinking
		req.Warned = func(text string) { warnings = append(warnings, text) }
		_, _, err := collect(p.generate(t.Context(), model, req))
		require.NoError(t, err)
	}
	if want == "" {
		require.Empty(t, warnings)
		return
	}
	require.Len(t, warnings, 1, warnings)
	require.Contains(t, warnings[0], model+" of "+p.config.Label()+": "+want+" ")
}

// The name of a model, which a canvas may choose, does not lead to another address of the server.
func TestNamesOfModelsAreNoPaths(t *testing.T) {
	for _, form := range modeltest.Forms() {
		for _, name := range []string{"..", ".", "../../admin", "a/../../b", "..%2f..%2fadmin"} {
			server, m := vendor(t, form, modeltest.Reply{Text: helloText})
			_, _, _ = collect(m.providers[0].generate(t.Context(), name, hello(true)))
			for _, r := range server.Requests() {
				parts := strings.Split(r.Path, "/")
				require.NotContains(t, parts, "..", "%s: %s", form.Name, name)
				require.NotContains(t, parts, ".", "%s: %s", form.Name, name)
			}
		}
	}
	for name, want := range map[string]string{
		"a?b=c#d":   "https://h/v1/models/a%3Fb=c%23d:generateContent",
		"tuned/a b": "https://h/v1/tuned/a%20b:generateContent",
	} {
		require.Equal(t, want, geminiDialect{}.address("https://h/v1", chatPath, name, false))
	}
}
