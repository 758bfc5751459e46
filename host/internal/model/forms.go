package model

import (
	"crypto/sha256"
	"encoding/base32"
	"regexp"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// Forms of chat completions that some servers refuse. A lesson has them among the parameters that
// are not sent.
const (
	wholeAnswers  = "requests without a stream"
	systemRole    = "messages of role system"
	neighbours    = "messages of one role in succession"
	nullContent   = "content null"
	longIDs       = "ids of calls other than 9 letters and digits"
	bareReasoning = "calls without reasoning_content"
)

// form is a form of a request with the words of servers that refuse it.
type form struct {
	name  string
	words *regexp.Regexp
	in    func(body engine.Value) bool // the request has it
}

var forms = []form{
	{wholeAnswers, regexp.MustCompile(`(?i)\bonly supports? stream|support(ed)? when .?stream ?= ?false|` +
		`non-streaming (calls|requests?|mode)|must be (used with|set) .?stream ?= ?true`), isWhole},
	{systemRole, regexp.MustCompile(`(?i)system (role|message|prompt)s?[^.;]{0,30}\bnot\b|` +
		`\bnot\b[^.;]{0,30}(\brole system\b|['"\x60]system['"\x60])|roles? are supported, got system|` +
		`developer instruction is not enabled`), hasSystem},
	{neighbours, regexp.MustCompile(`(?i)roles? must alternate|must alternate (between|user)|` +
		`consecutive (user|messages)|should alternate`), hasNeighbours},
	{nullContent, regexp.MustCompile(`(?i)\bcontent\b.{0,80}(valid string|got None|got null|\bnull\b|NoneType|` +
		`is required|missing)`), hasNull},
	{longIDs, regexp.MustCompile(`(?i)tool[_ ]?call[_ ]?id.{0,80}length of 9`), hasCalls},
	{
		bareReasoning, regexp.MustCompile(`(?i)reasoning_content.{0,20}(is )?missing|missing.{0,20}reasoning_content`),
		hasCalls,
	},
}

func isWhole(body engine.Value) bool { return !body.Get("stream").True() }

func hasSystem(body engine.Value) bool {
	return anyMessage(body, func(m engine.Value) bool { return m.Get("role").Str() == "system" })
}

func hasNeighbours(body engine.Value) bool {
	last := ""
	return anyMessage(body, func(m engine.Value) bool {
		role := m.Get("role").Str()
		same := role == last && role != "tool"
		last = role
		return same
	})
}

func hasNull(body engine.Value) bool {
	return anyMessage(body, func(m engine.Value) bool { return m.Get("content").IsNull() })
}

func hasCalls(body engine.Value) bool {
	return anyMessage(body, func(m engine.Value) bool { return m.Get("tool_calls").Truthy() })
}

func anyMessage(body engine.Value, is func(engine.Value) bool) bool {
	return slices.ContainsFunc(body.Get("messages").Slice(), is)
}

// reform adds the form that a refusal names to what is not sent, and describes the change; "" if it
// names none that the request has.
func (l *Lesson) reform(body engine.Value, text string) string {
	for _, f := range forms {
		if !l.drops(f.name) && f.words.MatchString(text) && f.in(body) {
			l.Drop = append(slices.Clone(l.Drop), f.name)
			return f.name + " are not sent"
		}
	}
	return ""
}

// formed returns a chat completion without the forms that its server refuses.
func (l *Lesson) formed(body engine.Value) engine.Value {
	if l.drops(wholeAnswers) && !body.Get("stream").True() {
		body = body.With("stream", engine.Bool(true))
		if !l.drops("stream_options") {
			body = body.With("stream_options", engine.Object("include_usage", engine.Bool(true)))
		}
	}
	if !l.drops(systemRole) && !l.drops(neighbours) && !l.drops(nullContent) && !l.drops(longIDs) &&
		!l.drops(bareReasoning) {
		return body
	}
	var out []engine.Value
	system := ""
	for _, m := range body.Get("messages").Elements() {
		role := m.Get("role").Str()
		if l.drops(systemRole) && role == "system" {
			system = joined(system, m.Get("content").Text())
			continue
		}
		if system != "" && role == "user" {
			m, system = prepended(m, system), ""
		}
		m = l.plainMessage(m)
		if n := len(out); l.drops(neighbours) && n > 0 && role != "tool" && out[n-1].Get("role").Str() == role {
			out[n-1] = mergedMessage(out[n-1], m)
			continue
		}
		out = append(out, m)
	}
	if system != "" { // nothing of the user follows
		out = append([]engine.Value{engine.Object("role", "user", "content", system)}, out...)
	}
	return body.With("messages", engine.List(out...))
}

// plainMessage returns a message without what a server refuses in it.
func (l *Lesson) plainMessage(m engine.Value) engine.Value {
	if l.drops(nullContent) && m.Get("content").IsNull() {
		m = m.With("content", engine.String(""))
	}
	calls := m.Get("tool_calls")
	if l.drops(bareReasoning) && calls.Truthy() && !m.Get("reasoning_content").Truthy() {
		m = m.With("reasoning_content", engine.String(" "))
	}
	if !l.drops(longIDs) {
		return m
	}
	if id := m.Get("tool_call_id"); !id.IsNull() {
		m = m.With("tool_call_id", engine.String(shortID(id.Str())))
	}
	if calls.Truthy() {
		list := calls.Slice()
		for i, c := range list {
			list[i] = c.With("id", engine.String(shortID(c.Get("id").Str())))
		}
		m = m.With("tool_calls", engine.List(list...))
	}
	return m
}

var nineCharacters = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)

// shortID returns an id of 9 letters and digits, the same for the same id.
func shortID(id string) string {
	if nineCharacters.MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return base32.StdEncoding.EncodeToString(sum[:])[:9]
}

func joined(a, b string) string { return strings.TrimPrefix(a+"\n\n"+b, "\n\n") }

// prepended returns a message with a text before its own.
func prepended(m engine.Value, text string) engine.Value {
	content := m.Get("content")
	if content.Kind() == engine.KindList {
		parts := append([]engine.Value{engine.Object("type", "text", "text", text)}, content.Slice()...)
		return m.With("content", engine.List(parts...))
	}
	return m.With("content", engine.String(joined(text, content.Text())))
}

// mergedMessage returns one message for two of the same role.
func mergedMessage(a, b engine.Value) engine.Value {
	text, _ := contentOf(a.Get("content"))
	switch {
	case a.Get("content").Kind() == engine.KindList:
		parts := append(a.Get("content").Slice(), b.Get("content").Slice()...)
		if b.Get("content").Kind() == engine.KindString {
			parts = append(parts, engine.Object("type", "text", "text", b.Get("content")))
		}
		b = b.With("content", engine.List(parts...))
	case text != "":
		b = prepended(b, text)
	}
	if calls := a.Get("tool_calls"); calls.Truthy() {
		b = b.With("tool_calls", engine.List(append(calls.Slice(), b.Get("tool_calls").Slice()...)...))
	}
	return b
}
