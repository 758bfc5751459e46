package memories

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
)

// mostExtracted bounds the messages of one kind that are extracted from an exchange.
const mostExtracted = 5

// about describes each extracted kind.
var about = map[string]string{
	Semantic: "facts and definitions that stay true: what the user or the agent stated about the world, the " +
		"user, or things",
	Episodic:   "events: what happened, to whom and when, plans and appointments included",
	Procedural: "procedures: how something is done, step by step, with its conditions",
}

// extractionPrompt requests the content of an exchange.
func extractionPrompt(kinds []string) string {
	var b strings.Builder
	b.WriteString("You extract what is worth remembering from a conversation between a user and an agent. Look for:\n")
	for _, k := range kinds {
		b.WriteString("- " + k + ": " + about[k] + "\n")
	}
	fmt.Fprintf(&b, `
Answer with one JSON object and nothing else. It has a member for each kind above,
each a list of at most %d objects {"content", "valid_at", "invalid_at"}:
- content: one sentence that is understood without the conversation, in its language.
- valid_at: since when it is true, in ISO 8601; the time of the conversation when nothing else is said.
- invalid_at: when it ends or ended, in ISO 8601, or "" when it does not.
A kind without anything worth remembering has an empty list. Do not invent anything.`, mostExtracted)
	return b.String()
}

// extract lets a model extract messages of the kinds of a memory. Their source message is the first
// of the list they are added with.
func extract(ctx context.Context, m engine.Model, s *Settings, exchange string, now time.Time) ([]Message, error) {
	kinds := s.extracted()
	if len(kinds) == 0 {
		return nil, nil
	}
	at := now.UTC().Format(time.RFC3339)
	prompt := fmt.Sprintf("Conversation:\n%s\n\nTime of the conversation: %s", exchange, at)
	if s.UserPrompt != "" {
		prompt = s.UserPrompt + "\n\n" + prompt
	}
	req := &engine.ModelRequest{
		LLM: s.LLM, Purpose: engine.PurposeStructured, System: s.Prompt(), Schema: extractionSchema(kinds),
		Messages: []engine.ModelMessage{{Role: "user", Content: prompt}},
		Config:   engine.ModelConfig{Temperature: &s.Temperature},
	}
	var text strings.Builder
	for piece, err := range m.Generate(ctx, req) {
		if err != nil {
			return nil, fmt.Errorf("extraction: %w", err)
		}
		text.WriteString(piece.Text)
	}
	found, err := readExtracted(text.String())
	if err != nil {
		return nil, fmt.Errorf("extraction: %w", err)
	}
	return extracted(found, kinds, now), nil
}

func extractionSchema(kinds []string) engine.Value {
	text := engine.Object("type", "string")
	item := engine.Object("type", "object", "required", engine.Strings("content"),
		"properties", engine.Object("content", text, "valid_at", text, "invalid_at", text))
	properties := engine.NewObject(len(kinds))
	for _, k := range kinds {
		properties.Set(k, engine.Object("type", "array", "items", item))
	}
	return engine.Object("type", "object", "properties", properties.Value())
}

// readExtracted finds the JSON object in an answer that may have reasoning or a code fence around
// it.
func readExtracted(text string) (engine.Value, error) {
	if _, after, ok := strings.Cut(text, "</think>"); ok {
		text = after
	}
	from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if from < 0 || to < from {
		return engine.Null, fmt.Errorf("the answer %.60q is not a JSON object", text)
	}
	v, err := engine.ParseJSONText(text[from : to+1])
	if err != nil {
		return engine.Null, fmt.Errorf("the answer %.60q is not a JSON object: %w", text, err)
	}
	return v, nil
}

// extracted returns the messages of an answer, kinds in their order.
func extracted(v engine.Value, kinds []string, now time.Time) []Message {
	var out []Message
	for _, kind := range kinds {
		n := 0
		for _, item := range v.Get(kind).Elements() {
			content := strings.TrimSpace(item.Get("content").Str())
			if content == "" || n == mostExtracted {
				continue
			}
			n++
			m := Message{Kind: kind, Source: -1, Content: content, ValidAt: now.UnixMilli()}
			if at, ok := readTime(item.Get("valid_at").Str()); ok {
				m.ValidAt = at.UnixMilli()
			}
			if at, ok := readTime(item.Get("invalid_at").Str()); ok {
				m.InvalidAt = at.UnixMilli()
			}
			out = append(out, m)
		}
	}
	return out
}

// readTime reads the forms of ISO 8601 that models write; a time without a zone is UTC.
func readTime(text string) (time.Time, bool) {
	for _, form := range []string{
		time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", time.DateOnly,
	} {
		if at, err := time.Parse(form, strings.TrimSpace(text)); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}
