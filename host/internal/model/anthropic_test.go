package model

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/testing/modeltest"
)

func TestAddressesOfAnthropic(t *testing.T) {
	const want = "https://h/x/v1/messages"
	for _, base := range []string{"https://h/x", "https://h/x/", "https://h/x/v1", "https://h/x/v1/", want} {
		require.Equal(t, want, anthropicDialect{}.address(base, chatPath, "m", true))
	}
}

// sentTo returns the bodies of requests that a call of a model makes at a server of Anthropic,
// which refuses some.
func sentTo(t *testing.T, model string, req *engine.ModelRequest,
	refuse func(r *modeltest.Request) string,
) []engine.Value {
	t.Helper()
	server, m := vendorBy(t, modeltest.FormOf("anthropic"), func(_ int, r *modeltest.Request) any {
		if reason := refuse(r); reason != "" {
			return modeltest.Answer{Status: 400, Body: fmt.Sprintf(
				`{"type":"error","error":{"type":"invalid_request_error","message":%q}}`, reason)}
		}
		return modeltest.Reply{Text: "fine"}
	})
	m.providers[0].config.Models = nil
	for range 2 {
		_, _, err := collect(m.providers[0].generate(t.Context(), model, req))
		require.NoError(t, err)
	}
	require.Empty(t, server.Faults())
	var bodies []engine.Value
	for _, r := range server.Requests() {
		v, err := engine.ParseJSONText(r.Raw)
		require.NoError(t, err)
		bodies = append(bodies, v)
	}
	return bodies
}

func never(*modeltest.Request) string { return "" }

// Models think by a budget or by effort. What a server refuses is replaced and remembered.
func TestThinkingOfAnthropic(t *testing.T) {
	most := 100
	for _, c := range []struct{ model, effort, thinking, output string }{
		{"claude-sonnet-4-5-20250929", "high", `{"type":"enabled","budget_tokens":16384}`, ""},
		{"claude-3-7-sonnet-latest", "on", `{"type":"enabled","budget_tokens":8192}`, ""},
		{"claude-opus-4-8", "max", `{"type":"adaptive","display":"summarized"}`, `{"effort":"max"}`},
		{"claude-opus-4-6", "minimal", `{"type":"adaptive","display":"summarized"}`, `{"effort":"low"}`},
		{"claude-opus-5", "true", `{"type":"adaptive","display":"summarized"}`, ""},
		{"claude-opus-5", "none", `{"type":"disabled"}`, ""},
		{"claude-3-haiku-20240307", "high", "", ""},
		{"claude-3-haiku-20240307", "none", "", ""},
		{"claude-opus-5", "", "", ""},
	} {
		req := warm(1)
		req.Config.Thinking, req.Config.MaxTokens = c.effort, &most
		body := sentTo(t, c.model, req, never)[0]
		for name, want := range map[string]string{"thinking": c.thinking, "output_config": c.output} {
			if want == "" {
				want = "null"
			}
			require.Equal(t, want, body.Get(name).JSON(), c)
		}
		require.Equal(t, c.thinking == "" || c.effort == "none", !body.Get("temperature").IsNull(), c)
	}
	req := hello(false)
	req.Config.Thinking = "high"
	wrong := func(kind, reason string) func(*modeltest.Request) string {
		return func(r *modeltest.Request) string {
			if strings.Contains(r.Raw, `"thinking":{"type":"`+kind) {
				return reason
			}
			return ""
		}
	}
	bodies := sentTo(t, "claude-sonnet-4-5", req, wrong("enabled", `"thinking.type.enabled" is not supported for this `+
		`model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`))
	require.Len(t, bodies, 3)
	require.Equal(t, "adaptive", bodies[2].Get("thinking").Get("type").Str())
	bodies = sentTo(t, "claude-x", req, wrong("adaptive", "adaptive thinking is not supported on this model"))
	require.Len(t, bodies, 3)
	require.Equal(t, "enabled", bodies[2].Get("thinking").Get("type").Str())
	bodies = sentTo(t, "claude-x", req, func(r *modeltest.Request) string {
		if strings.Contains(r.Raw, `"thinking"`) {
			return "this model does not support thinking"
		}
		return ""
	})
	require.Len(t, bodies, 4)
	require.True(t, bodies[3].Get("thinking").IsNull())
}

// The server requires max_tokens and refuses more than the model's.
func TestLongestAnswersOfAnthropic(t *testing.T) {
	limited := func(r *modeltest.Request) string {
		if n := r.Body["max_tokens"].(float64); n > 8192 {
			return fmt.Sprintf("max_tokens: %.0f > 8192, which is the maximum allowed number of output tokens for m", n)
		}
		return ""
	}
	bodies := sentTo(t, "m", hello(false), limited)
	require.Len(t, bodies, 3)
	require.Equal(t, []string{"16000", "8192", "8192"}, []string{
		bodies[0].Get("max_tokens").Text(), bodies[1].Get("max_tokens").Text(), bodies[2].Get("max_tokens").Text(),
	})
	req := hello(false)
	req.Config.Thinking = "max"
	bodies = sentTo(t, "claude-sonnet-4", req, limited)
	require.Equal(t, `{"type":"enabled","budget_tokens":4096}`, bodies[2].Get("thinking").JSON())
	require.Equal(t, "4096", sentTo(t, "claude-3-opus-latest", hello(false), never)[0].Get("max_tokens").Text())
}

