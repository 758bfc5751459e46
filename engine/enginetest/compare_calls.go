package enginetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// calls compares the model calls of a run, in order or in any order.
func (d *differences) calls(want, seen engine.Value, unordered bool, where string) {
	if want.Len() != seen.Len() {
		d.add("%s: expected %d model calls, saw %d", where, want.Len(), seen.Len())
		return
	}
	if !unordered {
		for i, w := range want.Elements() {
			d.call(w, seen.At(i), fmt.Sprintf("%s: model call %d", where, i))
		}
		return
	}
	left := slices.Collect(elements(seen))
	for i, w := range want.Elements() {
		fits := slices.IndexFunc(left, func(s engine.Value) bool {
			var x differences
			x.call(w, s, "")
			return len(x) == 0
		})
		if fits < 0 {
			d.add("%s: model call %d (any order): no call fits", where, i)
			continue
		}
		left = slices.Delete(left, fits, fits+1)
	}
}

func elements(v engine.Value) func(yield func(engine.Value) bool) {
	return func(yield func(engine.Value) bool) {
		for _, e := range v.Elements() {
			if !yield(e) {
				return
			}
		}
	}
}

func (d *differences) call(want, seen engine.Value, where string) {
	if kind := want.Get("kind"); kind.Truthy() && !engine.Equal(kind, seen.Get("kind")) {
		d.add("%s.kind: expected %s, saw %s", where, short(kind), short(seen.Get("kind")))
	}
	if model, ok := want.Lookup("model"); ok {
		d.value(model, seen.Get("model"), where+".model")
	}
	system, messages := callParts(seen)
	if w, ok := want.Lookup("system"); ok {
		d.value(w, engine.String(system), where+".system")
	}
	if w, ok := want.Lookup("messages"); ok {
		d.messages(joinRoles(slices.Collect(elements(w))), joinRoles(messages), where)
	}
	whole := system
	for _, m := range messages {
		whole += "\n" + m.Get("content").Text()
	}
	for _, w := range want.Get("mentions").Elements() {
		if !strings.Contains(whole, w.Text()) {
			d.add("%s: expected to mention %q", where, w.Text())
		}
	}
	for _, w := range want.Get("lacks").Elements() {
		if strings.Contains(whole, w.Text()) {
			d.add("%s: expected not to mention %q", where, w.Text())
		}
	}
	if conf, ok := want.Lookup("gen_conf"); ok {
		got := seen.Get("gen_conf").Without("stop")
		if got.IsNull() {
			got = engine.Object()
		}
		d.value(conf, got, where+".gen_conf")
	}
}

func (d *differences) messages(want, seen []spoken, where string) {
	w, s := roles(want), roles(seen)
	if !slices.Equal(w, s) {
		d.add("%s.messages: expected roles %v, saw %v", where, w, s)
		return
	}
	for i := range want {
		d.value(want[i].content, seen[i].content, fmt.Sprintf("%s.messages[%d]", where, i))
	}
}

// callParts takes the system text out of a call, from its own member or from messages of that role.
// The contents of the other messages become texts.
func callParts(call engine.Value) (system string, messages []engine.Value) {
	var lead []string
	for m := range elements(call.Get("messages")) {
		text := m.Get("content").Text()
		if m.Get("role").Str() == "system" {
			lead = append(lead, text)
			continue
		}
		messages = append(messages, engine.Object("role", m.Get("role"), "content", text))
	}
	if system = call.Get("system").Text(); system == "" {
		system = strings.Join(lead, "\n")
	}
	return system, messages
}

// spoken is the consecutive text of one role.
type spoken struct {
	role    string
	content engine.Value
}

func roles(list []spoken) []string {
	out := make([]string, len(list))
	for i := range list {
		out[i] = list[i].role
	}
	return out
}

// joinRoles joins neighbouring messages of one role by a newline; a matcher among them becomes one
// that requires the words of all.
func joinRoles(messages []engine.Value) []spoken {
	var out []spoken
	for _, m := range messages {
		role, content := m.Get("role").Text(), m.Get("content")
		if len(out) == 0 || out[len(out)-1].role != role {
			out = append(out, spoken{role, content})
			continue
		}
		last := &out[len(out)-1]
		if last.content.Kind() == engine.KindString && content.Kind() == engine.KindString {
			last.content = engine.String(last.content.Str() + "\n" + content.Str())
			continue
		}
		words := engine.List()
		for _, v := range [...]engine.Value{last.content, content} {
			if v.Kind() == engine.KindString {
				words = words.Append(v)
			}
			for _, w := range v.Get("$contains").Elements() {
				words = words.Append(w)
			}
		}
		last.content = engine.Object("$contains", words)
	}
	return out
}

// pseudoTools are steps of an agent that older traces list among the tools.
var pseudoTools = []string{"analyze_task", "reflection", "Multi-turn conversation optimization", "gen_citations"}

// flatTrace lists tool calls one by one, for any form of trace.
func flatTrace(trace engine.Value) []engine.Value {
	var out []engine.Value
	for e := range elements(trace) {
		steps, nested := e.Lookup("trace")
		if !nested {
			steps = engine.List(e)
		}
		for s := range elements(steps) {
			if slices.Contains(pseudoTools, s.Get("tool_name").Str()) {
				continue
			}
			out = append(out, engine.Object(
				"component_id", e.Get("component_id"), "path", s.Get("path"), "tool_name", s.Get("tool_name"),
				"arguments", s.Get("arguments"), "result", s.Get("result")))
		}
	}
	return out
}

// traces compares tool calls in any order.
func (d *differences) traces(want, seen engine.Value, where string) {
	left := flatTrace(seen)
	for _, w := range flatTrace(want) {
		fits := slices.IndexFunc(left, func(s engine.Value) bool {
			var x differences
			x.value(w, s, "")
			return len(x) == 0
		})
		if fits < 0 {
			d.add("%s: tool trace: no entry fits %s", where, short(w))
			continue
		}
		left = slices.Delete(left, fits, fits+1)
	}
	for _, s := range left {
		d.add("%s: tool trace: entry too many: %s", where, short(s))
	}
}
