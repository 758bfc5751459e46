package model

import (
	"regexp"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// Marks around a call that a model without a parser on its server writes as text.
const (
	callOpen  = "<tool_call>"
	callClose = "</tool_call>"
)

// textCalls takes calls out of the text of an answer to a request that offers tools.
type textCalls struct {
	offered []engine.ToolDef
	held    strings.Builder // the start of a mark, or all after one
	inside  bool
	quotes  backticks
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
	if t.inside {
		t.held.WriteString(text)
		return ""
	}
	text = t.held.String() + text
	t.held.Reset()
	sent := 0
	for {
		i := strings.Index(text[sent:], callOpen)
		if i < 0 {
			break
		}
		t.quotes.add(text[sent : sent+i])
		sent += i
		if !t.quotes.quoted() {
			t.inside = true
			t.held.WriteString(text[sent:])
			return text[:sent]
		}
		t.quotes.add(callOpen)
		sent += len(callOpen)
	}
	end := len(text)
	for n := min(len(callOpen)-1, len(text)-sent); n > 0; n-- {
		if strings.HasSuffix(text, callOpen[:n]) {
			end -= n
			break
		}
	}
	t.quotes.add(text[sent:end])
	t.held.WriteString(text[end:])
	return text[:end]
}

// end returns the calls in the held text, and the text that is none. A call between words of its
// line is quoted.
func (t *textCalls) end() (calls []engine.Value, text string) {
	text = t.held.String()
	t.held.Reset()
	if !t.inside {
		return nil, text
	}
	for part := range strings.SplitSeq(text, callOpen) {
		body, after, _ := strings.Cut(part, callClose)
		if after, _, _ = strings.Cut(after, "\n"); t.quotes.words && strings.TrimSpace(after) != "" {
			return nil, text
		}
		if strings.TrimSpace(body) == "" {
			continue
		}
		name, args, ok := readTextCall(strings.TrimSpace(body))
		if !ok || !slices.ContainsFunc(t.offered, func(d engine.ToolDef) bool { return d.Name == name }) {
			return nil, text
		}
		calls = append(calls, engine.Object("function", engine.Object("name", name, "arguments", args)))
	}
	return calls, ""
}

var (
	functionTag  = regexp.MustCompile(`(?s)^<function=([^>]+)>(.*)$`)
	parameterTag = regexp.MustCompile(`(?s)<parameter=([^>]+)>\n?(.*?)\n?</parameter>`)
)

// readTextCall reads {"name", "arguments"}, or <function=NAME><parameter=NAME>VALUE</parameter>.
func readTextCall(body string) (name string, args engine.Value, ok bool) {
	if m := functionTag.FindStringSubmatch(body); m != nil {
		b := engine.NewObject(4)
		for _, p := range parameterTag.FindAllStringSubmatch(m[2], -1) {
			v := engine.String(p[2])
			if x, err := engine.ParseJSONText(p[2]); err == nil && x.Kind() != engine.KindString {
				v = x
			}
			b.Set(strings.TrimSpace(p[1]), v)
		}
		return strings.TrimSpace(m[1]), b.Value(), true
	}
	v, err := engine.ParseJSONText(body)
	if err != nil {
		v, err = engine.ParseJSON(repaired([]byte(body)))
	}
	if err != nil || v.Get("name").Str() == "" {
		return "", engine.Null, false
	}
	args = v.Get("arguments")
	if args.IsNull() {
		args = v.Get("parameters")
	}
	return v.Get("name").Str(), args, true
}
