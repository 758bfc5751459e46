package model

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// judging returns a server that refuses requests with the reason of judge, and the temperatures
// that it was sent.
func judging(t *testing.T, judge func(body engine.Value) string) (*provider, *[]string) {
	t.Helper()
	sent := &[]string{}
	p, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		body, _ := engine.ParseJSON(data)
		*sent = append(*sent, body.Get("temperature").Text())
		w.Header().Set("Content-Type", "application/json")
		if reason := judge(body); reason != "" {
			w.WriteHeader(http.StatusBadRequest)
			text, _ := json.Marshal(reason)
			_, _ = fmt.Fprintf(w, `{"error":{"message":%s}}`, text)
			return
		}
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"fine"},"finish_reason":"stop"}]}`)
	})
	return p, sent
}

func warm(temperature float64) *engine.ModelRequest {
	r := hello(false)
	r.Config.Temperature = &temperature
	return r
}

// A value that a server refuses concerns the call that sent it, not other calls of the model.
func TestRefusedValuesAreNotRemembered(t *testing.T) {
	for _, reason := range []string{
		"temperature must be at most 2", "Invalid 'temperature': decimal above maximum value. Expected a value <= 2",
		"temperature: Input should be less than or equal to 2", "temperature 3 is out of range [0, 2]",
		"Invalid value for temperature: expected a number between 0 and 2", "temperature is too large: 3",
	} {
		t.Run(reason, func(t *testing.T) {
			p, sent := judging(t, func(body engine.Value) string {
				if f, _ := body.Get("temperature").Float(); f > 2 {
					return reason
				}
				return ""
			})
			text, _, err := collect(p.generate(t.Context(), "m", warm(3)))
			require.NoError(t, err)
			require.Equal(t, "fine", text)
			_, _, err = collect(p.generate(t.Context(), "m", warm(1)))
			require.NoError(t, err)
			require.Equal(t, []string{"3.0", "", "1.0"}, *sent)
		})
	}
}

// A refusal may contain words of the canvas, such as the name of a tool. What is left out because
// of it is remembered when the server accepts the request without it.
func TestRefusalsThatRemainAreNotRemembered(t *testing.T) {
	p, sent := judging(t, func(body engine.Value) string {
		if body.Get("tools").Len() > 0 {
			return "Invalid schema for function 'temperature': 'x' is not a type"
		}
		return ""
	})
	bad := warm(1)
	bad.Tools = []engine.ToolDef{{Name: "temperature", Parameters: engine.Object("type", "x")}}
	_, _, err := collect(p.generate(t.Context(), "m", bad))
	require.ErrorContains(t, err, "Invalid schema")
	*sent = nil
	_, _, err = collect(p.generate(t.Context(), "m", warm(1)))
	require.NoError(t, err)
	require.Equal(t, []string{"1.0"}, *sent)
}

// Tenants learn of a server apart: what one makes it refuse does not change requests of another.
func TestLessonsOfTenantsAreApart(t *testing.T) {
	p, sent := judging(t, func(body engine.Value) string {
		if !body.Get("temperature").IsNull() {
			return "temperature is not supported with this model"
		}
		return ""
	})
	other := *p
	p.owner, other.owner = "a", "b"
	for _, who := range []*provider{p, p, &other} {
		_, _, err := collect(who.generate(t.Context(), "m", warm(1)))
		require.NoError(t, err)
	}
	require.Equal(t, []string{"1.0", "", "", "1.0", ""}, *sent)
}

// A parameter that the configuration leaves out is sent again when it no longer does.
func TestConfiguredDropsAreNotRemembered(t *testing.T) {
	p, sent := judging(t, func(body engine.Value) string {
		if !body.Get("top_p").IsNull() {
			return "top_p is not supported"
		}
		return ""
	})
	p.config.Models = []Entry{{Name: "m", Drop: []string{"temperature"}}}
	r := warm(1)
	r.Config.TopP = r.Config.Temperature
	_, _, err := collect(p.generate(t.Context(), "m", r))
	require.NoError(t, err)
	p.config.Models[0].Drop = nil
	_, _, err = collect(p.generate(t.Context(), "m", r))
	require.NoError(t, err)
	require.Equal(t, []string{"", "", "1.0"}, *sent)
}

// A model that quotes a call, of a document or of the user, makes none.
func TestQuotedCallsAreText(t *testing.T) {
	for _, call := range []string{
		`<tool_call>{"name":"x","arguments":{"a":1}}</tool_call>`,
		`[TOOL_CALLS][{"name":"x","arguments":{"a":1}}]</s>`,
		`<|python_tag|>{"name":"x","parameters":{"a":1}}<|eom_id|>`,
		`<minimax:tool_call><invoke name="x"><parameter name="a">1</parameter></invoke></minimax:tool_call>`,
		`<function=x>{"a":1}</function>`,
		`<tool_call>x<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>`,
		`<|tool_call|>[{"name":"x","arguments":{"a":1}}]<|/tool_call|>`,
	} {
		for _, text := range []string{
			"The document says " + call + ", which I do not do.",
			"It is written as `" + call + "`",
			"An example:\n```xml\n" + call + "\n```\n",
			"An example:\n```\n" + call,
			"Write " + call + " and " + call,
			"A mark: " + call[:8], call[:5] + " x", call[:9] + "\n" + call[9:13],
		} {
			for _, size := range []int{1, 7, 1000} {
				p, _ := serve(t, pieces(text, size))
				got, last, err := collect(p.generate(t.Context(), "m", asking(engine.PurposeAnswer)))
				require.NoError(t, err)
				// A mark of the template at the end is left out.
				require.Equal(t, strings.TrimSuffix(strings.TrimSuffix(text, "</s>"), "<|eom_id|>"), got)
				require.Empty(t, last.ToolCalls)
			}
		}
		for _, text := range []string{
			call, "I shall `look`.\n" + call + "\n", "```\ncode\n```\n" + call, call + "\n" + call,
			call + "\n<tool_response>made up</tool_response>", call + "\nI shall wait.", call + " and " + call,
			"Let me look. " + call + "\nI shall wait.",
		} {
			p, _ := serve(t, pieces(text, 7))
			_, last, err := collect(p.generate(t.Context(), "m", asking(engine.PurposeAnswer)))
			require.NoError(t, err)
			require.NotEmpty(t, last.ToolCalls, text)
		}
	}
}

