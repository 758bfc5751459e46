package modeltest

import "strings"

// Refusals returns the shapes of failures.
func Refusals() []Shape { return append(refusedCalls(), brokenStreams()...) }

// brokenStreams returns failures inside responses.
func brokenStreams() []Shape {
	broken := func(name, events string, words ...string) Shape {
		s := streamed(name, sse(chunk(first), chunk(rest))+events)
		s.Want = Want{Fails: words, Partial: true}
		s.Whole = Answer{Body: `{"error":{"message":"` + words[0] + `"}}`}
		return s
	}
	early := func(name, body string, status int, words ...string) Shape {
		s := streamed(name, body)
		s.Want = Want{Fails: words, Status: status}
		s.Whole = Answer{Body: `{"error":{"message":"` + strings.Join(words, " ") + `"}}`}
		if status != 0 {
			s.Whole.Status = status
		}
		return s
	}
	return []Shape{
		early("an error as the first event", sse(`{"error":{"message":"overloaded","code":503}}`), 503, "overloaded"),
		early("error text as the first event", sse(`{"error":"overloaded"}`), 0, "overloaded"),
		early("an error with blanks", "data: { \"error\" : { \"message\" : \"overloaded\" } }\n\n", 0, "overloaded"),
		early("an error after comments", strings.Repeat(": OPENROUTER PROCESSING\n\n",
			5)+sse(`{"error":{"message":"overloaded"}}`), 0, "overloaded"),
		early("an error beside choices", sse(`{"id":"1","choices":[],"error":{"message":"overloaded"}}`), 0,
			"overloaded"),
		early("an event named error", "event: error\ndata: {\"message\":\"overloaded\",\"code\":503}\n\n", 503,
			"overloaded"),
		early("an event named error with text", "event: error\ndata: overloaded\n\n", 0, "overloaded"),
		early("object error in a stream", sse(`{"object":"error","message":"overloaded","code":400}`), 400,
			"overloaded"),
		early("an error without data:", `{"error":{"message":"overloaded"}}`+"\n", 0, "overloaded"),
		early("only words", "data: Internal failure of the worker\n\n", 0, "Internal failure of the worker"),
		early("only [DONE]", sse(done), 0, "empty"),
		broken("an error in the middle", sse(`{"error":{"message":"worker died"}}`), "worker died"),
		broken("an error in the middle, then [DONE]", sse(`{"error":{"message":"worker died"}}`, done),
			"worker died"),
		broken("an event named error in the middle", "event: error\ndata: {\"error\":{\"message\":\"worker "+
			"died\"}}\n\n", "worker died"),
		broken("an error with a choice", sse(`{"error":{"message":"worker died","code":502},`+
			`"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`), "worker died"),
		broken("an error in a choice", sse(`{"choices":[{"index":0,"delta":{"content":""},`+
			`"finish_reason":"error","error":{"message":"worker died"}}]}`), "worker died"),
		broken("finish reason error", sse(finish(`"error"`), done), "error"),
		{
			Name: "the stream ends early", Stream: Answer{Body: sse(chunk(first),
				chunk(rest))}, Whole: Answer{Body: `{"choices":[{"message":{"content":"Hel`},
			Want: Want{Fails: []string{"broke off"}, Partial: true},
		},
		{
			Name: "the connection breaks", Stream: Answer{
				Body:  sse(chunk(first), chunk(rest)),
				Abort: true,
			}, Whole: Answer{Body: `{"choices":[`, Abort: true},
			Want: Want{Fails: []string{"broke off"}, Partial: true},
		},
	}
}

