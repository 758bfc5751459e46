package model

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// textForm is a form in which a model writes calls as text if its server has no parser for it.
type textForm struct {
	open, close string
	// list reads what follows a mark.
	list func(body string) (calls []textCall, ok bool)
}

type textCall struct {
	name string
	args engine.Value
}

// textForms are the forms of Hermes, Qwen and GLM, of Mistral, of Llama 3, of MiniMax and Claude,
// of Kimi, of DeepSeek (two), of gpt-oss (two), of Qwen without its outer mark, of Granite and Phi,
// of Hunyuan and Jamba, of Nemotron, of Command R, of LFM, and of Llama 4.
var textForms = []textForm{
	{"<tool_call>", "</tool_call>", readTagged},
	{"[TOOL_CALLS]", "</s>", readMistral},
	{"<|python_tag|>", "<|eom_id|>", readLlama},
	{"<minimax:tool_call>", "</minimax:tool_call>", readInvokes},
	{"<function_calls>", "</function_calls>", readInvokes},
	{"<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", readKimi},
	{"<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", readDeepSeek},
	{"<｜DSML｜function_calls>", "</｜DSML｜function_calls>", readDSML},
	{"<|channel|>commentary to=", "<|call|>", readHarmony},
	{"<|start|>assistant<|channel|>commentary to=", "<|call|>", readHarmony},
	{"<function=", "</function>", readFunction},
	{"<|tool_call|>", "<|/tool_call|>", readObjects},
	{"<tool_calls>", "</tool_calls>", readObjects},
	{"<TOOLCALL>", "</TOOLCALL>", readObjects},
	{"<|START_ACTION|>", "<|END_ACTION|>", readObjects},
	{"<|tool_call_start|>", "<|tool_call_end|>", readPython},
	{"<|python_start|>", "<|python_end|>", readPython},
}

// textCalls takes calls out of the text of an answer to a request that offers tools.
type textCalls struct {
	offered []engine.ToolDef
	held    strings.Builder // the start of a mark, or all after one
	form    *textForm       // of the mark; nil before one
	quotes  backticks
	begun   bool // the answer does not begin with a bare call
	bare    bool // it does: {"name": ...} without marks
}

// longestBareName bounds the name of a function that a bare call is searched for.
const longestBareName = 128

// startsBare reports whether an answer begins with a call of an offered function without marks, as
// Llama writes it; may means that more text decides.
func (t *textCalls) startsBare(text string) (is, may bool) {
	compact := strings.Join(strings.Fields(text[:min(len(text), 2*longestBareName)]), "")
	const name, kind = `{"name":"`, `{"type":"function",`
	rest, found := strings.CutPrefix(compact, name)
	switch {
	case strings.HasPrefix(name, compact), strings.HasPrefix(kind, compact):
		return false, true
	case found:
		rest, _, closed := strings.Cut(rest, `"`)
		is = slices.ContainsFunc(t.offered, func(d engine.ToolDef) bool { return d.Name == rest })
		return closed && is, !closed && len(rest) < longestBareName
	}
	return strings.HasPrefix(compact, kind), false
}

// nextForm returns the first mark of a form in a text, and its place; nil without one.
func nextForm(text string) (form *textForm, at int) {
	at = len(text)
	for i := range textForms {
		if j := strings.Index(text[:at], textForms[i].open); j >= 0 {
			form, at = &textForms[i], j
		}
	}
	return form, at
}

// longestMark is more than the bytes of each opening mark.
const longestMark = 64

// openedBy returns how much of the end of a text may be the start of a mark.
func openedBy(text string) (most int) {
	if !strings.ContainsAny(text[max(0, len(text)-longestMark):], "<[") {
		return 0
	}
	for i := range textForms {
		open := textForms[i].open
		for n := min(len(open)-1, len(text)); n > most; n-- {
			if strings.HasSuffix(text, open[:n]) {
				most = n
			}
		}
	}
	return most
}