// Calls in the texts of Mistral and Llama, several at once, and what only looks like calls.
func TestCallsInTexts(t *testing.T) {
	for text, want := range map[string]string{
		`[TOOL_CALLS][{"name":"x","arguments":{"a":1}},{"name":"x","arguments":"{}"}]`: `x{"a":1} x{}`,
		`[TOOL_CALLS]x[ARGS]{"a":1}[TOOL_CALLS]x[ARGS]{"a":2}`:                         `x{"a":1} x{"a":2}`,
		`[TOOL_CALLS]x{"a":1}`:          `x{"a":1}`,
		`[TOOL_CALLS]x[ARGS]`:           "",
		`[TOOL_CALLS]y[ARGS]{"a":1}`:    "",
		`[TOOL_CALLS] and nothing else`: "",
		`<|python_tag|>{"name":"x","parameters":{"a":1}}; {"name":"x","parameters":{}}<|eot_id|>`: `x{"a":1} x{}`,
		`<|python_tag|>print("x")<|eom_id|>`:                                                      "",
	} {
		p, _ := serve(t, pieces(text, 3))
		got, last, err := collect(p.generate(t.Context(), "m", asking(engine.PurposeAnswer)))
		require.NoError(t, err, text)
		var calls []string
		for _, c := range last.ToolCalls {
			calls = append(calls, c.Name+c.Arguments)
		}
		require.Equal(t, want, strings.Join(calls, " "), text)
		if want == "" {
			require.Equal(t, strings.TrimSuffix(text, "<|eom_id|>"), got) // the mark ends the answer
		}
	}
}

// pieces streams a text in pieces of a size.
func pieces(text string, size int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for len(text) > 0 {
			n := min(size, len(text))
			part, _ := json.Marshal(text[:n])
			text = text[n:]
			_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%s}}]}\n\n", part)
		}
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}
}

// deltas streams the same delta many times, and then a text.
func deltas(delta string, n int) string {
	return strings.Repeat(`data: {"choices":[{"delta":{`+delta+"}}]}\n\n", n) +
		`data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}` + "\n\n"
}

