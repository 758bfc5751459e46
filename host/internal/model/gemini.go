package model

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// geminiDialect is Google's generateContent, of the Gemini API and of Vertex AI.
//
// Source: the types of google.golang.org/genai 1.77.
type geminiDialect struct{}

func (geminiDialect) base() string { return "https://generativelanguage.googleapis.com" }

// withVersion matches a base URL that has a version.
var withVersion = regexp.MustCompile(`/v\d+[a-z0-9]*(/|$)`)

func (geminiDialect) address(base, _, model string, stream bool) string {
	base = trimmed(base, "/openai", "/models")
	if !withVersion.MatchString(base) {
		base += "/v1beta"
	}
	if !strings.Contains(model, "/") {
		model = "models/" + model
	}
	model = strings.ReplaceAll(url.PathEscape(model), "%2F", "/")
	if stream {
		return base + "/" + model + ":streamGenerateContent?alt=sse"
	}
	return base + "/" + model + ":generateContent"
}

func (geminiDialect) authorize(h http.Header, key string) {
	if key != "" {
		h.Set("X-Goog-Api-Key", key)
	}
}

func (geminiDialect) reader(a *response) reader { return &geminiAnswer{response: a} }

func (geminiDialect) request(c *call) engine.Value {
	turns := turnsOf(c.request)
	contents := make([]engine.Value, len(turns))
	for i := range turns {
		if len(turns[i].asked) > 0 {
			contents[i] = geminiModel(c, &turns[i])
		} else {
			contents[i] = geminiUser(&turns[i], geminiIDs(c, turns[:i]))
		}
	}
	b := engine.NewObject(4).Set("contents", engine.List(contents...))
	if s := c.request.System; strings.TrimSpace(s) != "" {
		b.Set("systemInstruction", engine.Object("parts", engine.List(engine.Object("text", s))))
	}
	if c.offers() {
		b.Set("tools", engine.List(engine.Object("functionDeclarations", engine.List(geminiTools(c.request.Tools)...))))
	}
	if config := geminiConfig(c); config.Len() > 0 {
		b.Set("generationConfig", config)
	}
	return b.Value()
}

func geminiTools(defs []engine.ToolDef) []engine.Value {
	list := make([]engine.Value, len(defs))
	for i, d := range defs {
		f := engine.NewObject(3).Set("name", engine.String(d.Name))
		if d.Description != "" {
			f.Set("description", engine.String(d.Description))
		}
		if schema := plainSchema(d.Parameters); schema.Get("properties").Len() > 0 { // an empty one is refused
			f.Set("parametersJsonSchema", schema)
		}
		list[i] = f.Value()
	}
	return list
}

func geminiConfig(c *call) engine.Value {
	b := engine.NewObject(8)
	c.sampling(b, "topP")
	c.penalties(b, "presencePenalty", "frequencyPenalty")
	if n := c.request.Config.MaxTokens; n != nil && *n > 0 && c.takes("max_output_tokens") {
		b.Set("maxOutputTokens", engine.Int(int64(*n)))
	}
	if stops := c.stops(); stops != nil {
		b.Set("stopSequences", engine.Strings(stops...))
	}
	if schema, ok := c.schema(); ok && c.takes("response_format") {
		b.Set("responseMimeType", engine.String("application/json")).Set("responseJsonSchema", plainSchema(schema))
	}
	if v := geminiThinking(c.model, c.request.Config.Thinking); v.Len() > 0 && c.takes("thinking") {
		b.Set("thinkingConfig", v)
	}
	return b.Value()
}

// budgetGemini are the models that think within a budget of tokens; newer ones have levels.
var budgetGemini = regexp.MustCompile(`gemini-(1|2)`)

// geminiBudgets are the tokens of thinking by effort; -1 leaves them to the model.
var geminiBudgets = map[string]int{
	"none": 0, "minimal": 512, "low": 1024, "medium": 8192, "high": 24_576, "xhigh": 24_576, "max": 24_576,
}

// geminiLevels are the levels of thinking by effort. A model of levels cannot be kept from
// thinking.
var geminiLevels = map[string]string{
	"none": "minimal", "minimal": "minimal", "low": "low", "medium": "medium", "high": "high", "xhigh": "high",
	"max": "high",
}

