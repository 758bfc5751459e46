package model

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/testing/modeltest"
)

// ofOneCall are refusals that depend on the length of a prompt or on a schema: the next call tries
// again.
var ofOneCall = []string{
	"vllm max_tokens and context", "openai classic completion", "tgi max_new_tokens", "llama.cpp grammar",
}

// What a server refuses, a parameter, a role or a form, is not sent again, and nothing of the
// conversation is lost.
func TestReportedParameters(t *testing.T) {
	half, most := 0.5, 100
	eachForm(t, modeltest.ReportedParameters(), func(t *testing.T, s modeltest.Shape, stream bool) {
		server, m := play(t, s, helloText)
		for i := range 2 {
			req := hello(stream)
			req.LLM, req.System = "m", "Be kind."
			req.Messages = []engine.ModelMessage{{Role: "user", Content: "One."}, {Role: "user", Content: "Two."}}
			if slices.ContainsFunc([]string{"schema", "grammar", "guided"}, func(word string) bool {
				return strings.Contains(s.Name, word)
			}) {
				req.Purpose, req.Schema = engine.PurposeStructured, citySchema
			}
			req.Config = engine.ModelConfig{
				Temperature: &half, TopP: &half, PresencePenalty: &half, FrequencyPenalty: &half, MaxTokens: &most,
				Stop: []string{"|"},
			}
			before := len(server.Requests())
			text, _, err := collect(m.Generate(t.Context(), req))
			require.NoError(t, err)
			require.Equal(t, helloText, text)
			sent := server.Requests()
			for _, word := range []string{"Be kind.", "One.", "Two."} {
				require.Contains(t, sent[len(sent)-1].Raw, word)
			}
			if i == 1 && !slices.Contains(ofOneCall, s.Name) {
				require.Len(t, sent, before+1, "what was refused is remembered")
			}
		}
	})
}

// A server that is busy, starts, or limits the requests of a minute is called again.
func TestReportedBusyServers(t *testing.T) {
	for _, a := range []modeltest.Answer{
		{Status: 408, Body: `{"error":{"message":"Request timeout"}}`},
		{Status: 409, Body: `{"error":{"message":"The model is being swapped, try again"}}`},
		{Status: 498, Body: `{"error":{"message":"capacity_exceeded"}}`},
		{Status: 429, Body: `{"error":{"message":"You exceeded your current quota. Please retry in 7.1s."}}`},
		{Status: 503, Body: `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`},
		{Status: 429, Body: `{"error":{"code":"1302","message":"您的账户已达到速率限制，请您控制请求频率"}}`},
	} {
		requests := 0
		s := modeltest.Shape{Stream: a, Refuses: func(*modeltest.Request) bool { requests++; return requests < 3 }}
		_, m := play(t, s, helloText)
		req := hello(true)
		req.LLM = "m"
		text, _, err := collect(m.Generate(t.Context(), req))
		require.NoError(t, err, a.Body)
		require.Equal(t, helloText, text)
		require.Equal(t, 3, requests)
	}
}

// Calls go back in the form that a server takes: ids of nine characters, no null content, with
// reasoning.
func TestReportedMessagesWithCalls(t *testing.T) {
	const first = `{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_abc-1",` +
		`"type":"function","function":{"name":"echo_tool_0","arguments":"{\"query\":\"a\"}"}}]},` +
		`"finish_reason":"tool_calls"}]}`
	for name, server := range map[string]struct {
		refusal string
		refuses func(message map[string]any) bool
	}{
		"ids": {
			`{"message":"Tool call id was call_abc-1 but must be a-z, A-Z, 0-9, with a length of 9."}`,
			func(m map[string]any) bool { id, ok := m["tool_call_id"].(string); return ok && len(id) != 9 },
		},
		"null": {
			`{"message":"1 validation error: messages.2.content: Input should be a valid string, got None"}`,
			func(m map[string]any) bool { return m["content"] == nil },
		},
		"reasoning": {
			`{"message":"thinking is enabled but reasoning_content is missing in assistant tool call message"}`,
			func(m map[string]any) bool { return m["tool_calls"] != nil && m["reasoning_content"] == nil },
		},
	} {
		t.Run(name, func(t *testing.T) {
			refused := 0
			ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body struct{ Messages []map[string]any }
				_ = json.NewDecoder(r.Body).Decode(&body)
				w.Header().Set("Content-Type", "application/json")
				switch {
				case body.Messages[len(body.Messages)-1]["role"] != "tool":
					_, _ = io.WriteString(w, first)
				case slices.ContainsFunc(body.Messages, server.refuses):
					refused++
					w.WriteHeader(http.StatusBadRequest)
					_, _ = io.WriteString(w, server.refusal)
				default:
					_, _ = fmt.Fprintf(w, `{"choices":[{"message":{"content":%q},"finish_reason":"stop"}]}`, helloText)
				}
			}))
			defer ts.Close()
			m := modelsAt(t, ts.URL+"/v1", "k")
			for range 2 {
				r := runNode(t, m, "Agent", false)
				require.NoError(t, r.err)
				require.True(t, strings.HasSuffix(r.out, helloText), r.out)
			}
			require.Equal(t, 1, refused, "what was refused is remembered")
		})
	}
}

// Marks of reasoning that a prompt wants are text.
func TestMarksOfThePromptAreText(t *testing.T) {
	const text = "<thinking>first</thinking> then"
	p, _ := serve(t, runes(text, 5))
	for prompt, want := range map[string]string{"Think in <thinking> tags.": text, "Think.": "then"} {
		req := hello(true)
		req.System = prompt
		got, _, err := collect(p.generate(t.Context(), "m", req))
		require.NoError(t, err)
		require.Equal(t, want, strings.TrimSpace(engine.WithoutReasoning(got)))
	}
}

// A mark that ends the answer of a template is text where the answer uses it.
func TestMarksInAnswersAreText(t *testing.T) {
	for _, text := range []string{
		"<s>old</s>", "ends with `</s>`", "a < b", "a <", "<b>x</b>", "<|im_end|> is a mark", "[THINK", "◁",
		"<thought",
		"Write <thought> first.", "<|channel|>",
	} {
		for _, size := range []int{1, 4, 100} {
			p, _ := serve(t, runes(text, size))
			got, _, err := collect(p.generate(t.Context(), "m", hello(true)))
			require.NoError(t, err, text)
			require.Equal(t, text, got)
		}
	}
}

// runes streams a text in pieces of some characters.
func runes(text string, size int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for r := []rune(text); len(r) > 0; r = r[min(size, len(r)):] {
			part, _ := json.Marshal(string(r[:min(size, len(r))]))
			_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%s}}]}\n\n", part)
		}
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}
}
