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
	if i := strings.Index(text, callOpen); i >= 0 {
		t.inside = true
		t.held.WriteString(text[i:])
		return text[:i]
	}
	for n := min(len(callOpen)-1, len(text)); n > 0; n-- {
		if strings.HasSuffix(text, callOpen[:n]) {
			t.held.WriteString(text[len(text)-n:])
			return text[:len(text)-n]
		}
	}
	return text
}

// end returns the calls in the held text, and the text that is none.
func (t *textCalls) end() (calls []engine.Value, text string) {
	text = t.held.String()
	t.held.Reset()
	if !t.inside {
		return nil, text
	}
	for part := range strings.SplitSeq(text, callOpen) {
		body, _, _ := strings.Cut(part, callClose)
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
