package modeltest

import (
	"slices"
	"strings"
)

// ReportedRefusals are shapes of failures from reports on servers. [Want].Requests is set where the
// account has no balance left.
func ReportedRefusals() []Shape {
	r := func(name string, status int, body string, wantStatus, most int, words ...string) Shape {
		a := Answer{Status: status, Body: body}
		return Shape{Name: name, Stream: a, Whole: a, Want: Want{Fails: words, Status: wantStatus, Requests: most}}
	}
	f := chunk(first)
	ended := func(name, reason, words string) Shape {
		return Shape{
			Name: name, Stream: Answer{Body: sse(f, finish(quoted(reason)), done)},
			Whole: Answer{Body: message(`{"role":"assistant","content":"Hel"}`, quoted(reason))},
			Want:  Want{Fails: []string{words}},
		}
	}
	either := func(name string, streamed, whole Answer, want Want) Shape {
		return Shape{Name: name, Stream: streamed, Whole: whole, Want: want}
	}
	return []Shape{
		r("minimax 200 insufficient balance", 200, `{"id":"","choices":null,"created":0,`+
			`"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}`, 0, 1,
			"insufficient balance"),
		r("minimax 200 in a stream", 200, sse(
			`{"base_resp":{"status_code":1027,"status_msg":"output new_sensitive"}}`), 0, 0,
			"output new_sensitive"),
		r("minimax 500 balance", 500, `{"type":"error","error":{"type":"api_error",`+
			`"message":"insufficient balance (1008)"},"request_id":"x"}`, 500, 1,
			"insufficient balance"),
		r("baidu 200 error_msg", 200,
			`{"error_code":336003,"error_msg":"the max input characters is 20000","id":"as-x"}`, 0,
			0, "max input characters is 20000"),
		r("baidu 200 quota", 200,
			`{"error_code":17,"error_msg":"Open api daily request limit reached"}`, 0, 0,
			"daily request limit"),
		r("zhipu 1113", 429, `{"error":{"code":"1113","message":"余额不足或无可用资源包,请充值。"}}`, 429, 1,
			"余额不足"),
		r("volcengine overdue", 403, `{"error":{"code":"AccountOverdueError","message":"The `+
			`request failed because your account has an overdue balance. Request id: `+
			`1","param":"","type":"Forbidden"}}`, 403, 1, "overdue balance"),
		r("dashscope arrearage", 400, `{"error":{"message":"Access denied, please make sure your `+
			`account is in good standing.","type":"Arrearage","param":null,"code":"Arrearage"}}`,
			400, 1, "good standing"),
		r("siliconflow balance", 403,
			`{"code":30001,"message":"Sorry, your account balance is insufficient","data":null}`,
			403, 1, "balance is insufficient"),
		r("anthropic style credit", 400, `{"type":"error","error":{"type":"invalid_request_error"`+
			`,"message":"Your credit balance is too low to access the Anthropic API."}}`, 400, 1,
			"credit balance is too low"),
		r("spring with a message", 500, `{"timestamp":"2026-01-01","status":500,`+
			`"error":"Internal Server Error","message":"the worker has no `+
			`memory","path":"/v1/chat/completions"}`, 500, 0, "the worker has no memory"),
		r("azure error with inner details", 422, `{"error":{"code":"Invalid `+
			`input","status":422,"message":"invalid input error","details":[{"type":"model_erro`+
			`r","loc":["body","messages",0,"content"],"msg":"Input should be a valid string"}]}}`,
			422, 0, "invalid input error", "Input should be a valid string"),
		r("llama.cpp context members", 400, `{"error":{"code":400,"message":"the request exceeds `+
			`the available context size. try increasing the context size or enable context `+
			`shift","type":"exceed_context_size_error","n_prompt_tokens":14429,"n_ctx":8192}}`,
			400, 0, "14429", "8192"),
		r("cloudflare native form", 200,
			`{"result":{"response":"Hi"},"success":true,"errors":[],"messages":[]}`, 0, 0,
			"not in the form"),
		either("groq error in x_groq", Answer{Body: sse(chunk(`{"role":"assistant"}`), `{"choices":[{"index":0,"de`+
			`lta":{},"finish_reason":null}],"x_groq":{"error":"over capacity, try later"}}`,
			"[DONE]")}, Answer{Status: 498, Body: `{"error":{"message":"over capacity, try later"}}`},
			Want{Fails: []string{"over capacity"}}),
		ended("finish network_error", "network_error", "network_error"),
		ended("finish sensitive", "sensitive", "content filter"),
		ended("finish abort", "abort", "abort"),
		ended("finish insufficient_system_resource", "insufficient_system_resource",
			"insufficient_system_resource"),
		either("litellm error after text as string", Answer{Body: sse(f, `{"error": {"message": "lit`+
			`ellm.APIError: upstream gone", "type": null, "param": null, "code": "500"}}`)},
			Answer{Status: 500, Body: `{"error":{"message":"litellm.APIError: upstream ` +
				`gone","type":null,"param":null,"code":"500"}}`}, Want{
				Fails:  []string{"upstream gone"},
				Status: 500,
			}),
	}
}

