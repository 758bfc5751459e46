package model

import (
	"net/http"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/model/loose"
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
	deltas   bool // the answer comes in deltas, not in messages
}

func (c *completion) read(d *document) (last bool, err error) {
	choices := d.value.Get("choices")
	if choices.Kind() == engine.KindObject {
		choices = engine.List(choices)
	}
	for i := range choices.Len() {
		choice := choices.At(i)
		// Other answers are not requested; some gateways split one over two choices.
		if n, _ := loose.Number(choice.Get("index")); choice.Kind() != engine.KindObject || n > 0 {
			continue
		}
		if err := c.choice(choice, d.bare); err != nil {
			return false, err
		}
		if c.finish != "" && c.used == nil { // Moonshot's place for it
			c.used = chatUsage(choice.Get("usage"))
		}
	}
	if used := chatUsage(d.value.Get("usage")); used != nil {
		c.used = used
	}
	if d.bare && choices.Kind() == engine.KindList && choices.Len() == 0 {
		c.complete = true
	}
	if d.bare && choices.IsNull() && !d.value.Get("usage").Truthy() {
		c.unread(d)
	}
	return d.bare && c.complete || c.finish != "" && c.used != nil && choices.Len() == 0, nil
}

// chatUsage reads the usage of a chat completion; nil without one. Servers have one of three names
// for the input from their cache.
func chatUsage(u engine.Value) *engine.Usage {
	if u.IsNull() { // as in almost all events of a stream
		return nil
	}
	cached := u.Get("prompt_tokens_details").Get("cached_tokens")
	for _, name := range [...]string{"prompt_cache_hit_tokens", "cached_tokens"} {
		if cached.IsNull() {
			cached = u.Get(name)
		}
	}
	return usageOf(u.Get("prompt_tokens"), u.Get("completion_tokens"), cached)
}

// choice adds a delta, or a whole message. A message after deltas repeats what they had.
func (c *completion) choice(choice engine.Value, bare bool) error {
	delta, message := choice.Get("delta"), choice.Get("message")
	whole := delta.Kind() != engine.KindObject
	if whole {
		delta = message
		c.complete = c.complete || message.Kind() == engine.KindObject && (bare || choice.Get("finish_reason").Truthy())
	}
	text, reasoning := contentOf(delta.Get("content"))
	if r := thoughtsOf(delta); r != "" {
		reasoning = r
	}
	text += delta.Get("refusal").Str()
	if delta.IsNull() {
		text = choice.Get("text").Str()
	}
	calls := callsIn(delta)
	switch {
	case whole && c.deltas && message.Kind() == engine.KindObject:
		text, reasoning = "", ""
		if len(c.open.list) > 0 {
			calls = engine.Null
		}
	case !whole:
		c.deltas = c.deltas || text+reasoning != "" || calls.Truthy()
	}
	if err := c.marks.thought(reasoning); err != nil {
		return err
	}
	if err := c.say(text); err != nil {
		return err
	}
	if err := c.addCalls(delta, calls, whole); err != nil {
		return err
	}
	if len(c.request.Tools) > 0 && (!whole || !c.deltas) {
		if err := c.attached.add(delta); err != nil {
			return err
		}
	}
	if c.finish == "" {
		c.finish = reasonOf(choice.Get("finish_reason"))
	}
	if c.finish != "" && (c.grace == nil || text+reasoning != "" || calls.Truthy()) {
		c.extend()
	}
	return nil
}

// reasonOf returns a finish reason; "" before the end, which some servers write as a word.
func reasonOf(v engine.Value) string {
	if v.IsNull() {
		return ""
	}
	if reason := v.Text(); !strings.EqualFold(reason, "null") && !strings.EqualFold(reason, "none") {
		return reason
	}
	return ""
}

// callsIn returns the calls of a message, a list or a single one; some servers write them as text.
func callsIn(message engine.Value) engine.Value {
	calls := message.Get("tool_calls")
	if calls.Kind() == engine.KindString {
		calls, _ = engine.ParseJSONText(calls.Str())
	}
	return calls
}

func (c *completion) addCalls(delta, calls engine.Value, whole bool) error {
	if calls.Truthy() {
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
