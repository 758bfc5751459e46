package modeltest

import (
	"slices"
	"strings"
)

// chunk returns an event of a stream with a delta.
func chunk(delta string) string {
	return `{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,` +
		`"delta":` + delta +
		`,"finish_reason":null}]}`
}

// finish returns the event that ends a stream.
func finish(reason string) string {
	return `{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},` +
		`"finish_reason":` + reason + `}]}`
}

// sse returns a stream of events.
func sse(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString("data: " + e + "\n\n")
	}
	return b.String()
}

// done ends a stream.
const done = "[DONE]"

// usage is the event with the usage of a stream.
const usage = `{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[],` +
	`"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}`

// message returns a whole answer with a message.
func message(m, reason string) string {
	return `{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":` + m +
		`,"finish_reason":` + reason + `}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}`
}

const (
	role  = `{"role":"assistant","content":""}`
	first = `{"content":"{{a}}"}`
	rest  = `{"content":"{{b}}"}`
	said  = `{"role":"assistant","content":"{{text}}"}`
)

// Plain returns the usual answer.
func Plain(streamed bool) Answer {
	if !streamed {
		return Answer{Body: message(said, `"stop"`)}
	}
	return Answer{Body: sse(chunk(role), chunk(first), chunk(rest), finish(`"stop"`), usage, done)}
}

// streamed returns a shape of a stream; a whole answer is plain.
func streamed(name, body string) Shape {
	return Shape{Name: name, Stream: Answer{Body: body}, Whole: Plain(false)}
}

// text returns events with the text in two pieces.
func text(more ...string) []string {
	return append([]string{chunk(role), chunk(first), chunk(rest)}, more...)
}

// plainEvents is a usual stream without its usage.
var plainEvents = text(finish(`"stop"`), done)

// Streams returns the shapes of streams and of whole answers.
func Streams() []Shape {
	plain := sse(plainEvents...)
	lines := strings.ReplaceAll(chunk(first), `,"choices"`, ",\ndata: \"choices\"")
	open := streamed("the connection stays open after the finish reason", sse(text(finish(`"stop"`))...))
	open.Stream.Open = true
	openDone := streamed("the connection stays open after [DONE]", plain)
	openDone.Stream.Open = true
	noType := streamed("a stream that claims to be text", plain)
	noType.Stream.Header = map[string]string{"Content-Type": "text/plain"}
	return slices.Concat(wholes(), []Shape{
		streamed("plain", Plain(true).Body),
		streamed("no blank after data:", strings.ReplaceAll(plain, "data: ", "data:")),
		streamed("CRLF", strings.ReplaceAll(plain, "\n", "\r\n")),
		streamed("CR", strings.ReplaceAll(plain, "\n", "\r")),
		streamed("a BOM at the start", "\ufeff"+plain),
		streamed("event, id and retry lines", "retry: 100\n\n"+strings.ReplaceAll(plain, "data: ",
			"event: message\nid: 7\ndata: ")),
		streamed("one newline between events", strings.ReplaceAll(plain, "\n\n", "\n")),
		streamed("data over several lines", sse(chunk(role), lines, chunk(rest), finish(`"stop"`), done)),
		streamed("no newline at the end", strings.TrimRight(sse(text(finish(`"stop"`))...), "\n")),
		streamed("hundreds of comments", strings.Repeat(": OPENROUTER PROCESSING\n\n", 700)+plain),
		streamed("hundreds of empty lines", strings.Repeat("\n", 700)+plain),
		streamed("empty data", strings.Repeat("data:\n\n", 400)+plain),
		streamed("a comment as data", "data: : keep-alive\n\n"+plain),
		streamed("null as data", "data: null\n\n"+plain),
		streamed("a word as data", "data: ping\n\n"+plain),
		streamed("choices null", sse(`{"id":"c1","choices":null}`)+plain),
		streamed("no choices", sse(`{"id":"c1"}`)+plain),
		streamed("filter results first", sse(`{"choices":[],"prompt_filter_results":[{"prompt_index":0,`+
			`"content_filter_results":{}}]}`)+plain),
		streamed("delta null", sse(`{"choices":[{"index":0,"delta":null,"finish_reason":null}]}`)+plain),
		streamed("no delta", sse(`{"choices":[{"index":0,"finish_reason":null}]}`)+plain),
		streamed("no [DONE]", sse(text(finish(`"stop"`))...)),
		streamed("[DONE] without blank", strings.ReplaceAll(plain, "data: [DONE]", "data:[DONE]")),
		streamed("[DONE] without finish reason", sse(text(done)...)),
		open, openDone, noType,
		streamed("text after [DONE]", plain+sse(chunk(`{"content":"late"}`))),
		streamed("role and content null", sse(chunk(`{"role":null,"content":null}`), chunk(first), chunk(rest),
			finish(`"stop"`), done)),
		streamed("role in each event", sse(chunk(`{"role":"assistant","content":"{{a}}"}`),
			chunk(`{"role":"assistant","content":"{{b}}"}`), finish(`"stop"`), done)),
		streamed("finish reason eos", sse(text(finish(`"eos"`), done)...)),
		streamed("finish reason end_turn", sse(text(finish(`"end_turn"`), done)...)),
		streamed("finish reason empty", sse(text(finish(`""`), done)...)),
		streamed("finish reason as a number", sse(text(finish(`1`), done)...)),
		streamed("finish reason empty in each event", strings.ReplaceAll(plain, `"finish_reason":null`,
			`"finish_reason":""`)),
		streamed("finish reason with the last text", sse(chunk(first),
			`{"choices":[{"index":0,"delta":{"content":"{{b}}"},"finish_reason":"stop"}]}`, done)),
		streamed("usage as fractions", sse(text(finish(`"stop"`), strings.NewReplacer("9", "9.0", "3,",
			"3.0,").Replace(usage), done)...)),
		streamed("usage null", strings.ReplaceAll(plain, `"model":"m"`, `"model":"m","usage":null`)),
		streamed("usage as text", sse(text(finish(`"stop"`), `{"choices":[],"usage":{"prompt_tokens":"9",`+
			`"completion_tokens":"3"}}`, done)...)),
		streamed("usage as a list", sse(text(finish(`"stop"`), `{"choices":[],"usage":[]}`, done)...)),
		streamed("index as text", strings.ReplaceAll(plain, `"index":0`, `"index":"0"`)),
		streamed("created as a fraction", strings.ReplaceAll(plain, `"created":1`, `"created":1694268190.5`)),
		streamed("created as text", strings.ReplaceAll(plain, `"created":1`, `"created":"2026-01-01"`)),
		streamed("id as a number", strings.ReplaceAll(plain, `"id":"c1"`, `"id":17`)),
		streamed("logprobs as a list", strings.ReplaceAll(plain, `"delta"`, `"logprobs":[1],"delta"`)),
		streamed("logprobs that are not numbers", strings.ReplaceAll(plain, `"delta"`,
			`"logprobs":{"x":[NaN,-Infinity]},"delta"`)),
		streamed("message in place of delta", strings.ReplaceAll(sse(chunk(first), chunk(rest),
			finish(`"stop"`), done), `"delta"`, `"message"`)),
		streamed("text in place of delta", sse(`{"choices":[{"index":0,"text":"{{a}}"}]}`,
			`{"choices":[{"index":0,"text":"{{b}}","finish_reason":"stop"}]}`, done)),
		streamed("unknown members", strings.ReplaceAll(plain, `"delta":{`,
			`"x":{"y":[1]},"delta":{"z":{"content":"no"},`)),
		streamed("one event", sse(chunk(`{"content":"{{text}}"}`), finish(`"stop"`), done)),
		streamed("content as parts", sse(chunk(`{"content":[{"type":"text","text":"{{a}}"}]}`),
			chunk(`{"content":[{"type":"text","text":"{{b}}"}]}`), finish(`"stop"`), done)),
	})
}

// wholes returns the shapes of whole answers, and of answers in another form than requested.
func wholes() []Shape {
	plain := sse(plainEvents...)
	whole := func(name, body string) Shape {
		return Shape{Name: name, Stream: Plain(true), Whole: Answer{Body: body}}
	}
	both := func(name, body string) Shape {
		return Shape{Name: name, Stream: Answer{Body: body}, Whole: Answer{Body: body}}
	}
	return []Shape{
		both("whole JSON in any case", message(said, `"stop"`)),
		both("whole JSON over several lines", strings.ReplaceAll(message(said, `"stop"`), ",", ",\n  ")),
		both("whole JSON after blank lines", "\n\n  \n"+message(said, `"stop"`)),
		both("a stream in any case", plain),
		both("JSON lines", strings.ReplaceAll(strings.ReplaceAll(sse(text(finish(`"stop"`))...), "data: ", ""),
			"\n\n", "\n")),
		both("whole JSON as one event", sse(message(said, `"stop"`), done)),
		whole("created as a fraction, whole", strings.ReplaceAll(message(said, `"stop"`), `"created":1`,
			`"created":1694268190.25`)),
		whole("id as a number, whole", strings.ReplaceAll(message(said, `"stop"`), `"id":"c1"`, `"id":12`)),
		whole("logprobs as a list, whole", strings.ReplaceAll(message(said, `"stop"`), `"message"`,
			`"logprobs":[],"message"`)),
		whole("finish reason as a number, whole", message(said, `0`)),
		whole("finish reason null, whole", message(said, `null`)),
		whole("usage as fractions, whole", strings.NewReplacer("9", "9.0", "12", "12.0").Replace(message(said,
			`"stop"`))),
		whole("usage null, whole", `{"choices":[{"message":`+said+`}],"usage":null}`),
		whole("unknown members, whole", message(`{"role":"assistant","annotations":[],"audio":null,`+
			`"function_call":null,"tool_calls":null,"content":"{{text}}"}`, `"stop"`)),
		whole("a number as content's neighbour", message(`{"role":7,"refusal":false,"content":"{{text}}"}`,
			`"stop"`)),
		whole("content as parts, whole", message(`{"role":"assistant","content":[{"type":"text","text":"{{a}}"},`+
			`{"type":"text","text":"{{b}}"}]}`, `"stop"`)),
	}
}

// thought is reasoning that would spoil every answer that contains it.
const thought = `Perhaps Billing? {\"city\":\"Rome\",\"days\":99}`

