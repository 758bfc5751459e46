package model

import (
	"net/http"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// responsesDialect is OpenAI's Responses, without a state on the server: each request has the whole
// conversation, and reasoning goes back encrypted.
//
// Source: the types of openai-go 3.
type responsesDialect struct{}

func (responsesDialect) base() string { return openAIDialect{}.base() }

func (responsesDialect) address(base, path, _ string, _ bool) string {
	if path == chatPath {
		path = "/responses"
	}
	return base + path
}

func (responsesDialect) authorize(h http.Header, key string) { bearer(h, key) }

func (responsesDialect) reader(a *response) reader {
	return &responsesAnswer{response: a, begun: map[string]*responseItem{}, ids: map[string]bool{}}
}

func (responsesDialect) request(c *call) engine.Value {
	req := c.request
	b := engine.NewObject(12).Set("model", engine.String(c.model)).Set("input", engine.List(responsesInput(c)...)).
		Set("store", engine.Bool(false))
	if strings.TrimSpace(req.System) != "" {
		b.Set("instructions", engine.String(req.System))
	}
	if req.Stream {
		b.Set("stream", engine.Bool(true))
	}
	if c.offers() {
		b.Set("tools", engine.List(responsesTools(req.Tools)...))
		if c.takes("include") {
			b.Set("include", engine.Strings("reasoning.encrypted_content"))
		}
	}
	reasons := responsesReasoning(c, b)
	if !guessedReasoning.MatchString(c.model) && !reasons || c.learned.Samples {
		c.sampling(b, "top_p")
	}
	if n := req.Config.MaxTokens; n != nil && *n > 0 && c.takes("max_output_tokens") {
		b.Set("max_output_tokens", engine.Int(int64(*n)))
	}
	if schema, ok := c.schema(); ok && c.takes("response_format") {
		b.Set("text", engine.Object("format", engine.Object("type", "json_schema", "name", "answer", "schema",
			plainSchema(schema))))
	}
	return b.Value()
}

// responsesReasoning sets how much the model reasons, and reports whether it does.
func responsesReasoning(c *call, b *engine.ObjectBuilder) bool {
	effort := c.request.Config.Thinking
	switch effort {
	case "":
		return false
	case "disabled", "false", "off":
		effort = "none"
	}
	if !c.takes("reasoning") {
		return false
	}
	r := engine.NewObject(2)
	switch effort {
	case "enabled", "true", "on":
	default:
		if c.takes("effort") {
			r.Set("effort", engine.String(effort))
		}
	}
	if effort != "none" && c.takes("reasoning_summary") {
		r.Set("summary", engine.String("auto"))
	}
	if v := r.Value(); v.Len() > 0 {
		b.Set("reasoning", v)
	}
	return effort != "none"
}

// responsesTools returns functions. Without strict the server would change their schemas.
func responsesTools(defs []engine.ToolDef) []engine.Value {
	list := make([]engine.Value, len(defs))
	for i, d := range defs {
		f := engine.NewObject(5).Set("type", engine.String("function")).Set("name", engine.String(d.Name))
		if d.Description != "" {
			f.Set("description", engine.String(d.Description))
		}
		list[i] = f.Set("parameters", plainSchema(d.Parameters)).Set("strict", engine.Bool(false)).Value()
	}
	return list
}

// responsesInput returns the conversation as items.
func responsesInput(c *call) (items []engine.Value) {
	for _, t := range turnsOf(c.request) {
		for _, m := range t.asked {
			items = append(items, responsesItems(c, m)...)
		}
		for _, r := range t.results {
			items = append(items, engine.Object("type", "function_call_output", "call_id", r.call.ID, "output",
				r.content))
		}
		if len(t.texts)+len(t.images) == 0 {
			continue
		}
		var content []engine.Value
		for _, text := range t.texts {
			content = append(content, engine.Object("type", "input_text", "text", text))
		}
		for _, address := range t.images {
			content = append(content, responsesFile(address))
		}
		items = append(items, engine.Object("type", "message", "role", "user", "content", engine.List(content...)))
	}
	return items
}

func responsesFile(address string) engine.Value {
	m := mediaOf(address)
	if m.url == "" {
		address = "data:" + m.kind + ";base64," + m.data
	}
	if m.kind == "application/pdf" {
		return engine.Object("type", "input_file", "filename", "file.pdf", "file_data", address)
	}
	return engine.Object("type", "input_image", "image_url", address, "detail", "auto")
}

// responsesItems returns a message of the model: the items that the server sent, with the calls in
// their places, or its text and its calls.
func responsesItems(c *call, m *engine.ModelMessage) (items []engine.Value) {
	calls := m.ToolCalls
	use := func(place engine.Value) {
		item := engine.Object("type", "function_call", "call_id", calls[0].ID, "name", calls[0].Name, "arguments",
			argumentsValue(&calls[0]).JSON())
		if id := place.Get("id"); id.Truthy() {
			item = item.With("id", id)
		}
		items, calls = append(items, item), calls[1:]
	}
	kept := c.kept(m, Responses).Get("items")
	if kept.Len() == 0 && m.Content != "" {
		items = append(items, engine.Object("role", "assistant", "content", m.Content))
	}
	for _, v := range kept.Elements() {
		switch {
		case v.Get("type").Str() != "function_call":
			items = append(items, v)
		case len(calls) > 0:
			use(v)
		}
	}
	for len(calls) > 0 {
		use(engine.Null)
	}
	return items
}
