package modeltest

import "strings"

// ReportedCalls are shapes of function calls from reports on servers, most of them texts that a
// server did not read as calls.
func ReportedCalls() []Shape { return append(reportedForms(), reportedTexts()...) }

// reportedForms are calls in other members and forms.
func reportedForms() []Shape {
	c := func(name string, want []Call, message string, deltas ...string) Shape {
		return reportedCall(name, want, message, deltas...)
	}
	single, A, call := one, `"`+argsA+`"`, aCall
	named := func(name string) string { return strings.Replace(call, "echo_tool_0", name, 1) }
	with := func(arguments string) string { return strings.Replace(call, A, arguments, 1) }
	m := func(call string) string { return `{"role":"assistant","content":"","tool_calls":[` + call + `]}` }
	d := func(call string) string { return `{"tool_calls":[{"index":0,` + call[1:] + `]}` }
	both := func(name string, want []Call, call string) Shape { return c(name, want, m(call), d(call)) }
	flat := `{"name":"echo_tool_0","arguments":{"query":"a"}}`
	return []Shape{
		inTwoChoices(),
		both("cloudflare flat call", single, flat),
		both("function with parameters", single, `{"id":"c1","type":"function",`+
			`"function":{"name":"echo_tool_0","parameters":{"query":"a"}}}`),
		both("function with input", single,
			`{"id":"c1","type":"tool_use","name":"echo_tool_0","input":{"query":"a"}}`),
		both("name with functions prefix", single, named("functions.echo_tool_0")),
		both("name with functions prefix and number", single, named("functions.echo_tool_0:0")),
		both("name with default_api prefix", single, named("default_api.echo_tool_0")),
		both("name with harmony tail", single, named("echo_tool_0<|channel|>commentary")),
		both("name with blanks", single, named(" echo_tool_0\\n")),
		both("arguments empty list of PHP", []Call{{Name: "echo_tool_0", Arguments: "{}"}}, with(
			`[]`)),
		both("arguments text of empty list", []Call{{Name: "echo_tool_0", Arguments: "{}"}}, with(
			`"[]"`)),
		both("arguments the word null", []Call{{Name: "echo_tool_0", Arguments: "{}"}}, with(
			`"null"`)),
		both("arguments as a list of one", single, with(`[{"query":"a"}]`)),
		both("arguments with a tail", single, with(`"{\"query\":\"a\"}</tool_call>"`)),
		both("arguments fenced", single, with("\"```json\\n{\\\"query\\\":\\\"a\\\"}\\n```\"")),
		both("arguments with raw newline", []Call{{Name: "echo_tool_0", Arguments: `{"query":"a\nb"}`}},
			with(`"{\"query\":\"a\nb\"}"`)),
		c("placeholder {} before arguments", single, m(call), d(with(`"{}"`)),
			`{"tool_calls":[{"index":0,"function":{"arguments":"{\"query\":"}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":"\"a\"}"}}]}`),
		c("arguments object placeholder before text", single, m(call), d(with(`{}`)),
			`{"tool_calls":[{"index":0,"function":{"arguments":"{\"query\":\"a\"}"}}]}`),
		c("final message repeats the calls", single, m(call), d(call),
			`{"choices":[{"index":0,"message":`+m(call)+`,"finish_reason":"tool_calls"}]}`),
		c("accumulated arguments", single, m(call), d(with(`"{\"query\""`)), d(with(
			`"{\"query\":\"a\""`)), d(with(A))),
		c("function_call and tool_calls both", single, `{"role":"assistant","content":null,`+
			`"function_call":{"name":"echo_tool_0","arguments":`+A+`},"tool_calls":[`+call+`]}`,
			`{"function_call":{"name":"echo_tool_0","arguments":`+A+`},"tool_calls":[{"index":0,`+
				call[1:]+`]}`),
		c("call as a string", single, `{"role":"assistant","content":null,"tool_calls":`+quoted("["+
			call+"]")+`}`, `{"tool_calls":`+quoted("["+call+"]")+`}`),
	}
}

// reportedCall is a message with calls, and the deltas or events of its stream.
func reportedCall(name string, want []Call, whole string, deltas ...string) Shape {
	var events []string
	for _, d := range deltas {
		if !strings.HasPrefix(d, `{"choices"`) {
			d = chunk(d)
		}
		events = append(events, d)
	}
	return Shape{
		Name:   name,
		Stream: Answer{Body: sse(append(events, finish(`"tool_calls"`), done)...)},
		Whole:  Answer{Body: message(whole, `"tool_calls"`)},
		Want:   Want{Calls: want},
	}
}