// backticks follows the code of Markdown, in which a mark is quoted.
type backticks struct {
	run         int // backticks at the end
	block, span bool
	words       bool // in the last line
}

func (b *backticks) add(text string) {
	for i := range len(text) {
		if text[i] == '`' {
			b.run++
			continue
		}
		b.endRun()
		if text[i] == '\n' {
			b.span, b.words = false, false
		} else if text[i] > ' ' {
			b.words = true
		}
	}
}

func (b *backticks) endRun() {
	switch {
	case b.run >= 3:
		b.block = !b.block
	case b.run > 0 && !b.block:
		b.span = !b.span
	}
	b.run = 0
}

// quoted reports whether what follows is code.
func (b *backticks) quoted() bool {
	b.endRun()
	return b.block || b.span
}

// push returns the text that can be sent.
func (t *textCalls) push(text string) string {
	if len(t.offered) == 0 || text == "" {
		return text
	}
	if t.form != nil || t.bare {
		t.held.WriteString(text)
		return ""
	}
	if !t.begun {
		t.held.WriteString(text)
		is, may := t.startsBare(t.held.String())
		if t.bare = is; is || may {
			return ""
		}
		t.begun, text = true, t.held.String()
		t.held.Reset()
	}
	text = t.held.String() + text
	t.held.Reset()
	sent := 0
	for {
		form, i := nextForm(text[sent:])
		if form == nil {
			break
		}
		t.quotes.add(text[sent : sent+i])
		sent += i
		if !t.quotes.quoted() {
			t.form = form
			t.held.WriteString(text[sent:])
			return text[:sent]
		}
		t.quotes.add(form.open)
		sent += len(form.open)
	}
	end := len(text) - openedBy(text[sent:])
	t.quotes.add(text[sent:end])
	t.held.WriteString(text[end:])
	return text[:end]
}

// end returns the calls in the held text, and the text that is none. A call between words of its
// line is quoted.
func (t *textCalls) end() (calls []engine.Value, text string) {
	text = t.held.String()
	t.held.Reset()
	if t.bare {
		list, ok := readBare(strings.TrimSuffix(strings.TrimSpace(text), "<|eot_id|>"))
		return t.offeredCalls(list, ok, text)
	}
	if t.form == nil {
		return nil, text
	}
	for part := range strings.SplitSeq(text, t.form.open) {
		body, after, _ := strings.Cut(part, t.form.close)
		if after, _, _ = strings.Cut(after, "\n"); t.quotes.words && strings.TrimSpace(after) != "" {
			return nil, text
		}
		if strings.TrimSpace(body) == "" {
			continue
		}
		list, ok := t.form.list(strings.TrimSpace(body))
		some, none := t.offeredCalls(list, ok, text)
		if none != "" {
			return nil, text
		}
		calls = append(calls, some...)
	}
	return calls, ""
}

// offeredCalls returns calls of offered functions, or the text if one is of another.
func (t *textCalls) offeredCalls(list []textCall, ok bool, text string) (calls []engine.Value, none string) {
	for _, c := range list {
		c.name = offeredName(c.name, t.offered)
		ok = ok && slices.ContainsFunc(t.offered, func(d engine.ToolDef) bool { return d.Name == c.name })
		calls = append(calls, engine.Object("function", engine.Object("name", c.name, "arguments", c.args)))
	}
	if !ok {
		return nil, text
	}
	return calls, ""
}

var (
	functionTag  = regexp.MustCompile(`(?s)^<function=([^>]+)>(.*)$`)
	parameterTag = regexp.MustCompile(`(?s)<parameter=([^>]+)>\n?(.*?)\n?</parameter>`)
	keyedTag     = regexp.MustCompile(`(?s)<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>`)
	invokeTag    = regexp.MustCompile(`(?s)<invoke name="([^"]+)"[^>]*>(.*?)</invoke>`)
	namedTag     = regexp.MustCompile(`(?s)<parameter name="([^"]+)"[^>]*>\n?(.*?)\n?</parameter>`)
	pythonCall   = regexp.MustCompile(`(?s)^(\w+)\((.*)\)$`)
	pythonArg    = regexp.MustCompile(`(?s)^\s*,?\s*(\w+)\s*=\s*("(?:[^"\\]|\\.)*"|[\w.+-]+)`)
)