// ReportedParameters are shapes of servers that refuse a parameter, or a form of the conversation,
// in words from reports.
func ReportedParameters() []Shape { return append(reportedNames(), reportedRoles()...) }

// reportedNames are refusals of parameters.
func reportedNames() []Shape {
	return []Shape{
		refusing("xai argument stop", 400, `{"code":"Client specified an invalid `+
			`argument","error":"Argument not supported on this model: stop"}`, hasAny("stop")),
		refusing("azure details list", 422, `{"error":{"code":"Invalid input","status":422,`+
			`"message":"invalid input error","details":[{"type":"extra_forbidden",`+
			`"loc":["body","frequency_penalty"],"msg":"Extra inputs are not permitted"}]}}`, hasAny(
			"frequency_penalty")),
		refusing("tgi max_new_tokens", 422, `{"error":"Input validation error: `+
			"`inputs` tokens + `max_new_tokens`"+` must be <= 8192. Given: 5000 `+
			"`inputs` tokens and 4000 `max_new_tokens`"+`","error_type":"validation"}`, hasAny(
			"max_tokens", "max_completion_tokens")),
		refusing("vllm max_tokens and context", 400, `{"object":"error","message":"'max_tokens' `+
			`or 'max_completion_tokens' is too large: 100000. This model's maximum context `+
			`length is 8192 tokens and your request has 500 input tokens (100000 > 8192 - `+
			`500).","type":"BadRequestError","param":null,"code":400}`, hasAny("max_tokens",
			"max_completion_tokens")),
		refusing("openai classic completion", 400, `{"error":{"message":"This model's maximum `+
			`context length is 4097 tokens. However, you requested 5000 tokens (1000 in the `+
			`messages, 4000 in the completion). Please reduce the length of the messages or `+
			`completion.","type":"invalid_request_error","param":"messages",`+
			`"code":"context_length_exceeded"}}`, hasAny("max_tokens", "max_completion_tokens")),
		refusing("xgrammar schema", 400, `{"object":"error","message":"The provided JSON schema `+
			`contains features not supported by xgrammar.","type":"BadRequestError",`+
			`"param":null,"code":400}`, hasAny("response_format")),
		refusing("llama.cpp grammar", 400, `{"error":{"code":400,"message":"failed to parse `+
			`grammar","type":"invalid_request_error"}}`, hasAny("response_format")),
		refusing("guided decoding", 400,
			`{"error":{"message":"Guided decoding is not enabled on this deployment"}}`, hasAny(
				"response_format")),
	}
}

// repeatsRole reports whether two messages in succession have one role.
func repeatsRole(r *Request) bool {
	list, _ := r.Body["messages"].([]any)
	last := ""
	for _, m := range list {
		message, _ := m.(map[string]any)
		role, _ := message["role"].(string)
		if role == last {
			return true
		}
		last = role
	}
	return false
}

