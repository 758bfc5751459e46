package model

import (
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// contentOf returns the text and the reasoning in the content of a message, which is a string,
// null, an object or a list of parts.
func contentOf(v engine.Value) (text, reasoning string) {
	switch v.Kind() {
	case engine.KindString:
		return v.Str(), ""
	case engine.KindList:
		var t, r strings.Builder
		for _, part := range v.Elements() {
			text, reasoning := contentOf(part)
			t.WriteString(text)
			r.WriteString(reasoning)
		}
		return t.String(), r.String()
	case engine.KindObject:
		return partOf(v)
	case engine.KindNull:
		return "", ""
	}
	return v.Text(), "" // a number instead of a string
}

// partOf returns the text or the reasoning of one part of a content.
func partOf(v engine.Value) (text, reasoning string) {
	kind := v.Get("type").Str()
	switch {
	case strings.Contains(kind, "think"), strings.Contains(kind, "reason"):
		return "", reasoningOf(v)
	case strings.HasPrefix(kind, "image"), strings.HasPrefix(kind, "input_"), strings.Contains(kind, "audio"):
		return "", ""
	}
	for _, name := range [...]string{"text", "refusal", "content", "value"} {
		if x := v.Get(name); x.Truthy() {
			return contentOf(x)
		}
	}
	return "", ""
}

// reasoningOf returns the text of reasoning in any form.
func reasoningOf(v engine.Value) string {
	switch v.Kind() {
	case engine.KindString:
		return v.Str()
	case engine.KindList:
		var b strings.Builder
		for _, part := range v.Elements() {
			b.WriteString(reasoningOf(part))
		}
		return b.String()
	case engine.KindObject:
		for _, name := range [...]string{"thinking", "reasoning", "text", "content", "summary"} {
			if x := v.Get(name); x.Truthy() {
				return reasoningOf(x)
			}
		}
	}
	return ""
}

// reasoningMembers are the members of messages with reasoning; the first that is set counts.
var reasoningMembers = [...]string{
	"reasoning_content", "reasoning", "reasoning_text", "thinking", "thought", "thoughts", "thinking_blocks",
	"reasoning_details",
}

// thoughtsOf returns the reasoning in the members of a message.
func thoughtsOf(message engine.Value) string {
	for _, name := range reasoningMembers {
		if text := reasoningOf(message.Get(name)); text != "" {
			return text
		}
	}
	return ""
}
