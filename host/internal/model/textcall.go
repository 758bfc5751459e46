package model

import (
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

// textForms are the forms of Hermes and Qwen, of Mistral, and of Llama.
var textForms = []textForm{
	{"<tool_call>", "</tool_call>", readTagged},
	{"[TOOL_CALLS]", "</s>", readMistral},
	{"<|python_tag|>", "<|eom_id|>", readLlama},
}

// textCalls takes calls out of the text of an answer to a request that offers tools.
type textCalls struct {
	offered []engine.ToolDef
	held    strings.Builder // the start of a mark, or all after one
	form    *textForm       // of the mark; nil before one
	quotes  backticks
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

// openedBy returns how much of the end of a text may be the start of a mark.
func openedBy(text string) (most int) {
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
	if t.form != nil {
		t.held.WriteString(text)
		return ""
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
		for _, c := range list {
			ok = ok && slices.ContainsFunc(t.offered, func(d engine.ToolDef) bool { return d.Name == c.name })
			calls = append(calls, engine.Object("function", engine.Object("name", c.name, "arguments", c.args)))
		}
		if !ok {
			return nil, text
		}
	}
	return calls, ""
}

var (
	functionTag  = regexp.MustCompile(`(?s)^<function=([^>]+)>(.*)$`)
	parameterTag = regexp.MustCompile(`(?s)<parameter=([^>]+)>\n?(.*?)\n?</parameter>`)
)

// readTagged reads {"name", "arguments"}, or <function=NAME><parameter=NAME>VALUE</parameter>.
func readTagged(body string) (calls []textCall, ok bool) {
	m := functionTag.FindStringSubmatch(body)
	if m == nil {
		return readObjects(body)
	}
	b := engine.NewObject(4)
	for _, p := range parameterTag.FindAllStringSubmatch(m[2], -1) {
		v := engine.String(p[2])
		if x, err := engine.ParseJSONText(p[2]); err == nil && x.Kind() != engine.KindString {
			v = x
		}
		b.Set(strings.TrimSpace(p[1]), v)
	}
	return []textCall{{strings.TrimSpace(m[1]), b.Value()}}, true
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
		ok = ok && v.Get("name").Str() != ""
		calls = append(calls, textCall{v.Get("name").Str(), args})
	}
	return calls, ok && len(calls) > 0
}

// looseObject reads JSON as models write it.
func looseObject(text string) (v engine.Value, ok bool) {
	v, err := engine.ParseJSONText(text)
	if err != nil {
		v, err = engine.ParseJSON(repaired([]byte(text)))
	}
	return v, err == nil
}
