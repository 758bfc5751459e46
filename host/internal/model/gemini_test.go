package model

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/testing/modeltest"
)

func TestAddressesOfGemini(t *testing.T) {
	const want = "https://h/v1beta/models/m:generateContent"
	for base, want := range map[string]string{
		"https://h": want, "https://h/": want, "https://h/v1beta": want, "https://h/v1beta/": want,
		"https://h/v1beta/models": want, "https://h/v1beta/openai": want, "https://h/v1beta/openai/": want,
		"https://h/v1/projects/p/locations/l/publishers/google": "https://h/v1/projects/p/locations/l/publishers/" +
			"google/models/m:generateContent",
	} {
		require.Equal(t, want, geminiDialect{}.address(base, chatPath, "m", false), base)
	}
	require.Equal(t, "https://h/v1beta/models/m:streamGenerateContent?alt=sse",
		geminiDialect{}.address("https://h", chatPath, "models/m", true))
}

func TestThinkingOfGemini(t *testing.T) {
	for _, c := range []struct{ model, effort, want string }{
		{"gemini-2.5-flash", "high", `{"thinkingBudget":24576,"includeThoughts":true}`},
		{"gemini-2.5-flash", "on", `{"thinkingBudget":-1,"includeThoughts":true}`},
		{"gemini-2.5-flash", "none", `{"thinkingBudget":0}`},
		{"gemini-3-pro-preview", "medium", `{"thinkingLevel":"medium","includeThoughts":true}`},
		{"gemini-3-flash", "off", `{"thinkingLevel":"minimal"}`},
		{"gemini-4", "on", `{"includeThoughts":true}`},
		{"gemini-4", "", `{}`},
	} {
		require.Equal(t, c.want, geminiThinking(c.model, c.effort).JSON(), c)
	}
}

func TestParametersOfGemini(t *testing.T) {
	half, most := 0.5, 100
	server, m := vendorBy(t, modeltest.FormOf("gemini"), func(_ int, r *modeltest.Request) any {
		config := r.Body["generationConfig"].(map[string]any)
		for name, reason := range map[string]string{
			"presencePenalty":    "Penalty is not enabled for this model",
			"thinkingConfig":     "Thinking is not enabled for models/m",
			"responseJsonSchema": "responseJsonSchema is not supported by this model",
		} {
			if config[name] != nil {
				return modeltest.Answer{Status: 400, Body: `[{"error":{"code":400,"message":"` + reason + `"}}]`}
			}
		}
		return modeltest.Reply{Text: "fine"}
	})
	req := hello(true)
	req.Purpose, req.Schema = engine.PurposeStructured, citySchema
	req.Config = engine.ModelConfig{
		Temperature: &half, TopP: &half, PresencePenalty: &half, FrequencyPenalty: &half, MaxTokens: &most,
		Stop: []string{"|"}, Thinking: "high",
	}
	for range 2 {
		_, _, err := collect(m.Generate(t.Context(), req))
		require.NoError(t, err)
	}
	require.Empty(t, server.Faults())
	require.Len(t, server.Requests(), 5)
	require.Contains(t, server.Requests()[4].Raw, `"generationConfig":{"temperature":0.5,"topP":0.5,`+
		`"maxOutputTokens":100,"stopSequences":["|"]}`)
}

// A call that the model failed to write is requested once more, unless text was sent.
func TestMalformedCallsOfGemini(t *testing.T) {
	malformed := modeltest.Reply{Thought: "a", Finish: modeltest.Malformed}
	server, m := vendor(t, modeltest.FormOf("gemini"), malformed, modeltest.Reply{Text: "fine"})
	text, last, err := collect(m.Generate(t.Context(), hello(true)))
	require.NoError(t, err)
	require.Equal(t, "<think>a</think>fine", text)
	require.Equal(t, engine.Usage{Prompt: 30, Completion: 16, Cached: 8}, *last.Usage)
	require.Len(t, server.Requests(), 2)
	for _, reply := range []modeltest.Reply{malformed, {Text: "I", Finish: modeltest.Malformed}} {
		server, m = vendor(t, modeltest.FormOf("gemini"), reply)
		_, _, err = collect(m.Generate(t.Context(), hello(true)))
		require.ErrorContains(t, err, "failed to write a valid tool call")
		require.Len(t, server.Requests(), map[string]int{"": 2, "I": 1}[reply.Text])
	}
}

