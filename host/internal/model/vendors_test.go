package model

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// documented is an answer in a form that a vendor documents or that users have reported, streamed
// and whole.
type documented struct {
	name      string
	api       API
	streamed  string
	whole     string
	status    int
	refuses   string // the part of a request to which the answer is given; others get a plain one
	text      string
	reasoning string
	call      string   // arguments of a call of echo_tool_0
	prompt    int      // tokens of the prompt in the usage
	fails     []string // parts of the error
}

// sseOf returns a stream with these data.
func sseOf(list ...string) string {
	return "data: " + strings.Join(list, "\n\ndata: ") + "\n\n"
}

func deltaChunk(members string) string { return `{"choices":[{"index":0,"delta":{` + members + `}}]}` }

const endedChunk = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`

var documentedAnswers = []documented{
	{
		name: "vllm, reasoning under two names",
		streamed: sseOf(deltaChunk(`"reasoning":"hm","reasoning_content":"hm"`), deltaChunk(`"content":"Hi"`),
			endedChunk, "[DONE]"),
		whole: `{"choices":[{"message":{"content":"Hi","reasoning":"hm","reasoning_content":"hm"},
			"finish_reason":"stop","stop_reason":151645,"token_ids":null}],"prompt_token_ids":null,` +
			`"kv_transfer_params":null}`,
		text: "Hi", reasoning: "hm",
	},
	{
		name: "llama 4, pythonic call in marks",
		streamed: sseOf(deltaChunk(`"content":"<|python_start|>[echo_tool_0(query="`),
			deltaChunk(`"content":"\"a\")]<|python_end|>"`),
			endedChunk, "[DONE]"),
		whole: `{"choices":[{"message":{"content":"<|python_start|>[echo_tool_0(query=\"a\")]<|python_end|>"},
			"finish_reason":"stop"}]}`,
		call: `{"query":"a"}`,
	},
	{
		name: "hermes parser left a call behind text",
		streamed: sseOf(deltaChunk(`"content":"I look.\n<tool_call>\n{\"name\": \"echo_tool_0\", "`),
			deltaChunk(`"content":"\"arguments\": {\"query\": \"a\"}}\n</tool_call>"`), endedChunk, "[DONE]"),
		whole: `{"choices":[{"message":{"content":"I look.\n<tool_call>\n{\"name\": \"echo_tool_0\", \"arguments\":` +
			` {\"query\": \"a\"}}\n</tool_call>","tool_calls":[]},"finish_reason":"stop"}]}`,
		text: "I look.", call: `{"query":"a"}`,
	},
	{
		name: "ollama, error in a line behind text", api: Ollama,
		streamed: `{"message":{"role":"assistant","content":"Hi"},"done":false}` + "\n" +
			`{"error":"an error was encountered while running the model: unexpected EOF"}` + "\n",
		whole:  `{"error":"model runner has unexpectedly stopped, this may be due to resource limitations"}`,
		status: 500, fails: []string{"model"},
	},
	{
		name: "ollama, thinking refused", api: Ollama, status: 400, refuses: `"think"`,
		whole: `{"error":"\"m\" does not support thinking"}`, text: "plain",
	},
	{
		name: "gemini, prompt blocked without candidates", api: Gemini,
		streamed: sseOf(`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},` +
			`"usageMetadata":{"promptTokenCount":9}}`),
		whole: `{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":9}}`,
		fails: []string{"PROHIBITED_CONTENT"},
	},
	{
		name: "gemini, candidate without content", api: Gemini,
		streamed: sseOf(`{"candidates":[{"finishReason":"RECITATION","index":0,` +
			`"citationMetadata":{"citationSources":[]}}]}`),
		whole: `{"candidates":[{"finishReason":"RECITATION","index":0}]}`,
		fails: []string{"RECITATION"},
	},
	{
		name: "anthropic, refusal with details", api: Anthropic,
		streamed: `event: message_start
data: {"type":"message_start","message":{"id":"m","role":"assistant","content":[],"usage":{"input_tokens":9}}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","category":"bio"}}}

event: message_stop
data: {"type":"message_stop"}

`,
		whole: `{"type":"message","role":"assistant","content":[],"stop_reason":"refusal",
			"stop_details":{"type":"refusal","category":"bio"}}`,
		fails: []string{"refus"},
	},
	{
		name: "anthropic, overloaded as an event behind text", api: Anthropic, status: 529,
		streamed: `event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}

event: error
data: {"type":"error","error":{"details":null,"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}

`,
		whole: `{"type":"error","error":{"details":null,"type":"overloaded_error","message":"Overloaded"}}`,
		fails: []string{"Overloaded"},
	},
	{
		name: "responses, incomplete by filter", api: Responses,
		streamed: sseOf(`{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"Hi"}`,
			`{"type":"response.incomplete","response":{"status":"incomplete",`+
				`"incomplete_details":{"reason":"content_filter"},`+
				`"output":[]}}`),
		whole: `{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[{"type":"message",
			"role":"assistant","content":[{"type":"output_text","text":"Hi"}]}]}`,
		fails: []string{"filter"},
	},
	{
		name: "responses, failed without a response error", api: Responses,
		streamed: sseOf(`{"type":"response.failed","response":{"status":"failed",` +
			`"error":{"code":"rate_limit_exceeded",` +
			`"message":"Rate limit reached for gpt"}}}`),
		whole: `{"status":"failed","error":{"code":"server_error","message":"Rate limit reached for gpt"},` +
			`"output":[]}`,
		fails: []string{"Rate limit reached"},
	},
	{
		name: "openrouter, error in a choice",
		streamed: sseOf(deltaChunk(`"content":"Hi"`), `{"choices":[{"index":0,"delta":{"content":""},`+
			`"error":{"code":502,`+
			`"message":"Upstream idle timeout"},"finish_reason":"error","native_finish_reason":null}]}`, "[DONE]"),
		whole: `{"choices":[{"error":{"code":502,"message":"Upstream idle timeout"},"finish_reason":"error",
			"message":{"role":"assistant","content":"Hi"}}]}`,
		fails: []string{"Upstream idle timeout"},
	},
	{
		name: "openrouter, moderation", status: 403,
		whole: `{"error":{"code":403,"message":"Input was flagged","metadata":{"reasons":["violence/graphic"],
			"flagged_input":"x","provider_name":"OpenAI"}},"user_id":"u"}`,
		fails: []string{"403", "Input was flagged"},
	},
	{
		name: "azure, filter in the stream with offsets",
		streamed: sseOf(`{"choices":[],"prompt_filter_results":[{"prompt_index":0,"content_filter_results":{}}]}`,
			deltaChunk(`"content":"Hi"`), `{"choices":[{"index":0,"finish_reason":null,`+
				`"content_filter_offsets":{"check_offset":44},`+
				`"content_filter_results":{"hate":{"filtered":false,"severity":"safe"}}}]}`,
			deltaChunk(`"content":" you"`), endedChunk, "[DONE]"),
		text: "Hi you",
	},
	{
		name: "azure, filtered at the end",
		streamed: sseOf(deltaChunk(`"content":"Hi"`), `{"choices":[{"index":0,"delta":{},`+
			`"finish_reason":"content_filter",`+
			`"content_filter_results":{"violence":{"filtered":true,"severity":"high"}}}]}`, "[DONE]"),
		whole: `{"choices":[{"message":{"role":"assistant"},"finish_reason":"content_filter","content_filter_results":
			{"violence":{"filtered":true,"severity":"high"}}}]}`,
		fails: []string{"filter"},
	},
	{
		name: "xai, argument in camel case", status: 400, refuses: `"presence_penalty"`,
		whole: `{"code":"Client specified an invalid argument",` +
			`"error":"Argument not supported on this model: presencePenalty"}`,
		text: "plain",
	},
	{
		name: "moonshot, usage in the choice",
		streamed: sseOf(deltaChunk(`"content":"Hi"`), `{"choices":[{"index":0,"delta":{},"finish_reason":"stop",`+
			`"usage":{"prompt_tokens":8,"completion_tokens":2,"total_tokens":10}}]}`, "[DONE]"),
		whole: `{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}],
			"usage":{"prompt_tokens":8,"completion_tokens":2,"total_tokens":10}}`,
		text: "Hi", prompt: 8,
	},
	{
		name: "perplexity, delta with the whole message in each event",
		streamed: sseOf(`{"citations":["https://a.example"],"search_results":[{"title":"A",`+
			`"url":"https://a.example"}],`+
			`"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"delta":{"content":"Hi"}}]}`,
			`{"citations":["https://a.example"],"choices":[{"index":0,"finish_reason":"stop",`+
				`"message":{"role":"assistant",`+
				`"content":"Hi you"},"delta":{"content":" you"}}],"usage":{"prompt_tokens":8,"completion_tokens":2,`+
				`"cost":{"total_cost":0.006}}}`),
		whole: `{"citations":["https://a.example"],"choices":[{"message":{"content":"Hi you"},"finish_reason":"stop"}],
			"usage":{"prompt_tokens":8,"completion_tokens":2,"search_context_size":"low",` +
			`"cost":{"total_cost":0.006}}}`,
		text: "Hi you", prompt: 8,
	},
	{
		name: "lm studio, error behind text with a bare text", status: 400,
		streamed: sseOf(deltaChunk(`"content":"Hi"`)) +
			"event: error\ndata: {\"error\":\"The model has crashed without additional " +
			"information. (Exit code: 6)\"}\n\n",
		whole: `{"error":"The model has crashed without additional information. (Exit code: 6)"}`,
		fails: []string{"Exit code: 6"},
	},
	{
		name: "llama.cpp, progress and timings",
		streamed: sseOf(`{"choices":[{"index":0,"delta":{"role":"assistant","content":null}}],`+
			`"prompt_progress":{"total":9,`+
			`"cache":0,"processed":4,"time_ms":7}}`, deltaChunk(`"content":"Hi"`), endedChunk,
			`{"choices":[],"usage":{"prompt_tokens":8,"completion_tokens":2},"timings":{"prompt_n":8,`+
				`"predicted_per_second":9.5}}`,
			"[DONE]"),
		whole: `{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"<think>hm</think>Hi"}}],
			"usage":{"prompt_tokens":8,"completion_tokens":2},"timings":{"prompt_n":8},` +
			`"__verbose":{"content":"other"}}`,
		text: "Hi", prompt: 8,
	},
	{
		name: "tgi, generation failed behind text", status: 424,
		streamed: sseOf(deltaChunk(`"content":"Hi"`),
			`{"error":"Request failed during generation: Server error: CUDA out of memory",`+
				`"error_type":"generation"}`),
		whole: `{"error":"Request failed during generation: Server error: CUDA out of memory",` +
			`"error_type":"generation"}`,
		fails: []string{"CUDA out of memory"},
	},
	{
		name: "tgi, one call as object and arguments as object",
		streamed: sseOf(`{"choices":[{"index":0,"delta":{"role":"assistant","tool_calls":{"index":0,"id":"",` +
			`"type":"function",` +
			`"function":{"name":"echo_tool_0","arguments":{"query":"a"}}}},"finish_reason":"eos_token"}]}`),
		whole: `{"choices":[{"message":{"role":"assistant","tool_calls":[{"id":0,"type":"function",` +
			`"function":{"description":null,
			"name":"echo_tool_0","arguments":{"query":"a"}}}]},"finish_reason":"eos_token"}]}`,
		call: `{"query":"a"}`,
	},
	{
		name: "litellm, fallback failed behind text",
		streamed: sseOf(deltaChunk(`"content":"Hi"`),
			`{"error":{"message":"litellm.MidStreamFallbackError: Vertex died",`+
				`"type":null,"param":null,"code":"500"}}`),
		status: 500, whole: `{"error":{"message":"litellm.MidStreamFallbackError: Vertex died","type":null,` +
			`"param":null,"code":"500"}}`,
		fails: []string{"Vertex died"},
	},
	{
		name: "nvidia, problem details", status: 400, refuses: `"frequency_penalty"`,
		whole: `{"type":"urn:inference-service:problem-details:bad-request","title":"Bad Request","status":400,
			"detail":"Validation: Unsupported parameter(s): ` + "`frequency_penalty`" + `","instance":"/v2/x",` +
			`"requestId":"r"}`,
		text: "plain",
	},
	{
		name: "mistral, references between text",
		streamed: sseOf(deltaChunk(`"content":[{"type":"text","text":"Hi"},{"type":"reference",`+
			`"reference_ids":[1,2]}]`),
			deltaChunk(`"content":[{"type":"text","text":" you"}]`), endedChunk, "[DONE]"),
		whole: `{"choices":[{"message":{"content":[{"type":"text","text":"Hi"},{"type":"reference",` +
			`"reference_ids":[1]},
			{"type":"text","text":" you"}]},"finish_reason":"stop"}]}`,
		text: "Hi you",
	},
	{
		name: "cortex, text under three names",
		streamed: sseOf(deltaChunk(`"type":"text","content":"Hi","content_list":[{"type":"text","text":"Hi"}],`+
			`"text":"Hi"`),
			deltaChunk(`"type":"text","content":" you","content_list":[{"type":"text","text":" you"}],`+
				`"text":" you"`), endedChunk),
		whole: `{"choices":[{"message":{"content":"Hi you","content_list":[{"type":"text","text":"Hi you"}]}}]}`,
		text:  "Hi you",
	},
	{
		name: "watsonx, list of errors", status: 404,
		whole: `{"errors":[{"code":"model_not_supported","message":"Model 'm' is not supported for this environment",
			"more_info":"https://x"}],"trace":"t","status_code":404}`,
		fails: []string{"404", "is not supported for this environment"},
	},
	{
		name: "github models, limit of a day", status: 429,
		whole: `{"error":{"code":"RateLimitReached",` +
			`"message":"Rate limit of 50 per 86400s exceeded for UserByModelByDay. ` +
			`Please wait 40000 seconds before retrying.","details":"Please wait 40000 seconds before retrying."}}`,
		fails: []string{"429", "Rate limit of 50 per 86400s"},
	},
}

const plainAnswer = `{"choices":[{"message":{"role":"assistant","content":"plain"},"finish_reason":"stop"}],` +
	`"message":{"role":"assistant","content":"plain"},"done":true}`

// Answers of vendors and servers are read as their documents and reports describe them.
func TestDocumentedAnswers(t *testing.T) {
	for _, d := range documentedAnswers {
		for _, stream := range []bool{true, false} {
			form := "whole"
			if stream {
				form = "streamed"
			}
			t.Run(d.name+", "+form, func(t *testing.T) { d.play(t, stream) })
		}
	}
}

func (d *documented) play(t *testing.T, stream bool) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		body, status := d.whole, d.status
		if stream && d.streamed != "" || body == "" {
			body, status = d.streamed, 0
		}
		if d.refuses != "" && !strings.Contains(string(sent), d.refuses) {
			body, status = plainAnswer, 0
		}
		w.Header().Set("Content-Type", "application/json")
		if strings.Contains(body, "data: ") {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		if status > 0 {
			w.WriteHeader(status)
		}
		_, _ = io.WriteString(w, body)
	}))
	defer server.Close()
	m, err := New(Config{Providers: []Provider{{
		Name: "Test", API: d.api, BaseURL: server.URL, Key: "sk-secret", Models: []Entry{{Name: "m"}},
	}}})
	require.NoError(t, err)
	for _, p := range m.providers {
		p.timeout, p.sleep = 3*time.Second, noSleep
	}
	req := hello(stream)
	req.LLM = "m"
	half := 0.5
	req.Config = engine.ModelConfig{PresencePenalty: &half, FrequencyPenalty: &half, Thinking: "low"}
	if d.call != "" {
		req.Tools = offered
	}
	answer, last, err := collect(m.Generate(t.Context(), req))
	for _, words := range d.fails {
		require.ErrorContains(t, err, words)
	}
	if d.fails != nil {
		return
	}
	require.NoError(t, err)
	require.Equal(t, d.text, strings.TrimSpace(engine.WithoutReasoning(answer)))
	require.Contains(t, answer, d.reasoning)
	require.LessOrEqual(t, strings.Count(answer, "hm"), 1)
	if d.prompt > 0 {
		require.NotNil(t, last.Usage)
		require.Equal(t, d.prompt, last.Usage.Prompt)
	}
	if d.call == "" {
		require.Empty(t, last.ToolCalls)
		return
	}
	require.Len(t, last.ToolCalls, 1)
	require.Equal(t, "echo_tool_0", last.ToolCalls[0].Name)
	require.JSONEq(t, d.call, last.ToolCalls[0].Arguments)
}

func noSleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }
