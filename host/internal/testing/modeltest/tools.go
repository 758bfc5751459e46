package modeltest

import "slices"

// The calls that shapes make; both functions are offered by the test.
var (
	one  = []Call{{"echo_tool_0", `{"query":"a"}`}}
	two  = []Call{{"echo_tool_0", `{"query":"a"}`}, {"echo_tool_0", `{"query":"b"}`}}
	pair = []Call{{"echo_tool_0", `{"query":"a"}`}, {"echo_tool_1", `{"query":"b"}`}}
)

const (
	argsA = `{\"query\":\"a\"}`
	argsB = `{\"query\":\"b\"}`
)

// Calls returns the shapes of function calls.
func Calls() []Shape { return slices.Concat(singleCalls(), parallelCalls(), otherCalls()) }

func singleCalls() []Shape {
	return []Shape{
		shapePart("one call", one, `"tool_calls"`, wholePart(listPart(aCall)), atPart("0", aCall)),
		shapePart("a call in parts", one, `"tool_calls"`, wholePart(listPart(aCall)),
			atPart("0", callPart(`"c1"`, "echo_tool_0", `""`)), `[{"index":0,"function":{"arguments":"{\"query\""}}]`,
			`[{"index":0,"function":{"arguments":":\"a\"}"}}]`),
		shapePart("finish reason stop", one, `"stop"`, wholePart(listPart(aCall)), atPart("0", aCall)),
		shapePart("arguments as an object", one, `"tool_calls"`, wholePart(listPart(callPart(`"c1"`, "echo_tool_0",
			`{"query":"a"}`))),
			atPart("0", callPart(`"c1"`, "echo_tool_0", `{"query":"a"}`))),
		shapePart("arguments as text in text", one, `"tool_calls"`, wholePart(listPart(callPart(`"c1"`, "echo_tool_0",
			`"\"{\\\"query\\\":\\\"a\\\"}\""`))),
			atPart("0", callPart(`"c1"`, "echo_tool_0", `"\"{\\\"query\\\":\\\"a\\\"}\""`))),
		shapePart("arguments empty", []Call{{"echo_tool_0", `{}`}}, `"tool_calls"`,
			wholePart(listPart(callPart(`"c1"`,
				"echo_tool_0", `""`))),
			atPart("0", callPart(`"c1"`, "echo_tool_0", `""`))),
		shapePart("arguments null", []Call{{"echo_tool_0", `{}`}}, `"tool_calls"`, wholePart(listPart(callPart(`"c1"`,
			"echo_tool_0", `null`))),
			atPart("0", callPart(`"c1"`, "echo_tool_0", `null`))),
		shapePart("no arguments", []Call{{"echo_tool_0", `{}`}}, `"tool_calls"`,
			wholePart(`[{"id":"c1","function":{"name":"echo_tool_0"}}]`),
			`[{"index":0,"id":"c1","function":{"name":"echo_tool_0"}}]`),
	}
}

func parallelCalls() []Shape {
	return []Shape{
		shapePart("index as text", one, `"tool_calls"`, wholePart(listPart(aCall)), atPart(`"0"`, aCall)),
		shapePart("index from 1", pair, `"tool_calls"`, wholePart(listPart(aCall+","+callPart(`"c2"`,
			"echo_tool_1", `"`+argsB+`"`))),
			atPart("1", aCall), atPart("2", callPart(`"c2"`, "echo_tool_1", `"`+argsB+`"`))),
		shapePart("parallel calls", pair, `"tool_calls"`, wholePart(listPart(aCall+","+callPart(`"c2"`,
			"echo_tool_1", `"`+argsB+`"`))),
			atPart("0", aCall), atPart("1", callPart(`"c2"`, "echo_tool_1", `"`+argsB+`"`))),
		shapePart("parallel calls in one event", two, `"tool_calls"`, wholePart(listPart(aCall+","+bCall)),
			`[{"index":0,`+aCall[1:]+`,{"index":1,`+bCall[1:]+`]`),
		shapePart("parallel calls whose parts alternate", two, `"tool_calls"`, wholePart(listPart(aCall+","+bCall)),
			atPart("0", callPart(`"c1"`, "echo_tool_0", `""`)), atPart("1", callPart(`"c2"`, "echo_tool_0", `""`)),
			`[{"index":0,"function":{"arguments":"{\"query\":"}},{"index":1,"function":{"arguments":"{\"query\":"}}]`,
			`[{"index":1,"function":{"arguments":"\"b\"}"}},{"index":0,"function":{"arguments":"\"a\"}"}}]`),
		shapePart("no index", two, `"tool_calls"`, wholePart(listPart(aCall+","+bCall)), listPart(aCall),
			listPart(bCall)),
		shapePart("no index, in one event", two, `"tool_calls"`, wholePart(listPart(aCall+","+bCall)),
			listPart(aCall+","+bCall)),
		shapePart("no id", pair, `"tool_calls"`, wholePart(listPart(noIDPart("echo_tool_0",
			argsA)+","+noIDPart("echo_tool_1", argsB))),
			atPart("0", noIDPart("echo_tool_0", argsA)), atPart("1", noIDPart("echo_tool_1", argsB))),
		shapePart("no id and no index", pair, `"tool_calls"`, wholePart(listPart(noIDPart("echo_tool_0",
			argsA)+","+noIDPart("echo_tool_1", argsB))),
			listPart(noIDPart("echo_tool_0", argsA)), listPart(noIDPart("echo_tool_1", argsB))),
		shapePart("no id and no index, one function", two, `"tool_calls"`, wholePart(listPart(noIDPart("echo_tool_0",
			argsA)+","+noIDPart("echo_tool_0", argsB))),
			listPart(noIDPart("echo_tool_0", argsA)), listPart(noIDPart("echo_tool_0", argsB))),
		shapePart("index 0 for all, other ids", two, `"tool_calls"`, wholePart(listPart(`{"index":0,`+aCall[1:]+`,`+
			`{"index":0,`+bCall[1:])), atPart("0", aCall), atPart("0", bCall)),
		shapePart("index 0 for all, no ids", two, `"tool_calls"`,
			wholePart(listPart(`{"index":0,`+noIDPart("echo_tool_0",
				argsA)[1:]+`,{"index":0,`+noIDPart("echo_tool_0", argsB)[1:])),
			atPart("0", noIDPart("echo_tool_0", argsA)), atPart("0", noIDPart("echo_tool_0", argsB))),
		shapePart("index 0 for all, other functions in parts", pair, `"tool_calls"`,
			wholePart(listPart(aCall+","+callPart(`"c2"`,
				"echo_tool_1", `"`+argsB+`"`))),
			atPart("0", callPart(`"c1"`, "echo_tool_0",
				`""`)), `[{"index":0,"function":{"arguments":"{\"query\":\"a\"}"}}]`,
			atPart("0", callPart(`"c2"`, "echo_tool_1",
				`""`)), `[{"index":0,"function":{"arguments":"{\"query\":\"b\"}"}}]`),
		shapePart("index 0 for all, complete calls follow each other", two, `"tool_calls"`,
			wholePart(listPart(aCall+","+bCall)),
			atPart("0", noIDPart("echo_tool_0", argsA)), `[{"index":0,"function":{"arguments":"{\"query\":"}}]`,
			`[{"index":0,"function":{"arguments":"\"b\"}"}}]`),
	}
}

func otherCalls() []Shape {
	return []Shape{
		shapePart("the same id for all", two, `"tool_calls"`, wholePart(listPart(aCall+","+callPart(`"c1"`,
			"echo_tool_0",
			`"`+argsB+`"`))),
			atPart("0", aCall), atPart("1", callPart(`"c1"`, "echo_tool_0", `"`+argsB+`"`))),
		shapePart("name, id and type repeated", one, `"tool_calls"`, wholePart(listPart(aCall)),
			atPart("0", callPart(`"c1"`, "echo_tool_0", `""`)), atPart("0", callPart(`"c1"`, "echo_tool_0",
				`"{\"query\":"`)),
			atPart("0", callPart(`"c1"`, "echo_tool_0", `"\"a\"}"`))),
		shapePart("name, id and type null later", one, `"tool_calls"`, wholePart(listPart(aCall)),
			atPart("0", callPart(`"c1"`, "echo_tool_0", `"{\"query\":"`)),
			`[{"index":0,"id":null,"type":null,"function":{"name":null,"arguments":"\"a\"}"}}]`),
		shapePart("name, id and type empty later", one, `"tool_calls"`, wholePart(listPart(aCall)),
			atPart("0", callPart(`"c1"`, "echo_tool_0", `"{\"query\":"`)),
			`[{"index":0,"id":"","type":"","function":{"name":"","arguments":"\"a\"}"}}]`),
		shapePart("the id changes within a call", one, `"tool_calls"`, wholePart(listPart(aCall)),
			atPart("0", callPart(`"c1"`, "echo_tool_0", `"{\"query\":"`)),
			`[{"index":0,"id":"c9","function":{"arguments":"\"a\"}"}}]`),
		shapePart("the id changes and the name repeats", one, `"tool_calls"`, wholePart(listPart(aCall)),
			atPart("0", callPart(`"c1"`, "echo_tool_0", `"{\"query\":"`)), atPart("0", callPart(`"c9"`,
				"echo_tool_0", `"\"a\"}"`))),
		shapePart("the name in parts", one, `"tool_calls"`, wholePart(listPart(aCall)),
			atPart("0", callPart(`"c1"`, "echo_", `""`)), `[{"index":0,"function":{"name":"tool_0",`+
				`"arguments":"{\"query\":\"a\"}"}}]`),
		shapePart("id as a number", one, `"tool_calls"`, wholePart(listPart(callPart(`7`, "echo_tool_0",
			`"`+argsA+`"`))),
			atPart("0", callPart(`7`, "echo_tool_0", `"`+argsA+`"`))),
		shapePart("no type", one, `"tool_calls"`, wholePart(`[{"id":"c1","function":{"name":"echo_tool_0",`+
			`"arguments":"`+argsA+`"}}]`),
			`[{"index":0,"id":"c1","function":{"name":"echo_tool_0","arguments":"`+argsA+`"}}]`),
		shapePart("function null in the last part", one, `"tool_calls"`, wholePart(listPart(aCall)), atPart("0",
			aCall),
			`[{"index":0,"function":null}]`),
		shapePart("a call as an object", one, `"tool_calls"`, wholePart(aCall), `{"index":0,`+aCall[1:]),
		legacy(),
		rawPart("a call as text", "<tool_call>\n{\"name\": \"echo_tool_0\", \"arguments\": {\"query\": "+
			"\"a\"}}\n</tool_call>"),
		rawPart("a call as text without its end",
			"<tool_call>{\"name\":\"echo_tool_0\",\"arguments\":{\"query\":\"a\"}}"),
		rawPart("a call as text after words", "I shall look.\n<tool_call>\n{\"name\": \"echo_tool_0\", "+
			"\"arguments\": {\"query\": \"a\"}}\n</tool_call>\n"),
		rawPart("a call as text in tags",
			"<tool_call>\n<function=echo_tool_0>\n<parameter=query>\na\n</parameter>\n</function>\n</tool_call>"),
		rawPart("a call as text of Mistral", "[TOOL_CALLS] [{\"name\": \"echo_tool_0\", \"arguments\": "+
			"{\"query\": \"a\"}}]</s>"),
		rawPart("a call as text of Mistral with its name first",
			"[TOOL_CALLS]echo_tool_0[CALL_ID]abc123def[ARGS]{\"query\": \"a\"}"),
		rawPart("a call as text of Llama",
			"<|python_tag|>{\"name\": \"echo_tool_0\", \"parameters\": {\"query\": \"a\"}}<|eom_id|>"),
		backPart("reasoning_content comes back", `,"reasoning_content":"I look."`, "",
			`"reasoning_content":"I look."`),
		backPart("reasoning_details come back", `,"reasoning_details":[{"type":"reasoning.encrypted","data":"QUJD",`+
			`"index":0}]`, "", `"data":"QUJD"`),
		backPart("thinking blocks come back", `,"thinking_blocks":[{"type":"thinking","thinking":"I look.",`+
			`"signature":"c2ln"}]`, "", `"signature":"c2ln"`),
		backPart("a thought signature comes back", "", `,"extra_content":{"google":{"thought_signature":"c2ln"}}`,
			`"thought_signature":"c2ln"`),
		backPart("a signature of the function comes back", `,"encrypted_content":"c2ln"`, "",
			`"encrypted_content":"c2ln"`),
	}
}