// geminiThinking returns how much a model thinks; empty if that is left to it.
func geminiThinking(model, effort string) engine.Value {
	switch effort {
	case "":
		return engine.Object()
	case "disabled", "false", "off":
		effort = "none"
	}
	b := engine.NewObject(2)
	if budgetGemini.MatchString(model) {
		budget, named := geminiBudgets[effort]
		if !named {
			budget = -1
		}
		b.Set("thinkingBudget", engine.Int(int64(budget)))
	} else if level := geminiLevels[effort]; level != "" {
		b.Set("thinkingLevel", engine.String(level))
	}
	if effort != "none" {
		b.Set("includeThoughts", engine.Bool(true))
	}
	return b.Value()
}

func geminiModel(c *call, t *turn) engine.Value {
	var parts []engine.Value
	for _, m := range t.asked {
		parts = append(parts, geminiParts(c, m)...)
	}
	return engine.Object("role", "model", "parts", engine.List(parts...))
}

// geminiUser returns a turn of the user; ids are those that the server gave to the calls before it.
func geminiUser(t *turn, ids []string) engine.Value {
	var parts []engine.Value
	for _, r := range t.results {
		f := engine.NewObject(3)
		if id := ids[r.place]; id != "" {
			f.Set("id", engine.String(id))
		}
		f.Set("name", engine.String(r.call.Name)).Set("response", engine.Object("output", r.content))
		parts = append(parts, engine.Object("functionResponse", f.Value()))
	}
	for _, image := range t.images {
		parts = append(parts, geminiFile(image))
	}
	for _, text := range t.texts {
		parts = append(parts, engine.Object("text", text))
	}
	return engine.Object("role", "user", "parts", engine.List(parts...))
}

// geminiIDs returns the ids of the calls of the last turn by their places; "" for calls to which
// the server gave none.
func geminiIDs(c *call, before []turn) (ids []string) {
	if len(before) == 0 {
		return nil
	}
	for _, m := range before[len(before)-1].asked {
		first := len(ids)
		for _, v := range c.kept(m, Gemini).Get("parts").Elements() {
			if f := v.Get("functionCall"); !f.IsNull() {
				ids = append(ids, f.Get("id").Str())
			}
		}
		ids = append(ids, make([]string, len(m.ToolCalls))...)[:first+len(m.ToolCalls)]
	}
	return ids
}

func geminiFile(address string) engine.Value {
	m := mediaOf(address)
	if m.url != "" {
		return engine.Object("fileData", engine.Object("fileUri", m.url))
	}
	return engine.Object("inlineData", engine.Object("mimeType", m.kind, "data", m.data))
}

// foreignCall stands for the signature of a call that another provider made: newer models refuse
// the calls of a round without one.
// It is skip_thought_signature_validator in base64.
const foreignCall = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="

// geminiParts returns the parts of a message of the model: those that the server sent, with the
// calls in their places, or its text and its calls.
func geminiParts(c *call, m *engine.ModelMessage) (parts []engine.Value) {
	calls := m.ToolCalls
	kept := c.kept(m, Gemini).Get("parts")
	if kept.Len() == 0 {
		if m.Content != "" {
			parts = append(parts, engine.Object("text", m.Content))
		}
		for i := range calls {
			part := engine.Object("functionCall", functionCall(&calls[i]))
			if i == 0 && !budgetGemini.MatchString(c.model) && c.takes("thought_signature") {
				part = part.With("thoughtSignature", engine.String(foreignCall))
			}
			parts = append(parts, part)
		}
		return parts
	}
	for _, v := range kept.Elements() {
		if place := v.Get("functionCall"); !place.IsNull() {
			if len(calls) == 0 {
				continue
			}
			v = v.With("functionCall", merged(functionCall(&calls[0]), place))
			calls = calls[1:]
		}
		parts = append(parts, v)
	}
	for i := range calls {
		parts = append(parts, engine.Object("functionCall", functionCall(&calls[i])))
	}
	return parts
}

func functionCall(c *engine.ToolCall) engine.Value {
	return engine.Object("name", c.Name, "args", argumentsValue(c))
}