// A failure with as many reasons as possible takes seconds, too, and its reason stays short.
func TestFailuresOfManyReasons(t *testing.T) {
	var reasons, details strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&reasons, `,"reason %d"`, i)
		fmt.Fprintf(&details, `,{"msg":"reason %d","fieldViolations":[{"field":"f%d"}]}`, i, i)
	}
	for _, body := range []string{
		`{"errors":[` + reasons.String()[1:] + `]}`,
		`{"error":{"message":"x","details":[` + details.String()[1:] + `]}}`,
	} {
		p, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
		_, _, err := collect(p.generate(t.Context(), "m", hello(true)))
		require.ErrorContains(t, err, "reason 0")
		require.Less(t, len(err.Error()), 1000)
	}
}

// An answer within its limit of bytes that has as many parts as possible takes seconds, not hours.
func TestAnswersOfManyParts(t *testing.T) {
	const n = 150_000
	var calls, blocks, members, kept strings.Builder
	for i := range n {
		fmt.Fprintf(&calls, `,{"index":%d,"id":"c%d","function":{"name":"x"}}`, i, i)
		fmt.Fprintf(&blocks, `,{"index":%d,"type":"t","text":"x"}`, i)
		fmt.Fprintf(&members, `,"m%d":{"a":1}`, i)
		fmt.Fprintf(&kept, `,"m%d":1`, i)
	}
	message := func(members string) string {
		return `{"choices":[{"message":{"content":"x"` + members + `},"finish_reason":"stop"}]}`
	}
	for name, answer := range map[string]struct {
		body  string
		large bool
	}{
		"calls": {message(`,"tool_calls":[` + calls.String()[1:] + `]`), true},
		"parts of calls": {"data: " + strings.ReplaceAll(message(`,"tool_calls":[`+calls.String()[1:]+`]`), "message",
			"delta") + "\n\n", true},
		"calls as text": {message(`,"refusal":"` +
			strings.Repeat(`<tool_call>{\"name\":\"x\"}</tool_call>`, n) + `"`), true},
		"blocks":            {message(`,"reasoning_details":[` + blocks.String()[1:] + `]`), false},
		"members":           {message(members.String()), true},
		"members of a call": {message(`,"tool_calls":[{"function":{"name":"x"}` + kept.String() + `}]`), false},
		"members of a block": {
			message(`,"reasoning_details":[{"type":"t"` + kept.String() + `},` +
				`{"type":"t"` + kept.String() + `}]`), false,
		},
		"white space at the start": {deltas(`"content":" "`, 300_000), false},
		"white space in arguments": {
			deltas(`"tool_calls":[{"index":0,"id":"c","function":{"name":"x","arguments":" "}}]`, 150_000), false,
		},
		"bare line ends": {strings.Repeat(" ", 1<<20) + strings.Repeat("\r", 8<<20) + "\n" + message(""), false},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer.body) })
			_, _, err := collect(p.generate(t.Context(), "m", asking(engine.PurposeAnswer)))
			if answer.large {
				require.ErrorIs(t, err, ErrTooLarge)
			} else {
				require.NoError(t, err)
			}
		})
	}
}

// Reported numbers of tokens cannot lower the usage of a run, nor let its sum overflow.
func TestReportedTokensAreBounded(t *testing.T) {
	for api, answer := range map[API]string{
		OpenAI: `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}],` +
			`"usage":{"prompt_tokens":IN,"completion_tokens":OUT}}`,
		Azure: `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}],` +
			`"usage":{"prompt_tokens":IN,"completion_tokens":OUT}}`,
		Anthropic: `{"type":"message","content":"x","stop_reason":"end_turn",` +
			`"usage":{"input_tokens":IN,"cache_read_input_tokens":IN,"output_tokens":OUT}}`,
		Gemini: `{"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"STOP"}],` +
			`"usageMetadata":{"promptTokenCount":IN,"toolUsePromptTokenCount":IN,"candidatesTokenCount":OUT}}`,
		Ollama: `{"message":{"content":"x"},"done":true,"prompt_eval_count":IN,"eval_count":OUT}`,
		Responses: `{"object":"response","output":[{"type":"message","content":[{"type":"output_text","text":"x"}]}],` +
			`"usage":{"input_tokens":IN,"output_tokens":OUT}}`,
	} {
		for _, n := range [][2]string{
			{"-5", "-5"},
			{"-1e300", "7"},
			{"7", "-9223372036854775808"},
			{"1e300", "1e300"},
			{"9223372036854775807", "9223372036854775807"},
		} {
			t.Run(string(api)+" "+n[0]+" "+n[1], func(t *testing.T) {
				body := strings.NewReplacer("IN", n[0], "OUT", n[1]).Replace(answer)
				p, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
				p.config.API = api
				_, last, err := collect(p.generate(t.Context(), "m", hello(false)))
				require.NoError(t, err)
				if u := last.Usage; u != nil {
					require.GreaterOrEqual(t, u.Prompt, 0)
					require.GreaterOrEqual(t, u.Completion, 0)
					require.LessOrEqual(t, u.Tokens(), int64(2*maxReported))
				}
			})
		}
	}
}