func TestFailuresOfGemini(t *testing.T) {
	for body, want := range map[string]string{
		`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":4}}`: "content " +
			"filter stopped the answer: PROHIBITED_CONTENT",
		`{"candidates":[{"content":{"parts":[{"text":"I"}]},"finishReason":"RECITATION"}]}`: "RECITATION",
		`{"candidates":[{"finishReason":"OTHER","finishMessage":"try later"}]}`:             "stopped: OTHER try later",
		`{"candidates":[{"content":{"parts":[{"text":"I"}]}}]}` + "\n":                      "broke off",
		"data: " + `{"candidates":[{"content":{"parts":[{"text":"I"}]}}]}` + "\n\ndata: " +
			`{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`: "503 Service " +
			"Unavailable: The model is overloaded.",
	} {
		_, m := vendor(t, modeltest.FormOf("gemini"), modeltest.Answer{Body: body})
		_, _, err := collect(m.Generate(t.Context(), hello(true)))
		require.ErrorContains(t, err, want)
	}
}

// Only the documented reasons of safety mean a filter: a reason that is not known, or not a string,
// ends an answer like any other.
func TestFinishReasonsOfGemini(t *testing.T) {
	for reason, want := range map[string]string{
		`"STOP"`: "", `"stop"`: "", `"NEW_REASON"`: "", `7`: "", `true`: "", `{"code": 1}`: "", `["STOP"]`: "",
		`"SAFETY"`: "content filter", `"MODEL_ARMOR"`: "content filter", `"IMAGE_SAFETY"`: "content filter",
		`"safety"`: "content filter", `"OTHER"`: "the model stopped",
	} {
		for text, empty := range map[string]string{`{"text":"fine"}`: "", ``: "empty: " + strings.Trim(reason, `"`)} {
			body := `{"candidates":[{"content":{"parts":[` + text + `]},"finishReason":` + reason + `}]}`
			_, m := vendor(t, modeltest.FormOf("gemini"), modeltest.Answer{Body: body})
			got, _, err := collect(m.Generate(t.Context(), hello(true)))
			if want := cmp.Or(want, empty); want != "" && !strings.EqualFold(reason+text, `"stop"`) {
				require.ErrorContains(t, err, want, body)
			} else if text != "" {
				require.NoError(t, err, body)
				require.Equal(t, "fine", got)
			} else {
				require.ErrorIs(t, err, ErrEmpty)
			}
		}
	}
}

// Without alt=sse, gateways stream one JSON list.
func TestListsOfGemini(t *testing.T) {
	_, m := vendor(t, modeltest.FormOf("gemini"), modeltest.Answer{
		Body: `[{"candidates":[{"content":{"parts":[{"text":"Hel"}]}}]}` + "\n,\r\n" +
			`{"candidates":[{"content":{"parts":[{"text":"lo"}]},"finishReason":"STOP"}]}` + "\n]",
	})
	text, _, err := collect(m.Generate(t.Context(), hello(true)))
	require.NoError(t, err)
	require.Equal(t, "Hello", text)
}

func TestHostileAnswersOfGemini(t *testing.T) {
	const n = 200_000
	whole := func(parts string) string {
		return `{"candidates":[{"content":{"parts":[` + parts + `]},"finishReason":"STOP"}]}`
	}
	many := func(part string) string { return whole(strings.Repeat(part+",", n) + `{"text":"x"}`) }
	var stream strings.Builder
	for i := range n / 8 {
		fmt.Fprintf(&stream, "data: %s\n\n", strings.ReplaceAll(whole(`{"text":"x"}`), "STOP", fmt.Sprint(i)))
	}
	for name, c := range map[string]struct{ body, want string }{
		"texts":     {many(`{"text":"x"}`), ""},
		"signed":    {many(`{"text":"x","thoughtSignature":"s"}`), "too large"},
		"calls":     {many(`{"functionCall":{"name":"x"}}`), "too large"},
		"thoughts":  {many(`{"text":"x","thought":true}`), ""},
		"signature": {whole(`{"text":"x","thoughtSignature":"` + strings.Repeat("s", 8<<20) + `"}`), ""},
		"deep": {whole(`{"text":"x"},{"functionCall":{"name":"x","args":` + strings.Repeat("[", n) +
			strings.Repeat("]", n) + `}}`), "broke off"},
		"numbers": {whole(`{"text":42},{"text":true},7,null,[],` +
			`{"functionCall":7},{"functionCall":{"name":1,"args":2}}`), ""},
		"candidates": {`{"candidates":{"content":1}}`, "not in the form of api gemini"},
		"reasons":    {stream.String(), ""},
		"usage":      {`{"usageMetadata":{"promptTokenCount":"x","thoughtsTokenCount":-1e30}}`, "broke off"},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, c.body) })
			p.config.API = Gemini
			req := asking(engine.PurposeAnswer)
			req.Tools = offered
			_, _, err := collect(p.generate(t.Context(), "m", req))
			if c.want != "" {
				require.ErrorContains(t, err, c.want)
				return
			}
			require.NoError(t, err)
		})
	}
}