// Reasonings returns the shapes of answers with reasoning.
func Reasonings() []Shape {
	shape := func(name, deltas, message string) Shape {
		var events []string
		for d := range strings.SplitSeq(deltas, "\n") {
			events = append(events, chunk(d))
		}
		events = append(events, finish(`"stop"`), done)
		s := Shape{Name: name, Stream: Answer{Body: sse(events...)}, Want: Want{Reasoning: "Perhaps Billing?"}}
		s.Whole.Body = `{"choices":[{"index":0,"message":` + message + `,"finish_reason":"stop"}]}`
		return s
	}
	field := func(name string) Shape {
		return shape("reasoning in "+name,
			`{"`+name+`":"`+thought+`"}`+"\n"+`{"`+name+`":" Hm."}`+"\n"+first+"\n"+rest,
			`{"role":"assistant","`+name+`":"`+thought+` Hm.","content":"{{text}}"}`)
	}
	parts := `[{"type":"thinking","thinking":[{"type":"text","text":"` + thought + `"}]},{"type":"text",` +
		`"text":"{{text}}"}]`
	unclosed := shape("an opening mark that is never closed", `{"content":"<th"}`+"\n"+`{"content":"ink> "}`+"\n"+first+
		"\n"+rest, `{"content":"<think> {{text}}"}`)
	unclosed.Want.Reasoning = ""
	return []Shape{
		unclosed,
		shape("marks inside a member of reasoning",
			`{"reasoning":"<think>`+thought+`</th"}`+"\n"+`{"reasoning":"ink> Hm.</"}`+"\n"+first+"\n"+rest,
			`{"reasoning":"<think>`+thought+`</think> Hm.</","content":"{{text}}"}`),
		field("reasoning_content"), field("reasoning"), field("thinking"), field("reasoning_text"),
		shape("the same reasoning in two fields",
			`{"reasoning":"`+thought+`","reasoning_content":"`+thought+`"}`+"\n"+first+"\n"+rest,
			`{"reasoning":"`+thought+`","reasoning_content":"`+thought+`","content":"{{text}}"}`),
		shape("reasoning in reasoning_details",
			`{"reasoning_details":[{"type":"reasoning.text","text":"`+thought+`","index":0}]}`+"\n"+first+"\n"+rest,
			`{"reasoning_details":[{"type":"reasoning.text","text":"`+thought+`"}],"content":"{{text}}"}`),
		shape("a summary in reasoning_details",
			`{"content":"","reasoning":null,"reasoning_details":[{"type":"reasoning.summary",`+
				`"summary":"`+thought+`"}]}`+"\n"+first+"\n"+rest,
			`{"reasoning_details":[{"type":"reasoning.summary","summary":"`+thought+`"},`+
				`{"type":"reasoning.encrypted","data":"AA=="}],"content":"{{text}}"}`),
		shape("reasoning as an object", `{"reasoning":{"content":"`+thought+`"}}`+"\n"+first+"\n"+rest,
			`{"reasoning":{"content":"`+thought+`"},"content":"{{text}}"}`),
		shape("thinking parts", `{"content":[{"type":"thinking","thinking":[{"type":"text",`+
			`"text":"`+thought+`"}]}]}`+"\n"+first+"\n"+rest,
			`{"role":"assistant","content":`+parts+`}`),
		shape("thinking parts with text", `{"content":[{"type":"thinking",`+
			`"thinking":"`+thought+`"}]}`+"\n"+first+"\n"+rest,
			`{"role":"assistant","content":[{"type":"thinking","thinking":"`+thought+`","signature":"s"},`+
				`{"type":"text","text":"{{text}}"}]}`),
		shape("reasoning parts with a summary",
			`{"content":[{"type":"reasoning","summary":[{"type":"summary_text",`+
				`"text":"`+thought+`"}]}]}`+"\n"+first+"\n"+rest,
			`{"content":[{"type":"reasoning","summary":[{"type":"summary_text","text":"`+thought+`"}]},`+
				`{"type":"text","text":"{{text}}"}]}`),
		shape("think marks", `{"content":"<think>`+thought+`</think>"}`+"\n"+first+"\n"+rest,
			`{"content":"<think>`+thought+`</think>{{text}}"}`),
		shape("think marks in pieces",
			`{"content":"<th"}`+"\n"+`{"content":"ink>`+thought+`</thi"}`+"\n"+`{"content":"nk>{{a}}"}`+"\n"+rest,
			`{"content":"<think>\n`+thought+`\n</think>\n\n{{text}}"}`),
		shape("a lone closing mark", `{"content":"`+thought+`"}`+"\n"+`{"content":" `+
			`Hm.</think>"}`+"\n"+first+"\n"+rest,
			`{"content":"`+thought+` Hm.</think>{{text}}"}`),
		shape("a lone closing mark in pieces",
			`{"content":"`+thought+`</"}`+"\n"+`{"content":"think>\n\n"}`+"\n"+first+"\n"+rest,
			`{"content":"`+thought+`\n</think>\n\n{{text}}"}`),
		shape("blank lines after reasoning",
			`{"reasoning_content":"`+thought+`"}`+"\n"+`{"content":"\n\n"}`+"\n"+first+"\n"+rest,
			`{"reasoning_content":"`+thought+`","content":"\n\n{{text}}"}`),
		shape("content null beside reasoning", `{"reasoning_content":"`+thought+`","content":null}`+"\n"+
			`{"reasoning_content":null,"content":"{{a}}"}`+"\n"+rest,
			`{"reasoning_content":"`+thought+`","content":"{{text}}"}`),
	}
}