// refusedCalls returns error responses, and errors instead of an answer.
func refusedCalls() []Shape {
	refusal := func(name string, status int, body string, wantStatus int, words ...string) Shape {
		a := Answer{Status: status, Body: body}
		return Shape{Name: name, Stream: a, Whole: a, Want: Want{Fails: words, Status: wantStatus}}
	}
	quota := refusal("no quota is not retried", 429, `{"error":{"message":"You exceeded your current quota.",`+
		`"type":"insufficient_quota",`+
		`"code":"insufficient_quota"}}`, 429, "exceeded your current quota")
	quota.Want.Requests = 1
	html := "<html>\n<head><title>524: A timeout occurred</title></head>\n<body><p>" + strings.Repeat("long "+
		"page ", 90) + "</p></body></html>"
	return []Shape{
		refusal("error object", 400, `{"error":{"message":"context too long","type":"x"}}`, 400,
			"400 Bad Request", "context too long"),
		refusal("error text", 400, `{"error":"model is not loaded"}`, 400, "model is not loaded"),
		refusal("detail", 403, `{"detail":"not yours"}`, 403, "403", "not yours"),
		refusal("detail as a list", 422, `{"detail":[{"type":"x","loc":["body","messages",0],`+
			`"msg":"Field required"}]}`, 422, "messages", "Field required"),
		refusal("a list of one error", 400, `[{"error":{"code":400,"message":"API key not valid",`+
			`"status":"INVALID_ARGUMENT"}}]`, 400, "API key not valid"),
		refusal("object error", 404, `{"object":"error","message":"The model m does not exist",`+
			`"type":"NotFoundError","code":404}`, 404, "does not exist"),
		refusal("message alone", 401, `{"message":"Unauthorized access","request_id":"1"}`, 401,
			"Unauthorized access"),
		refusal("msg alone", 400, `{"code":1211,"msg":"unknown model"}`, 400, "unknown model"),
		refusal("error in an error", 400, `{"error":{"error":{"message":"deep reason"}}}`, 400, "deep reason"),
		refusal("errors as a list", 400, `{"errors":[{"message":"first reason"}],"success":false}`, 400,
			"first reason"),
		refusal("error with its cause", 400, `{"error":{"message":"Provider returned error","code":400,`+
			`"metadata":{"raw":"{\"error\":{\"message\":\"image too big\"}}"}}}`, 400, "Provider returned "+
			"error", "image too big"),
		refusal("plain text", 400, `no such thing`, 400, "no such thing"),
		refusal("HTML page", 524, html, 524, "524", "A timeout occurred"),
		refusal("empty body", 403, "\n", 403, "403 Forbidden"),
		refusal("error inside 200", 0, `{"error":{"message":"No credits left","code":402}}`, 402, "No credits left"),
		refusal("error text inside 200", 0, `{"error":"Unexpected endpoint or method."}`, 0, "Unexpected endpoint"),
		refusal("error inside 200 with choices", 0, `{"error":{"message":"busy upstream","code":502},`+
			`"choices":[]}`, 502, "busy upstream"),
		refusal("a list with an error inside 200", 0, `[{"error":{"message":"quota metric","code":400}}]`, 400,
			"quota metric"),
		refusal("detail inside 200", 0, `{"detail":"no worker"}`, 0, "no worker"),
		refusal("HTML page inside 200", 0, html, 0, "A timeout occurred"),
		quota,
		refusal("context length", 400, `{"error":{"message":"This model's maximum context length is 8192 `+
			`tokens. However, you requested 9000 tokens.","code":"context_length_exceeded"}}`, 400, "8192", "9000"),
	}
}

// Addresses returns shapes of servers whose base URL is not quite right.
func Addresses() []Shape {
	plain := func(name, base string) Shape {
		return Shape{Name: name, Stream: Plain(true), Whole: Plain(false), Path: "/v1/chat/completions", Base: base}
	}
	inside := plain("/v1 is missing, errors inside 200", "/")
	inside.Path = ""
	inside.Refuses = func(r *Request) bool { return r.Path != "/v1/chat/completions" }
	inside.Stream = Answer{Body: `{"error":"Unexpected endpoint or method. (POST /chat/completions)"}`}
	inside.Whole = inside.Stream
	page := inside
	page.Name = "/v1 is missing, a web page inside 200"
	page.Stream = Answer{Body: "<!doctype html>\n<html><head><title>Web UI</title></head></html>"}
	page.Whole = page.Stream
	return []Shape{
		plain("/v1 is missing", "/"), plain("a slash at the end", "/v1/"),
		plain("/chat/completions at the end", "/v1/chat/completions"),
		plain("/chat/completions/ at the end", "/v1/chat/completions/"), inside, page,
	}
}

