package offline

import (
	"slices"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// plan answers a planning call of the prompt protocol: one list of all matching tools that were not
// called yet, then complete_task.
func plan(req *engine.ModelRequest) string {
	var list []engine.Value
	if !observed(req) {
		for _, t := range req.Tools {
			if args, ok := arguments(t, question(req)); ok {
				list = append(list, engine.Object("name", t.Name, "arguments", args))
			}
		}
	}
	if len(list) == 0 {
		text := observations(req)
		if text == "" {
			text = question(req)
		}
		list = append(list, engine.Object("name", engine.PlanDone,
			"arguments", engine.Object("answer", summarize(text, question(req)))))
	}
	return engine.List(list...).Text()
}

// nativeCalls returns the calls of the native protocol, which are made once, in the first round.
func nativeCalls(req *engine.ModelRequest) []engine.ToolCall {
	if req.Purpose == engine.PurposePlan || len(req.Tools) == 0 || observed(req) {
		return nil
	}
	var out []engine.ToolCall
	for _, t := range req.Tools {
		if args, ok := arguments(t, question(req)); ok {
			id := "call_" + strconv.Itoa(len(out))
			out = append(out, engine.ToolCall{ID: id, Name: t.Name, Arguments: args.JSON()})
		}
	}
	return out
}

// observed reports whether tools were already called in this conversation. One round is enough
// because the same question leads to the same calls.
func observed(req *engine.ModelRequest) bool {
	return slices.ContainsFunc(req.Messages, func(m engine.ModelMessage) bool { return calls(&m) })
}

// calls reports whether a message contains tool calls, in either protocol.
func calls(m *engine.ModelMessage) bool {
	if m.Role != "assistant" || len(m.ToolCalls) > 0 {
		return len(m.ToolCalls) > 0
	}
	if !strings.HasPrefix(strings.TrimSpace(m.Content), "[") {
		return false
	}
	v, err := engine.ParseJSONText(m.Content)
	return err == nil && v.At(0).Get("name").Str() != ""
}

// arguments fills a tool's parameters from the question. ok is false if the tool does not match:
// the question lacks a required value, or shares no words with the tool.
func arguments(t engine.ToolDef, ask string) (args engine.Value, ok bool) {
	b := engine.NewObject(4)
	fits := overlap(wordSet(ask), t.Name+" "+t.Description) > 0
	required := map[string]bool{}
	for _, r := range t.Parameters.Get("required").Elements() {
		required[r.Text()] = true
	}
	for name, schema := range t.Parameters.Get("properties").Fields() {
		v, found := argument(name, schema, ask)
		if !found && required[name] {
			return engine.Null, false
		}
		if found && required[name] || found && isQuestion(name) {
			b.Set(name, v)
			fits = fits || isQuestion(name)
		}
	}
	return b.Value(), fits && ask != ""
}

// patterns maps parts of parameter names to the format of their values.
var patterns = [...]struct {
	part string
	find func(string) string
}{
	{"url", findURL},
	{"email", findEmail},
	{"ticker", findTicker},
	{"stock", findTicker},
	{"symbol", findTicker},
	{"date", findDate},
}

// argument finds the value of one parameter in the question.
func argument(name string, schema engine.Value, ask string) (engine.Value, bool) {
	if enum := schema.Get("enum"); enum.Len() > 0 {
		return mentioned(enum, ask), true
	}
	// The default of a question, as sub-agents have it, is only a hint for a language model.
	if d, ok := schema.Lookup("default"); ok && !isQuestion(name) {
		return d, true
	}
	text := ""
	switch schema.Get("type").Text() {
	case "number", "integer":
		v, ok := engine.ParseNumber(findNumber(ask))
		return v, ok
	case "boolean":
		return engine.Bool(false), true
	case "object":
		return engine.Object(), true
	default:
		text = fittingText(strings.ToLower(name), ask)
	}
	if text != "" && schema.Get("type").Text() == "array" {
		return engine.Strings(text), true
	}
	return engine.String(text), text != ""
}

// fittingText returns the part of the question that a string parameter takes, or "" if there is
// none, as for code and SQL.
func fittingText(name, ask string) string {
	for _, p := range patterns {
		if strings.Contains(name, p.part) {
			return p.find(ask)
		}
	}
	for _, hard := range [...]string{"sql", "script", "code", "token", "password", "path", "file", "_id"} {
		if strings.Contains(name, hard) {
			return ""
		}
	}
	return ask
}

// isQuestion reports whether a parameter takes the unchanged question.
func isQuestion(name string) bool {
	for _, part := range [...]string{"query", "question", "prompt", "keyword", "search", "topic"} {
		if strings.Contains(strings.ToLower(name), part) {
			return true
		}
	}
	return false
}

// mentioned returns the enum member that shares the most words with the question, or the first one.
func mentioned(enum engine.Value, ask string) engine.Value {
	want, chosen, highest := wordSet(ask), enum.At(0), 0
	for _, e := range enum.Elements() {
		if n := overlap(want, e.Text()); n > highest {
			chosen, highest = e, n
		}
	}
	return chosen
}
