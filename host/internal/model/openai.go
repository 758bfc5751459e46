package model

import (
	"net/http"

	"github.com/easel-canvas/easel/engine"
)

// openAIDialect is OpenAI's chat completions.
type openAIDialect struct{}

func (openAIDialect) base() string { return "https://api.openai.com/v1" }

func (openAIDialect) address(base, path, _ string, _ bool) string { return base + path }

func (openAIDialect) authorize(h http.Header, key string) { bearer(h, key) }

func bearer(h http.Header, key string) {
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
}

func (openAIDialect) reader(a *response) reader { return &completion{response: a} }

// completion reads a chat completion, streamed or whole.
type completion struct {
	*response
	attached attached
}

func (c *completion) read(d *document) (last bool, err error) {
	choices := d.value.Get("choices")
	choice := choices.At(0)
	if choice.Kind() == engine.KindObject {
		if err := c.choice(choice, d.bare); err != nil {
			return false, err
		}
	}
	if used := chatUsage(d.value.Get("usage")); used != nil {
		c.used = used
	}
	if d.bare && choices.Kind() == engine.KindList && choices.Len() == 0 {
		c.complete = true
	}
	return d.bare && c.complete || c.finish != "" && c.used != nil && choices.Len() == 0, nil
}

// chatUsage reads the usage of a chat completion; nil without one. Servers have one of three names
// for the input from their cache.
func chatUsage(u engine.Value) *engine.Usage {
	cached := u.Get("prompt_tokens_details").Get("cached_tokens")
	for _, name := range [...]string{"prompt_cache_hit_tokens", "cached_tokens"} {
		if cached.IsNull() {
			cached = u.Get(name)
		}
	}
	return usageOf(u.Get("prompt_tokens"), u.Get("completion_tokens"), cached)
}

// choice adds a delta, or a whole message.
func (c *completion) choice(choice engine.Value, bare bool) error {
	delta := choice.Get("delta")
	if delta.Kind() != engine.KindObject {
		delta = choice.Get("message")
		c.complete = c.complete || delta.Kind() == engine.KindObject && (bare || choice.Get("finish_reason").Truthy())
	}
	reason := choice.Get("finish_reason")
	text, reasoning := contentOf(delta.Get("content"))
	if r := thoughtsOf(delta); r != "" {
		reasoning = r
	}
	text += delta.Get("refusal").Str()
	if delta.IsNull() {
		text = choice.Get("text").Str()
	}
	if err := c.marks.thought(reasoning); err != nil {
		return err
	}
	if err := c.say(text); err != nil {
		return err
	}
	if err := c.addCalls(delta, choice.Get("delta").Kind() != engine.KindObject); err != nil {
		return err
	}
	if len(c.request.Tools) > 0 {
		if err := c.attached.add(delta); err != nil {
			return err
		}
	}
	if r := reason.Text(); r != "" && !reason.IsNull() && c.finish == "" {
		c.finish = r
	}
	if c.finish != "" && (c.grace == nil || text+reasoning != "" || delta.Get("tool_calls").Truthy()) {
		c.extend()
	}
	return nil
}

func (c *completion) addCalls(delta engine.Value, whole bool) error {
	if calls := delta.Get("tool_calls"); calls.Truthy() {
		c.open.add(calls, whole)
		if err := c.open.tooMany(); err != nil {
			return err
		}
	}
	if f := delta.Get("function_call"); f.Kind() == engine.KindObject {
		c.legacy.name += f.Get("name").Str()
		c.legacy.arguments.WriteString(argumentsOf(f.Get("arguments")))
	}
	return nil
}

func (c *completion) opaque(extras engine.Value) engine.Value {
	message := c.attached.value()
	if message.Len() == 0 && extras.IsNull() {
		return engine.Null
	}
	return engine.Object("provider", c.provider.config.Label(), "message", message, "calls", extras)
}