// Parameters returns shapes of servers that refuse a parameter.
func Parameters() []Shape {
	refuses := func(name string, status int, body string, when func(r *Request) bool) Shape {
		a := Answer{Status: status, Body: body}
		return Shape{Name: name, Stream: a, Whole: a, Refuses: when}
	}
	has := func(names ...string) func(r *Request) bool {
		return func(r *Request) bool {
			for _, n := range names {
				if !r.Has(n) {
					return false
				}
			}
			return true
		}
	}
	openai := func(message, param, code string) string {
		return `{"error":{"message":"` + message + `","type":"invalid_request_error","param":` + param + `,` +
			`"code":` + code + `}}`
	}
	return []Shape{
		refuses("temperature with top_p", 400, openai("`temperature` and `top_p` cannot both be specified for "+
			"this model. Please use only one.", "null", "null"),
			has("temperature", "top_p")),
		refuses("temperature", 400, openai("Unsupported parameter: 'temperature' is not supported with this "+
			"model.", `"temperature"`, `"unsupported_parameter"`), has("temperature")),
		refuses("only temperature 1", 400, openai("invalid temperature: only 1 is allowed for this model",
			"null", `"invalid_request_error"`), func(r *Request) bool {
			v, ok := r.Body["temperature"]
			return ok && v != 1.0
		}),
		refuses("temperature by its value", 400, openai("Unsupported value: 'temperature' does not support 0.5 "+
			"with this model. Only the default (1) value is "+
			"supported.", `"temperature"`, `"unsupported_value"`), has("temperature")),
		refuses("max_tokens", 400, openai("Unsupported parameter: 'max_tokens' is not supported with this "+
			"model. Use 'max_completion_tokens' "+
			"instead.", `"max_tokens"`, `"unsupported_parameter"`), has("max_tokens")),
		refuses("max_completion_tokens", 422, `{"detail":[{"type":"extra_forbidden","loc":["body",`+
			`"max_completion_tokens"],"msg":"Extra inputs are not permitted"}]}`, has("max_completion_tokens")),
		refuses("penalties", 400, `[{"error":{"code":400,"message":"Penalty is not enabled for models/m",`+
			`"status":"INVALID_ARGUMENT"}}]`, func(r *Request) bool {
			return r.Has("presence_penalty") || r.Has("frequency_penalty")
		}),
		refuses("presence_penalty and frequency_penalty", 400,
			`{"message":"Unknown name \"presence_penalty\": Cannot find field. Unknown name `+
				`\"frequency_penalty\": Cannot find field."}`, func(r *Request) bool {
				return r.Has("presence_penalty") || r.Has("frequency_penalty")
			}),
		refuses("stream_options", 422, `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],`+
			`"msg":"Extra inputs are not permitted","input":{"include_usage":true}}]}`, has("stream_options")),
		refuses("stream_options with 400", 400, `{"error_code":"BAD_REQUEST","message":"Bad request: json: `+
			`unknown field \"stream_options\""}`, has("stream_options")),
		refuses("top_p", 400, `{"object":"error","message":"top_p is not supported","code":400}`, has("top_p")),
		refuses("stop", 400, openai("Unsupported parameter: 'stop' is not supported with this model.", `"stop"`,
			`"unsupported_parameter"`), has("stop")),
		refuses("response_format", 400, openai("This response_format type is unavailable now", "null", "null"),
			has("response_format")),
		inTurn(),
	}
}

// inTurn refuses one parameter after the other.
func inTurn() Shape {
	a := Answer{Status: 400, Body: `{"error":{"message":"Unrecognized request arguments supplied: temperature,` +
		` top_p"}}`}
	return Shape{Name: "two parameters at once", Stream: a, Whole: a, Refuses: func(r *Request) bool {
		return r.Has("temperature") || r.Has("top_p")
	}}
}
