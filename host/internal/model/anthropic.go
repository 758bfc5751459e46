package model

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// anthropicDialect is Anthropic's Messages.
//
// Source: the types of anthropic-sdk-go 1.84.
type anthropicDialect struct{}

const (
	anthropicVersion = "2023-06-01"
	// anthropicTokens is max_tokens, which the server requires, of a call without a limit.
	anthropicTokens = 16_000
	// oldTokens is the smallest limit of models before Claude 3.7.
	oldTokens = 4096
)

func (anthropicDialect) base() string { return "https://api.anthropic.com" }

func (anthropicDialect) address(base, _, _ string, _ bool) string {
	return trimmed(base, "/messages", "/v1") + "/v1/messages"
}

func (anthropicDialect) authorize(h http.Header, key string) {
	h.Set("Anthropic-Version", anthropicVersion)
	if key != "" {
		h.Set("X-Api-Key", key)
	}
}

func (anthropicDialect) reader(a *response) reader {
	return &anthropicAnswer{response: a, begun: map[int64]*anthropicBlock{}}
}

var (
	// oldClaude are the models before Claude 3.7, which do not think.
	oldClaude = regexp.MustCompile(`claude-(2|instant|3-(5-)?(opus|sonnet|haiku))`)
	// budgetClaude are the models that think within a budget of tokens; newer ones decide
	// themselves.
	budgetClaude = regexp.MustCompile(`claude-(3-7|(opus|sonnet|haiku)-4(-[0-5])?([-@]\d{8})?(-v\d.*)?$)`)
)

func (anthropicDialect) request(c *call) engine.Value {
	b := engine.NewObject(12).Set("model", engine.String(c.model))
	turns := turnsOf(c.request)
	messages := make([]engine.Value, 0, len(turns)+1)
	for i := range turns {
		messages = append(messages, anthropicMessage(c, &turns[i]))
	}
	if len(c.more) > 0 {
		messages = append(messages, engine.Object("role", "assistant", "content", engine.List(c.more...)))
	}
	b.Set("messages", engine.List(messages...))
	anthropicPrefix(c, b)
	if c.request.Stream {
		b.Set("stream", engine.Bool(true))
	}
	if stops := c.stops(); stops != nil {
		b.Set("stop_sequences", engine.Strings(stops...))
	}
	limit := anthropicTokens
	if oldClaude.MatchString(c.model) {
		limit = oldTokens
	}
	if n := c.request.Config.MaxTokens; n != nil && *n > 0 {
		limit = *n
	}
	limit = anthropicThinking(c, b, limit, turns)
	if most := c.learned.MaxTokens; most > 0 {
		limit = min(limit, most)
	}
	c.sent = append(c.sent, requiredLimit)
	return b.Set("max_tokens", engine.Int(int64(limit))).Value()
}

// anthropicPrefix sets the system prompt and the tools. With tools the calls of a node share both,
// so that they are cached: each round of an agent sends them again.
func anthropicPrefix(c *call, b *engine.ObjectBuilder) {
	cached := func(v engine.Value) engine.Value { return v }
	if c.offers() && c.takes("cache_control") {
		cached = func(v engine.Value) engine.Value {
			return v.With("cache_control", engine.Object("type", "ephemeral"))
		}
	}
	system := strings.TrimSpace(c.request.System) != ""
	if c.offers() {
		defs := c.request.Tools
		list := make([]engine.Value, len(defs))
		for i, d := range defs {
			tool := engine.NewObject(4).Set("name", engine.String(d.Name))
			if d.Description != "" {
				tool.Set("description", engine.String(d.Description))
			}
			list[i] = tool.Set("input_schema", plainSchema(d.Parameters)).Value()
		}
		if !system { // tools precede the system prompt
			list[len(list)-1] = cached(list[len(list)-1])
		}
		b.Set("tools", engine.List(list...))
	}
	if system {
		b.Set("system", engine.List(cached(engine.Object("type", "text", "text", c.request.System))))
	}
}

// anthropicBudgets are the tokens of thinking by effort.
var anthropicBudgets = map[string]int{
	"minimal": 1024, "low": 2048, "medium": 8192, "high": 16_384, "xhigh": 24_576, "max": 32_000,
}

// anthropicThinking sets thinking, sampling and the form of the answer, and returns the limit of
// tokens: a budget of thinking is added to it. A model that thinks refuses sampling parameters.
func anthropicThinking(c *call, b *engine.ObjectBuilder, limit int, turns []turn) int {
	output := engine.NewObject(2)
	thinks := false
	switch effort := c.request.Config.Thinking; effort {
	case "":
	case "none", "disabled", "false", "off":
		if !oldClaude.MatchString(c.model) && c.takes("thinking") {
			b.Set("thinking", engine.Object("type", "disabled"))
		}
	default:
		thought := func(m *engine.ModelMessage) bool {
			return c.kept(m, Anthropic).Get("content").At(0).Get("type").Str() != ""
		}
		if thinkingFits(c, turns, thought) {
			limit, thinks = anthropicEffort(c, b, output, limit)
		}
	}
	if schema, ok := c.schema(); ok && c.takes("response_format") {
		output.Set("format", engine.Object("type", "json_schema", "schema", closedSchema(plainSchema(schema))))
	}
	if v := output.Value(); v.Len() > 0 {
		b.Set("output_config", v)
	}
	if !thinks {
		c.sampling(b, "top_p")
	}
	return limit
}