func TestParametersOfAnthropic(t *testing.T) {
	half := 0.5
	req := hello(true)
	req.Purpose, req.Schema = engine.PurposeStructured, citySchema
	req.Config = engine.ModelConfig{
		Temperature: &half, TopP: &half, PresencePenalty: &half, FrequencyPenalty: &half, Stop: []string{"|", "\n"},
	}
	bodies := sentTo(t, "m", req, func(r *modeltest.Request) string {
		switch {
		case r.Has("temperature") && r.Has("top_p"):
			return "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
		case r.Has("output_config"):
			return "output_config.format: structured outputs are not supported by this model"
		}
		return ""
	})
	require.Len(t, bodies, 4)
	require.Equal(t,
		`{"format":{"type":"json_schema","schema":{"type":"object","properties":{"city":{"type":"string"},`+
			`"days":{"type":"integer"}},"required":["city","days"],"additionalProperties":false}}}`,
		bodies[0].Get("output_config").JSON())
	for _, last := range bodies[2:] {
		require.Equal(t, "0.5", last.Get("temperature").Text())
		require.True(t, last.Get("top_p").IsNull())
		require.True(t, last.Get("output_config").IsNull())
		require.Equal(t, `["|"]`, last.Get("stop_sequences").JSON())
	}
}

// The prefix that the rounds of an agent share is cached; a prompt without tools may differ in each
// call, and writing it to the cache costs more.
func TestCachedPrefixOfAnthropic(t *testing.T) {
	const mark = `"cache_control":{"type":"ephemeral"}`
	req := hello(false)
	req.System, req.Tools = "Be short.", offered
	body := sentTo(t, "m", req, never)[0]
	require.Equal(t, `[{"type":"text","text":"Be short.",`+mark+`}]`, body.Get("system").JSON())
	require.Equal(t, 1, strings.Count(body.JSON(), mark))
	req.System = ""
	body = sentTo(t, "m", req, never)[0]
	require.Contains(t, body.Get("tools").At(1).JSON(), mark)
	require.Equal(t, 1, strings.Count(body.JSON(), mark))
	req.System, req.Tools = "Be short.", nil
	require.NotContains(t, sentTo(t, "m", req, never)[0].JSON(), mark)
}

// A server that pauses an answer gets it back and continues it.
func TestPausedAnswers(t *testing.T) {
	for _, stream := range []bool{true, false} {
		paused := modeltest.Reply{Thought: "a", Signature: "c2ln", Text: "Hello, ", Finish: modeltest.Paused}
		server, m := vendor(t, modeltest.FormOf("anthropic"), paused, modeltest.Reply{Text: "world"})
		text, last, err := collect(m.Generate(t.Context(), hello(stream)))
		require.NoError(t, err)
		require.Empty(t, server.Faults())
		require.Equal(t, "<think>a</think>Hello, world", text)
		require.Equal(t, engine.Usage{Prompt: 30, Completion: 16, Cached: 8, Written: 4}, *last.Usage)
		require.Contains(t, server.Requests()[1].Raw,
			`{"role":"assistant","content":[{"type":"thinking","thinking":"a",`+
				`"signature":"c2ln"},{"type":"text","text":"Hello, "}]}`)

		server, m = vendor(t, modeltest.FormOf("anthropic"), paused)
		_, _, err = collect(m.Generate(t.Context(), hello(stream)))
		require.NoError(t, err)
		require.Len(t, server.Requests(), 1+maxRepeats)
	}
}

// What a paused answer has goes back once, however often the server reports the pause, without what
// is no block.
func TestRepeatedPauses(t *testing.T) {
	event := func(v string) string { return "data: " + v + "\n\n" }
	pause := event(`{"type":"message_delta","delta":{"stop_reason":"pause_turn"}}`)
	server, m := vendor(t, modeltest.FormOf("anthropic"), modeltest.Answer{
		Body: event(`{"type":"content_block_start","index":0}`) +
			event(`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}`) +
			event(`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hello"}}`) +
			strings.Repeat(pause, 100) + event(`{"type":"message_stop"}`),
	}, modeltest.Reply{Text: " world"})
	text, _, err := collect(m.Generate(t.Context(), hello(true)))
	require.NoError(t, err)
	require.Empty(t, server.Faults())
	require.Equal(t, "Hello world", text)
	require.Contains(t, server.Requests()[1].Raw, `{"role":"assistant","content":[{"type":"text","text":"Hello"}]}`)
}