// readTagged reads {"name", "arguments"}, <function=NAME><parameter=NAME>VALUE</parameter>, or NAME
// with <arg_key> and <arg_value>.
func readTagged(body string) (calls []textCall, ok bool) {
	if strings.HasPrefix(body, "<function=") {
		return readFunction(strings.TrimPrefix(body, "<function="))
	}
	if strings.HasPrefix(body, "{") || strings.HasPrefix(body, "[") {
		return readObjects(body)
	}
	name, _, _ := strings.Cut(body, "<arg_key>")
	return []textCall{{strings.TrimSpace(name), tagged(keyedTag, body)}}, true
}

// readFunction reads NAME><parameter=NAME>VALUE</parameter>, or NAME>{...}.
func readFunction(body string) (calls []textCall, ok bool) {
	m := functionTag.FindStringSubmatch("<function=" + body)
	if m == nil {
		return nil, false
	}
	inner, _, _ := strings.Cut(m[2], "</function>")
	args, ok := tagged(parameterTag, inner), true
	if inner = strings.TrimSpace(inner); strings.HasPrefix(inner, "{") {
		args, ok = looseObject(inner)
	}
	return []textCall{{strings.TrimSpace(m[1]), args}}, ok
}

// tagged returns the arguments that a pattern finds, name and value.
func tagged(pattern *regexp.Regexp, body string) engine.Value {
	b := engine.NewObject(4)
	for _, p := range pattern.FindAllStringSubmatch(body, -1) {
		v := engine.String(p[2])
		if x, err := engine.ParseJSONText(p[2]); err == nil && x.Kind() != engine.KindString {
			v = x
		}
		b.Set(strings.TrimSpace(p[1]), v)
	}
	return b.Value()
}

// readInvokes reads <invoke name="NAME"><parameter name="NAME">VALUE</parameter></invoke>, once or
// more.
func readInvokes(body string) (calls []textCall, ok bool) {
	for _, m := range invokeTag.FindAllStringSubmatch(body, -1) {
		calls = append(calls, textCall{m[1], tagged(namedTag, m[2])})
	}
	return calls, len(calls) > 0
}

// readDSML reads the same with a mark in each tag.
func readDSML(body string) (calls []textCall, ok bool) {
	return readInvokes(strings.ReplaceAll(body, "｜DSML｜", ""))
}

// readKimi reads functions.NAME:NUMBER and arguments, each call between marks.
func readKimi(body string) (calls []textCall, ok bool) {
	return readMarked(body, "<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>")
}

// readDeepSeek reads NAME and arguments between marks, in an older form the kind "function", NAME,
// and the arguments as code.
func readDeepSeek(body string) (calls []textCall, ok bool) {
	body = strings.ReplaceAll(body, "function<｜tool▁sep｜>", "")
	body = jsonCode.Replace(body)
	return readMarked(body, "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>")
}

// jsonCode replaces the marks of code around arguments.
var jsonCode = strings.NewReplacer("\n```json\n", "<｜tool▁sep｜>", "```json\n", "<｜tool▁sep｜>", "\n```", "")

// readMarked reads calls of a name and arguments.
func readMarked(body, begin, between, end string) (calls []textCall, ok bool) {
	for part := range strings.SplitSeq(body, begin) {
		if part, _, _ = strings.Cut(part, end); strings.TrimSpace(part) == "" {
			continue
		}
		name, args, _ := strings.Cut(part, between)
		v, ok := looseObject(strings.TrimSpace(args))
		if !ok {
			return nil, false
		}
		calls = append(calls, textCall{strings.TrimSpace(name), v})
	}
	return calls, len(calls) > 0
}