// anthropicEffort sets how much the model thinks and returns the limit of tokens with those of
// thinking; ok is false if the server refuses each way.
func anthropicEffort(c *call, b, output *engine.ObjectBuilder, limit int) (tokens int, ok bool) {
	effort := c.request.Config.Thinking
	budget, named := anthropicBudgets[effort]
	if !named {
		budget = anthropicBudgets["medium"]
	}
	tokens = limit + budget
	if most := c.learned.MaxTokens; most > 0 && tokens > most {
		tokens, budget = most, max(anthropicBudgets["minimal"], min(budget, most/2))
	}
	withBudget := budgetClaude.MatchString(c.model)
	if c.learned.drops("thinking_budget") || c.learned.drops("adaptive_thinking") {
		withBudget = !c.learned.drops("thinking_budget")
	}
	switch {
	case withBudget && c.takes("thinking_budget"):
		b.Set("thinking", engine.Object("type", "enabled", "budget_tokens", budget))
	case !withBudget && c.takes("adaptive_thinking"):
		b.Set("thinking", engine.Object("type", "adaptive", "display", "summarized"))
		if effort == "minimal" {
			effort = "low"
		}
		if named && c.takes("effort") {
			output.Set("effort", engine.String(effort))
		}
	default:
		return limit, false
	}
	return tokens, true
}

// thinkingFits reports whether the model may think: the server refuses that if the calls of the
// current round were made without, such as by another provider. thought reports whether a message
// has the reasoning of this one.
func thinkingFits(c *call, turns []turn, thought func(*engine.ModelMessage) bool) bool {
	if oldClaude.MatchString(c.model) {
		return false
	}
	for _, t := range slices.Backward(turns) {
		switch {
		case len(t.asked) == 0 && len(t.results) == 0:
			return true
		case len(t.asked) == 0:
		case !thought(t.asked[0]):
			return false
		}
	}
	return true
}

// closedSchema returns a schema as the server takes it: objects have no other members, and there
// are no limits of numbers and lengths, which are checked later.
func closedSchema(s engine.Value) engine.Value {
	switch s.Kind() {
	case engine.KindList:
		list := s.Slice()
		for i, v := range list {
			list[i] = closedSchema(v)
		}
		return engine.List(list...)
	case engine.KindObject:
	default:
		return s
	}
	b := engine.NewObject(s.Len() + 1)
	for name, v := range s.Fields() {
		switch name {
		case "properties", "$defs", "definitions":
			inner := engine.NewObject(v.Len())
			for key, x := range v.Fields() {
				inner.Set(key, closedSchema(x))
			}
			b.Set(name, inner.Value())
		case "items", "anyOf", "allOf", "oneOf":
			b.Set(name, closedSchema(v))
		case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
			"minItems", "maxItems", "uniqueItems", "additionalProperties":
		default:
			b.Set(name, v)
		}
	}
	if s.Get("properties").Kind() == engine.KindObject || s.Get("type").Str() == "object" {
		b.Set("additionalProperties", engine.Bool(false))
	}
	return b.Value()
}

// anthropicMessage returns a turn as a message.
func anthropicMessage(c *call, t *turn) engine.Value {
	var content []engine.Value
	for _, m := range t.asked {
		content = append(content, anthropicBlocks(c, m)...)
	}
	if len(t.asked) > 0 {
		return engine.Object("role", "assistant", "content", engine.List(content...))
	}
	for _, r := range t.results {
		result := engine.NewObject(3).Set("type", engine.String("tool_result")).
			Set("tool_use_id", engine.String(r.call.ID))
		if strings.TrimSpace(r.content) != "" {
			result.Set("content", engine.List(engine.Object("type", "text", "text", r.content)))
		}
		content = append(content, result.Value())
	}
	for _, image := range t.images {
		content = append(content, anthropicImage(image))
	}
	for _, text := range t.texts {
		content = append(content, engine.Object("type", "text", "text", text))
	}
	return engine.Object("role", "user", "content", engine.List(content...))
}

// anthropicBlocks returns the blocks of a message of the model: those that the server sent, with
// the calls in their places, or its text and its calls.
func anthropicBlocks(c *call, m *engine.ModelMessage) []engine.Value {
	text := func(text string) engine.Value { return engine.Object("type", "text", "text", text) }
	isCall := func(v engine.Value) bool { return v.Get("type").Str() == "tool_use" }
	return blocksOf(m, c.kept(m, Anthropic).Get("content"), text, isCall, func(call *engine.ToolCall) engine.Value {
		return engine.Object("type", "tool_use", "id", call.ID, "name", call.Name, "input", argumentsValue(call))
	})
}

func anthropicImage(address string) engine.Value {
	m := mediaOf(address)
	source := engine.Object("type", "base64", "media_type", m.kind, "data", m.data)
	if m.url != "" {
		source = engine.Object("type", "url", "url", m.url)
	}
	kind := "image"
	if m.kind == "application/pdf" {
		kind = "document"
	}
	return engine.Object("type", kind, "source", source)
}