// inTwoChoices is an answer whose text and calls are two choices.
func inTwoChoices() Shape {
	const begin = `{"choices":[{"index":0,"delta":{"content":"Looking."}}]}`
	call := `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,` + aCall[1:] +
		`]},"finish_reason":"tool_calls"}]}`
	whole := `{"choices":[{"message":{"role":"assistant","content":"Looking."},"finish_reason":"tool_calls"},` +
		`{"message":{"role":"assistant","tool_calls":[` + aCall + `]},"finish_reason":"tool_calls"}]}`
	return Shape{
		Name: "text and calls in two choices", Stream: Answer{Body: sse(begin, call, done)}, Whole: Answer{Body: whole},
		Want: Want{Calls: one},
	}
}

// reportedTexts are calls that templates of models write as text.
func reportedTexts() []Shape {
	single, double := one, pair
	raw := func(name string, want []Call, text string) Shape {
		s := spoken(name, text, 4)
		s.Want.Calls = want
		return s
	}
	return []Shape{
		raw("glm raw", single, "<tool_call>echo_tool_0\n<arg_key>query</arg_key>\n<arg_value>a</ar"+
			"g_value>\n</tool_call>"),
		raw("minimax raw", single, "<minimax:tool_call>\n<invoke name=\"echo_tool_0\">\n<parameter"+
			" name=\"query\">a</parameter>\n</invoke>\n</minimax:tool_call>"),
		raw("minimax raw two", double, "<minimax:tool_call>\n<invoke name=\"echo_tool_0\">\n<param"+
			"eter name=\"query\">a</parameter>\n</invoke>\n<invoke name=\"echo_tool_1\">\n<para"+
			"meter name=\"query\">b</parameter>\n</invoke>\n</minimax:tool_call>"),
		raw("function_calls invoke", single, "<function_calls>\n<invoke name=\"echo_tool_0\">\n<pa"+
			"rameter name=\"query\">a</parameter>\n</invoke>\n</function_calls>"),
		raw("kimi raw", single, "<|tool_calls_section_begin|><|tool_call_begin|>functions.echo_too"+
			"l_0:0<|tool_call_argument_begin|>{\"query\":\"a\"}<|tool_call_end|><|tool_calls_se"+
			"ction_end|>"),
		raw("kimi raw two", double, "<|tool_calls_section_begin|><|tool_call_begin|>functions.echo"+
			"_tool_0:0<|tool_call_argument_begin|>{\"query\":\"a\"}<|tool_call_end|><|tool_call"+
			"_begin|>functions.echo_tool_1:1<|tool_call_argument_begin|>{\"query\":\"b\"}<|tool"+
			"_call_end|><|tool_calls_section_end|>"),
		raw("deepseek v3 raw", single, "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜"+
			">echo_tool_0\n```json\n{\"query\": \"a\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"),
		raw("deepseek v3.1 raw", single, "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>echo_tool_0<｜tool"+
			"▁sep｜>{\"query\": \"a\"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"),
		raw("deepseek dsml raw", single, "<｜DSML｜function_calls>\n<｜DSML｜invoke "+
			"name=\"echo_tool_0\">\n<｜DSML｜parameter name=\"query\" string=\"true\">a</｜DSML｜pa"+
			"rameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>"),
		raw("harmony raw call", single, "<|channel|>analysis<|message|>Need "+
			"it.<|end|><|start|>assistant<|channel|>commentary to=functions.echo_tool_0 "+
			"<|constrain|>json<|message|>{\"query\":\"a\"}<|call|>"),
		raw("qwen coder without tool_call", single, "<function=echo_tool_0>\n<parameter=query>\na"+
			"\n</parameter>\n</function>\n</tool_call>"),
		raw("llama function json", single, "<function=echo_tool_0>{\"query\": \"a\"}</function>"),
		raw("granite and phi raw", single, "<|tool_call|>[{\"name\": \"echo_tool_0\", "+
			"\"arguments\": {\"query\": \"a\"}}]<|/tool_call|>"),
		raw("hunyuan and jamba raw", single, "<tool_calls>\n[{\"name\": \"echo_tool_0\", "+
			"\"arguments\": {\"query\": \"a\"}}]\n</tool_calls>"),
		raw("nemotron raw", single, "<TOOLCALL>[{\"name\": \"echo_tool_0\", \"arguments\": "+
			"{\"query\": \"a\"}}]</TOOLCALL>"),
		raw("command r raw", single, "<|START_ACTION|>[{\"tool_call_id\": \"0\", \"tool_name\": "+
			"\"echo_tool_0\", \"parameters\": {\"query\": \"a\"}}]<|END_ACTION|>"),
		raw("bare llama json", single,
			"{\"name\": \"echo_tool_0\", \"parameters\": {\"query\": \"a\"}}"),
		raw("bare openai json of fireworks", single, "{\"type\": \"function\", \"name\": "+
			"\"echo_tool_0\", \"parameters\": {\"query\": \"a\"}}"),
		raw("lfm2 pythonic", single,
			"<|tool_call_start|>[echo_tool_0(query=\"a\")]<|tool_call_end|>"),
	}
}