func shapePart(name string, want []Call, reason, message string, deltas ...string) Shape {
	events := []string{chunk(role)}
	for _, d := range deltas {
		events = append(events, chunk(`{"tool_calls":`+d+`}`))
	}
	events = append(events, finish(reason), done)
	s := Shape{Name: name, Stream: Answer{Body: sse(events...)}, Want: Want{Calls: want}}
	s.Whole.Body = `{"choices":[{"index":0,"message":` + message + `,"finish_reason":` + reason + `}]}`
	return s
}

func wholePart(calls string) string {
	return `{"role":"assistant","content":null,"tool_calls":` + calls + `}`
}

func callPart(id, name, args string) string {
	return `{"id":` + id + `,"type":"function","function":{"name":"` + name + `","arguments":` + args + `}}`
}

var aCall = callPart(`"c1"`, "echo_tool_0", `"`+argsA+`"`)

var bCall = callPart(`"c2"`, "echo_tool_0", `"`+argsB+`"`)

func listPart(calls string) string { return `[` + calls + `]` }

func atPart(index, call string) string { return `[{"index":` + index + `,` + call[1:] + `]` }

func noIDPart(name, args string) string {
	return `{"type":"function","function":{"name":"` + name + `","arguments":"` + args + `"}}`
}

func rawPart(name, text string) Shape {
	s := Shape{Name: name, Want: Want{Calls: one}}
	var events []string
	for i := 0; i < len(text); i += 9 {
		events = append(events, chunk(`{"content":"`+inside(text[i:min(i+9, len(text))])+`"}`))
	}
	s.Stream.Body = sse(append(events, finish(`"stop"`), done)...)
	s.Whole.Body = message(`{"role":"assistant","content":"`+inside(text)+`"}`, `"stop"`)
	return s
}

func backPart(name, deltaExtra, callExtra, contains string) Shape {
	c := aCall[:len(aCall)-1] + callExtra + `}`
	s := shapePart(name, one, `"tool_calls"`, `{"role":"assistant","content":null`+deltaExtra+`,`+
		`"tool_calls":[`+c+`]}`)
	d := `{"tool_calls":` + atPart("0", c) + `}`
	if deltaExtra != "" {
		d = `{` + deltaExtra[1:] + `}`
		s.Stream.Body = sse(chunk(role), chunk(d), chunk(`{"tool_calls":`+atPart("0", c)+`}`),
			finish(`"tool_calls"`), done)
	} else {
		s.Stream.Body = sse(chunk(role), chunk(d), finish(`"tool_calls"`), done)
	}
	s.Want.Back = []string{contains}
	return s
}

func legacy() Shape {
	s := Shape{Name: "function_call, the old form", Want: Want{Calls: one}}
	s.Stream.Body = sse(chunk(`{"role":"assistant","function_call":{"name":"echo_tool_0","arguments":""}}`),
		chunk(`{"function_call":{"arguments":"`+argsA+`"}}`), finish(`"function_call"`), done)
	s.Whole.Body = message(`{"role":"assistant","content":null,"function_call":{"name":"echo_tool_0",`+
		`"arguments":"`+argsA+`"}}`, `"function_call"`)
	return s
}
