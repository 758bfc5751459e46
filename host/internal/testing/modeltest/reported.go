package modeltest

import "strings"

// Reported are shapes of answers from reports on servers: what gateways put around a response, and
// what templates of models leave in its text.
func Reported() []Shape {
	f, g := chunk(first), chunk(rest)
	st := streamed
	wh := func(name, body string) Shape {
		return Shape{Name: name, Stream: Plain(true), Whole: Answer{Body: body}}
	}
	bad := `Perhaps Billing? {"city":"Rome","days":99}`
	think := func(name, text string) Shape { return spoken(name, text, 3) }
	return []Shape{
		st("minimax final message repeats all", sse(f, g, `{"object":"chat.completion","choices":`+
			`[{"finish_reason":"stop","index":0,"message":{"content":"{{text}}",`+
			`"role":"assistant"}}],"base_resp":{"status_code":0,"status_msg":""}}`)),
		st("minimax final message repeats all, done before", sse(f, g, finish(`"stop"`), `{"object":"chat.completion`+
			`","choices":[{"finish_reason":"stop","index":0,"message":{"content":"{{text}}",`+
			`"role":"assistant"}}]}`, "[DONE]")),
		st("choices as object", sse(`{"choices":{"index":0,"delta":{"content":"{{a}}"}}}`,
			`{"choices":{"index":0,"delta":{"content":"{{b}}"},"finish_reason":"stop"}}`, "[DONE]")),
		wh("choices as object, whole", `{"choices":{"index":0,"message":`+said+
			`,"finish_reason":"stop"}}`),
		st("a second choice", sse(`{"choices":[{"index":0,"delta":{"content":"{{a}}"}},`+
			`{"index":1,"delta":{"content":"other"}}]}`,
			`{"choices":[{"index":1,"delta":{"content":"other"}}]}`, g, finish(`"stop"`), "[DONE]")),
		st("upper case field names of SSE", "Data: "+f+"\n\nData: "+g+"\n\nData: "+finish(`"stop"`)+
			"\n\nData: [DONE]\n\n"),
		st("double data prefix", "data: data: "+f+"\n\ndata: data: "+g+"\n\ndata: data: "+finish(
			`"stop"`)+"\n\ndata: data: [DONE]\n\n"),
		wh("data wrapper, whole",
			`{"code":0,"message":"success","data":{"choices":[{"index":0,"message":`+said+
				`,"finish_reason":"stop"}]}}`),
		wh("result wrapper of cloudflare, whole", `{"result":{"choices":[{"index":0,"message":`+
			said+`,"finish_reason":"stop"}]},"success":true,"errors":[],"messages":[]}`),
		st("leaked end token im_end", sse(f, g, chunk(`{"content":"<|im_end|>"}`), finish(`"stop"`),
			"[DONE]")),
		wh("leaked end token eot, whole", message(
			`{"role":"assistant","content":"{{text}}<|eot_id|>"}`, `"stop"`)),
		st("leaked end token s in pieces", sse(f, g, chunk(`{"content":"</"}`), chunk(
			`{"content":"s>"}`), finish(`"stop"`), "[DONE]")),
		st("leaked end_of_turn", sse(f, g, chunk(`{"content":"<end_of_turn>\n"}`), finish(`"stop"`),
			"[DONE]")),
		think("thought tags of gemini", "<thought>\n"+bad+"\n</thought>\n{{text}}"),
		think("thinking tags", "<thinking>"+bad+"</thinking>\n\n{{text}}"),
		think("THINK of magistral", "[THINK]"+bad+"[/THINK]{{text}}"),
		think("seed think", "<seed:think>"+bad+"</seed:think>{{text}}"),
		think("kimi vl think", "◁think▷"+bad+"◁/think▷{{text}}"),
		think("reasoning tags", "<reasoning>"+bad+"</reasoning>{{text}}"),
		think("harmony analysis and final", "<|channel|>analysis<|message|>"+bad+
			"<|end|><|start|>assistant<|channel|>final<|message|>{{text}}"),
		think("harmony final only", "<|channel|>final<|message|>{{text}}<|return|>"),
		think("gemma 4 channel", "<|channel>thought\n"+bad+"<channel|>{{text}}"),
		think("think upper case", "<THINK>"+bad+"</THINK>{{text}}"),
		st("reasoning twice: marks and member", sse(chunk(
			`{"content":"<think>Per","reasoning_content":"Per"}`), chunk(
			`{"content":"haps Billing?","reasoning_content":"haps Billing?"}`), chunk(
			`{"content":"</think>"}`), f, g, finish(`"stop"`), "[DONE]")),
	}
}

// spoken is an answer with a text, in pieces of some characters.
func spoken(name, text string, size int) Shape {
	var events []string
	for i, part := range strings.Split(text, "{{text}}") {
		if i > 0 {
			events = append(events, chunk(first), chunk(rest))
		}
		for r := []rune(part); len(r) > 0; r = r[min(size, len(r)):] {
			events = append(events, chunk(`{"content":`+quoted(string(r[:min(size, len(r))]))+`}`))
		}
	}
	return Shape{
		Name:   name,
		Stream: Answer{Body: sse(append(events, finish(`"stop"`), done)...)},
		Whole:  Answer{Body: message(`{"role":"assistant","content":`+quoted(text)+`}`, `"stop"`)},
	}
}