// A failure inside a stream has its status; text before it is kept.
func TestErrorEventsOfAnthropic(t *testing.T) {
	start := `event: message_start` + "\n" + `data: {"type":"message_start","message":{"usage":{"input_tokens":3}}}` +
		"\n\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}}` + "\n\n"
	for body, status := range map[string]int{
		start + "event: error\ndata: " +
			`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`: 529,
		start +
			`data: {"type":"error","error":{"type":"api_error","message":"Overloaded"}}`: 500,
		start +
			"event: error\ndata: Overloaded\n\n": 0,
	} {
		_, m := vendor(t, modeltest.FormOf("anthropic"), modeltest.Answer{Body: body})
		text, _, err := collect(m.Generate(t.Context(), hello(true)))
		require.Equal(t, "Hel", text)
		var e *Error
		require.ErrorAs(t, err, &e)
		require.ErrorContains(t, err, "Overloaded")
		require.Equal(t, status, e.Status)
	}
}

// A gateway that repeats its request in the middle of a message begins another one.
func TestRestartedMessages(t *testing.T) {
	call := func(id, input string) string {
		return "data: " + `{"type":"message_start","message":{"content":[]}}` + "\n\n" +
			"data: " + `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"` + id +
			`","name":"echo_tool_0","input":{}}}` + "\n\n" +
			"data: " + `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":` +
			input + "}}\n\n"
	}
	_, m := vendor(t, modeltest.FormOf("anthropic"), modeltest.Answer{Body: call("a", `"{\"city\":\"Ro"`) +
		call("b", `"{\"city\":\"Rome\"}"`) + "data: " +
		`{"type":"message_delta","delta":{"stop_reason":"tool_use"}}` + "\n\n" +
		"data: " + `{"type":"message_stop"}` + "\n\n"})
	req := hello(true)
	req.Tools = offered
	_, last, err := collect(m.Generate(t.Context(), req))
	require.NoError(t, err)
	require.Equal(t, []engine.ToolCall{{ID: "b", Name: "echo_tool_0", Arguments: `{"city":"Rome"}`}}, last.ToolCalls)
}

// A server may send what it likes: the answer is bounded, and no time is quadratic.
func TestHostileAnswersOfAnthropic(t *testing.T) {
	const n = 300_000
	event := func(v string) string { return "data: " + v + "\n\n" }
	start := func(index, block string) string {
		return event(`{"type":"content_block_start","index":` + index + `,"content_block":` + block + `}`)
	}
	delta := func(index, delta string) string {
		return event(`{"type":"content_block_delta","index":` + index + `,"delta":` + delta + `}`)
	}
	end := event(`{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`) + event(`{"type":"message_stop"}`)
	var blocks, calls, deltas strings.Builder
	for i := range n / 4 {
		blocks.WriteString(start(fmt.Sprint(i), `{"type":"text","text":"x"}`))
		calls.WriteString(start(fmt.Sprint(i), `{"type":"tool_use","id":"a","name":"x"}`))
		deltas.WriteString(delta(fmt.Sprint(i), `{"type":"text_delta","text":"x"}`))
	}
	text := delta("0", `{"type":"text_delta","text":"fine"}`)
	deep := strings.Repeat("[", n) + strings.Repeat("]", n)
	for name, c := range map[string]struct{ body, want string }{
		"blocks":       {blocks.String() + end, "too large"},
		"calls":        {calls.String() + end, "too large"},
		"blocks begun": {deltas.String() + end, "too large"},
		"pieces":       {strings.Repeat(delta("0", `{"type":"text_delta","text":"x"}`), n/4) + end, ""},
		"signature": {delta("0", `{"type":"signature_delta","signature":"`+strings.Repeat("s", 8<<20)+`"}`) +
			text + end, ""},
		"signatures": {
			strings.Repeat(delta("1", `{"type":"signature_delta","signature":"s"}`), n/4) + text + end,
			"",
		},
		"deep": {start("0", `{"type":"x","input":`+deep+`}`) + text + end, ""},
		"deep input": {
			delta("1", `{"type":"input_json_delta","partial_json":"`+deep+`"}`) + text + end,
			"a tool call without a name",
		},
		"index": {delta(`"x"`, `{"type":"text_delta","text":"fine"}`) + delta("-7", `{}`) + delta("1e99",
			`{}`) + end, ""},
		"kinds":   {start("[]", `[]`) + delta("0", `7`) + delta("{}", `{"type":[],"text":7}`) + text + end, ""},
		"numbers": {delta("0", `{"type":"text_delta","text":42}`) + end, ""},
		"usage": {event(`{"type":"message_start","message":`+
			`{"usage":{"input_tokens":"x","output_tokens":-1e30}}}`) + text + end, ""},
		"message":       {event(`{"type":"message_start","message":7}`) + text + end, ""},
		"stop":          {event(`{"type":"content_block_stop","index":9}`) + text + end, ""},
		"no type":       {strings.Repeat(event(`{"x":1}`), n) + text + end, ""},
		"ends early":    {text, "broke off"},
		"content":       {`{"type":"message","content":"fine","stop_reason":"end_turn"}`, ""},
		"not a message": {`{"type":"message","content":[7,null,"x",{"type":"text","text":"fine"}]}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, c.body) })
			p.config.API = Anthropic
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