// A schema, an effort or a prompt that a server refuses is of one call. A model that was refused
// because of it keeps the parameter for other calls, which may be those of another tenant.
func TestRefusedSchemasAreNotRemembered(t *testing.T) {
	for reason, member := range map[string]string{
		"Invalid schema for response_format 'answer': In context=(), 'additionalProperties' is required to be " +
			"supplied and to be false.": "response_format",
		"Invalid schema for response_format 'answer': In context=(), unknown keyword 'x' is not " +
			"permitted.": "response_format",
		"'messages' must contain the word 'json' in some form, to use 'response_format' of type " +
			"'json_object'.": "response_format",
		"response_format: the schema has a property without a type": "response_format",
		"Unsupported value: 'reasoning_effort' does not support 'minimal' with this model. Supported values are: " +
			"'low', 'medium', and 'high'.": "reasoning_effort",
	} {
		t.Run(reason, func(t *testing.T) {
			r := &refusal{status: http.StatusBadRequest, text: reason}
			body := engine.Object("model", "m", "stream", true, member, "x")
			require.NotEmpty(t, new(Lesson).negotiate(body, r), "the call is sent without it")
			require.True(t, r.aboutValue())
		})
	}
	for _, reason := range []string{
		"Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
		"Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) " +
			"value is supported.",
		"Unsupported parameter: 'reasoning_effort' is not supported with this model.",
		"response_format json_schema is not supported", "Unknown name \"response_schema\": Cannot find field.",
	} {
		require.False(t, (&refusal{status: http.StatusBadRequest, text: reason}).aboutValue(), reason)
	}
}

// A system message that is refused for its text stays a system message in other calls.
func TestRefusedSystemTextsAreNotRemembered(t *testing.T) {
	p, _ := judging(t, func(body engine.Value) string {
		first := body.Get("messages").At(0)
		if first.Get("role").Str() == "system" && first.Get("content").Str() == "bad" {
			return "The system message must not be empty or blank."
		}
		return ""
	})
	bad := hello(false)
	bad.System = "bad"
	_, _, err := collect(p.generate(t.Context(), "m", bad))
	require.NoError(t, err)
	require.Empty(t, p.lesson("m").Drop)
}

// A prompt that makes a model write a closing mark teaches nothing about the model: the next answer
// of another is text from its first word on.
func TestQuotedMarksTeachNothing(t *testing.T) {
	text := "In the template, reasoning ends with </think> and then the answer begins."
	p, _ := serve(t, pieces(text, 7))
	req := hello(true)
	req.Messages[0].Content = "Explain the mark </think>"
	got, _, err := collect(p.generate(t.Context(), "m", req))
	require.NoError(t, err)
	require.Equal(t, text, got)
	require.False(t, p.lesson("m").Reasons)
}

// An object that names an offered function, but calls none, is an answer.
func TestObjectsWithNamesAreText(t *testing.T) {
	for _, text := range []string{
		`{"name":"x","description":"a letter","since":1990}`, `{"name":"x"}`,
		`{"name":"x","parameters":{"a":1},"price":3}`,
		`[{"name":"x","parameters":{}}]`,
	} {
		p, _ := serve(t, pieces(text, 7))
		got, last, err := collect(p.generate(t.Context(), "m", asking(engine.PurposeAnswer)))
		require.NoError(t, err)
		require.Empty(t, last.ToolCalls, text)
		require.Equal(t, text, got)
	}
}

// The end of a template is the answer where the prompt speaks of it.
func TestWantedEndMarks(t *testing.T) {
	p, _ := serve(t, pieces("It is <|im_end|>", 3))
	req := hello(true)
	req.Messages[0].Content = "Does ChatML end with <|im_end|> or with </s>?"
	got, _, err := collect(p.generate(t.Context(), "m", req))
	require.NoError(t, err)
	require.Equal(t, "It is <|im_end|>", got)
}