// reportedRoles are refusals of roles and of streams.
func reportedRoles() []Shape {
	role := func(want string) func(r *Request) bool {
		return func(r *Request) bool {
			return strings.Contains(r.Raw, `"role": "`+want) || strings.Contains(r.Raw, `"role":"`+want)
		}
	}
	streams := func(want bool) func(r *Request) bool {
		return func(r *Request) bool { return (r.Body["stream"] == true) == want }
	}
	return []Shape{
		refusing("system role of gemma", 400, `{"object":"error","message":"System role not `+
			`supported","type":"BadRequestError","param":null,"code":400}`, role("system")),
		refusing("system role of ministral", 400, `{"object":"error","message":"Only user, `+
			`assistant and tool roles are supported, got system","type":"BadRequestError",`+
			`"param":null,"code":400}`, role("system")),
		refusing("system role of o1-mini", 400, `{"error":{"message":"Unsupported value: `+
			`'messages[0].role' does not support 'system' with this model.",`+
			`"type":"invalid_request_error","param":"messages[0].role",`+
			`"code":"unsupported_value"}}`, role("system")),
		refusing("system role as jinja 500", 500, `{"error":{"code":500,"message":"\n------------\`+
			`nWhile executing CallExpression: Jinja Exception: System role not `+
			`supported","type":"server_error"}}`, role("system")),
		refusing("roles must alternate", 400, `{"error":{"message":"Conversation roles must `+
			`alternate user/assistant/user/assistant/...","type":"BadRequestError",`+
			`"param":null,"code":400}}`, repeatsRole),
		refusing("only streams (dashscope)", 400, `{"error":{"code":"invalid_parameter_error",`+
			`"param":null,"message":"This model only support stream mode, please enable the `+
			`stream parameter to access the model. ","type":"invalid_request_error"},"id":"x"}`,
			streams(false)),
		refusing("thinking only streams (dashscope)", 400, `{"error":{"code":"invalid_parameter_er`+
			`ror","message":"parameter.enable_thinking must be set to false for non-streaming `+
			`calls","param":null,"type":"invalid_request_error"},"request_id":"x"}`, streams(false)),
		refusing("thinking only streams (modelscope)", 400, `{"error":{"code":"invalid_parameter_e`+
			`rror","message":"enable thinking can not be support when `+"`stream=False`"+
			`.","type":"invalid_request_error"},"request_id":"x"}`, streams(false)),
		refusing("no streams (o1 at azure)", 400, `{"error":{"message":"Unsupported value: `+
			`'stream' does not support true with this model. Only the default (false) value is `+
			`supported.","type":"invalid_request_error","param":"stream",`+
			`"code":"unsupported_value"}}`, streams(true)),
		refusing("no streams (databricks)", 400, `{"error_code":"BAD_REQUEST",`+
			`"message":"Streaming is not supported for this endpoint."}`, streams(true)),
		refusing("google field violations", 400, `[{"error":{"code":400,"message":"Invalid JSON `+
			`payload received.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapi`+
			`s.com/google.rpc.BadRequest","fieldViolations":[{"field":"frequency_penalty",`+
			`"description":"Unknown name: Cannot find field."}]}]}}]`, hasAny("frequency_penalty")),
		refusing("500 with a bad request inside", 500, `{"error":{"message":"litellm.BadRequestErr`+
			`or: AzureException - Unsupported parameter: 'presence_penalty' is not supported `+
			`with this model.","type":null,"param":null,"code":"400"}}`, hasAny("presence_penalty")),
	}
}

// refusing is a server that refuses some requests.
func refusing(name string, status int, body string, when func(r *Request) bool) Shape {
	a := Answer{Status: status, Body: body}
	return Shape{Name: name, Stream: a, Whole: a, Refuses: when}
}

// hasAny reports whether a request has one of some members.
func hasAny(names ...string) func(r *Request) bool {
	return func(r *Request) bool { return slices.ContainsFunc(names, r.Has) }
}