// readHarmony reads functions.NAME, further words of the header, and arguments.
func readHarmony(body string) (calls []textCall, ok bool) {
	head, args, _ := strings.Cut(body, "<|message|>")
	name, _, _ := strings.Cut(strings.TrimSpace(head), " ")
	args, _, _ = strings.Cut(args, "<|end|>")
	v, ok := looseObject(strings.TrimSpace(args))
	return []textCall{{name, v}}, ok
}

var pythonWords = strings.NewReplacer("True", "true", "False", "false", "None", "null")

// readPython reads [NAME(ARGUMENT="VALUE")].
func readPython(body string) (calls []textCall, ok bool) {
	m := pythonCall.FindStringSubmatch(strings.TrimSuffix(strings.TrimPrefix(body, "["), "]"))
	if m == nil {
		return readObjects(body)
	}
	b, rest := engine.NewObject(4), m[2]
	for strings.TrimSpace(rest) != "" {
		p := pythonArg.FindStringSubmatch(rest)
		if p == nil {
			return nil, false
		}
		v, err := engine.ParseJSONText(pythonWords.Replace(p[2]))
		if strings.HasPrefix(p[2], `"`) {
			v, err = engine.ParseJSONText(p[2])
		}
		if err != nil {
			return nil, false
		}
		b.Set(p[1], v)
		rest = rest[len(p[0]):]
	}
	return []textCall{{m[1], b.Value()}}, true
}

// readMistral reads a list of calls, or NAME[ARGS]{...}, which may have a [CALL_ID].
func readMistral(body string) (calls []textCall, ok bool) {
	if strings.HasPrefix(body, "[") || strings.HasPrefix(body, "{") {
		return readObjects(body)
	}
	head, args, found := strings.Cut(body, "[ARGS]")
	if !found {
		i := strings.IndexByte(body, '{')
		if i < 0 {
			return nil, false
		}
		head, args = body[:i], body[i:]
	}
	name, _, _ := strings.Cut(head, "[CALL_ID]")
	v, ok := looseObject(args)
	return []textCall{{strings.TrimSpace(name), v}}, ok && v.Kind() == engine.KindObject
}

// readLlama reads calls that are separated by semicolons.
func readLlama(body string) (calls []textCall, ok bool) {
	body = strings.TrimSuffix(body, "<|eot_id|>")
	if whole, ok := readObjects(body); ok {
		return whole, true
	}
	for part := range strings.SplitSeq(body, ";") {
		one, ok := readObjects(part)
		if !ok {
			return nil, false
		}
		calls = append(calls, one...)
	}
	return calls, len(calls) > 0
}

// readObjects reads {"name", "arguments"}, or a list of them.
func readObjects(body string) (calls []textCall, ok bool) {
	v, ok := looseObject(body)
	list := []engine.Value{v}
	if v.Kind() == engine.KindList {
		list = v.Slice()
	}
	for _, v := range list {
		args := v.Get("arguments")
		if args.IsNull() {
			args = v.Get("parameters")
		}
		name := cmp.Or(v.Get("name").Str(), v.Get("tool_name").Str())
		ok = ok && name != ""
		calls = append(calls, textCall{name, args})
	}
	return calls, ok && len(calls) > 0
}

// readBare reads {"name", "arguments"} without marks. An object with other members, or without
// arguments, is an answer that happens to have the name of a function.
func readBare(body string) (calls []textCall, ok bool) {
	v, _ := looseObject(body)
	args := 0
	for name := range v.Fields() {
		switch name {
		case "arguments", "parameters":
			args++
		case "name", "type", "id":
		default:
			return nil, false
		}
	}
	calls, ok = readObjects(body)
	return calls, ok && args > 0
}

// looseObject reads JSON as models write it.
func looseObject(text string) (v engine.Value, ok bool) {
	v, err := engine.ParseJSONText(text)
	if err != nil {
		v, err = engine.ParseJSON(repaired([]byte(text)))
	}
	return v, err == nil
}
