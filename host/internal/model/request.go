package model

import (
	"regexp"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// request returns a chat completion, as the model's lessons want it.
func (openAIDialect) request(call *call) engine.Value {
	p, model, req, learned := call.provider, call.model, call.request, call.learned
	b := engine.NewObject(16).Set("model", engine.String(model)).
		Set("messages", engine.List(p.messages(req, learned)...))
	if req.Stream {
		b.Set("stream", engine.Bool(true)).
			Set("stream_options", engine.Object("include_usage", engine.Bool(true)))
	}
	if call.offers() { // the prompt of a plan describes the tools
		b.Set("tools", engine.List(tools(req.Tools)...))
	}
	c := req.Config
	if !guessedReasoning.MatchString(model) || learned.Samples {
		for name, v := range c.Value().Fields() {
			b.Set(name, v)
		}
	} else if c.MaxTokens != nil {
		b.Set("max_completion_tokens", engine.Int(int64(*c.MaxTokens)))
	}
	if schema, ok := call.schema(); ok {
		b.Set("response_format", responseFormat(schema))
	}
	think(b, c.Thinking)
	return learned.formed(learned.apply(b.Value()))
}

// guessedReasoning are names of models that most likely refuse sampling parameters.
var guessedReasoning = regexp.MustCompile(`^(o[134](-|$)|gpt-5)`)

// responseFormat requests an answer by a schema.
func responseFormat(schema engine.Value) engine.Value {
	return engine.Object("type", "json_schema", "json_schema", engine.Object("name", "answer", "schema",
		plainSchema(schema)))
}

// think sets the reasoning effort, either by name or on/off as open models expect it.
func think(b *engine.ObjectBuilder, effort string) {
	switch effort {
	case "none", "minimal", "low", "medium", "high", "xhigh", "max":
		b.Set("reasoning_effort", engine.String(effort))
	case "enabled", "true", "on":
		b.Set("chat_template_kwargs", engine.Object("enable_thinking", engine.Bool(true)))
	case "disabled", "false", "off":
		b.Set("chat_template_kwargs", engine.Object("enable_thinking", engine.Bool(false)))
	}
}

func (p *provider) messages(req *engine.ModelRequest, learned *Lesson) []engine.Value {
	var out []engine.Value
	if req.System != "" {
		out = append(out, engine.Object("role", "system", "content", req.System))
	}
	for _, m := range req.Messages {
		v := p.message(&m, learned)
		if len(m.Images) > 0 {
			v = withImages(v, m.Images)
		}
		out = append(out, v)
	}
	return out
}

func (p *provider) message(m *engine.ModelMessage, learned *Lesson) engine.Value {
	b := engine.NewObject(4).Set("role", engine.String(m.Role))
	switch {
	case m.Content != "":
		b.Set("content", engine.String(m.Content))
	case len(m.ToolCalls) > 0:
		b.Set("content", engine.Null)
	default:
		b.Set("content", engine.String(" ")) // some servers refuse an empty content
	}
	if m.ToolID != "" {
		b.Set("tool_call_id", engine.String(m.ToolID))
	}
	opaque := m.Opaque
	if opaque.Get("provider").Str() != p.config.Label() || opaque.Get("api").Truthy() {
		opaque = engine.Null
	}
	if len(m.ToolCalls) > 0 {
		calls := make([]engine.Value, len(m.ToolCalls))
		for i, c := range m.ToolCalls {
			calls[i] = callValue(&c, opaque.Get("calls").At(i))
		}
		b.Set("tool_calls", engine.List(calls...))
	}
	for name, v := range opaque.Get("message").Fields() {
		if name == "content" && m.Content != "" {
			v = v.Append(engine.Object("type", "text", "text", m.Content))
		}
		if !learned.drops(name) {
			b.Set(name, v)
		}
	}
	return b.Value()
}

// callValue returns a call as the model made it.
func callValue(c *engine.ToolCall, extra engine.Value) engine.Value {
	args := c.Arguments
	if strings.TrimSpace(args) == "" {
		args = "{}"
	}
	function := merged(engine.Object("name", c.Name, "arguments", args), extra.Get("function"))
	return merged(engine.Object("id", c.ID, "type", "function", "function", function), extra.Get("call"))
}

func withImages(m engine.Value, images []string) engine.Value {
	parts := []engine.Value{engine.Object("type", "text", "text", m.Get("content"))}
	for _, url := range images {
		parts = append(parts, engine.Object("type", "image_url", "image_url", engine.Object("url", url)))
	}
	return m.With("content", engine.List(parts...))
}

func tools(defs []engine.ToolDef) []engine.Value {
	out := make([]engine.Value, len(defs))
	for i, d := range defs {
		f := engine.NewObject(3).Set("name", engine.String(d.Name))
		if d.Description != "" {
			f.Set("description", engine.String(d.Description))
		}
		f.Set("parameters", plainSchema(d.Parameters))
		out[i] = engine.Object("type", "function", "function", f.Value())
	}
	return out
}

// plainSchema returns a schema of an object as all servers accept it: with properties, and without
// the member that names its dialect.
func plainSchema(s engine.Value) engine.Value {
	if s.Kind() != engine.KindObject {
		return engine.Object("type", "object", "properties", engine.Object())
	}
	s = s.Without("$schema")
	if s.Get("type").IsNull() && s.Get("properties").Kind() == engine.KindObject || s.Len() == 0 {
		s = s.With("type", engine.String("object"))
	}
	if s.Get("type").Str() == "object" && s.Get("properties").Kind() != engine.KindObject {
		s = s.With("properties", engine.Object())
	}
	return s
}
