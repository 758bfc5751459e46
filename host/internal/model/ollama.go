package model

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/model/loose"
)

// ollamaDialect is Ollama's own chat, in which a request sets the size of the context.
//
// Source: the types of package api of Ollama.
type ollamaDialect struct{}

// ollamaContext is the context of a model whose entry sets none, in tokens: the server's own
// default is too small for agents, and a larger one may not fit into memory.
const ollamaContext = 16_384

func (ollamaDialect) base() string { return "http://127.0.0.1:11434" }

func (ollamaDialect) address(base, _, _ string, _ bool) string {
	return trimmed(base, "/chat/completions", "/chat", "/v1", "/api") + "/api/chat"
}

func (ollamaDialect) authorize(h http.Header, key string) { bearer(h, key) }

func (ollamaDialect) reader(a *response) reader { return &ollamaAnswer{response: a} }

func (ollamaDialect) request(c *call) engine.Value {
	req := c.request
	b := engine.NewObject(8).Set("model", engine.String(c.model)).Set("messages", engine.List(ollamaMessages(c)...)).
		Set("stream", engine.Bool(req.Stream))
	if c.offers() {
		b.Set("tools", engine.List(tools(req.Tools)...))
	}
	if schema, ok := c.schema(); ok && c.takes("response_format") {
		b.Set("format", plainSchema(schema))
	}
	if effort := req.Config.Thinking; effort != "" && c.takes("thinking") {
		switch effort {
		case "low", "medium", "high":
			b.Set("think", engine.String(effort))
		case "none", "disabled", "false", "off":
			b.Set("think", engine.Bool(false))
		default:
			b.Set("think", engine.Bool(true))
		}
	}
	if options := ollamaOptions(c); options.Len() > 0 {
		b.Set("options", options)
	}
	return b.Value()
}

func ollamaOptions(c *call) engine.Value {
	b := engine.NewObject(8)
	c.sampling(b, "top_p")
	c.penalties(b, "presence_penalty", "frequency_penalty")
	if n := c.request.Config.MaxTokens; n != nil && *n > 0 && c.takes("max_output_tokens") {
		b.Set("num_predict", engine.Int(int64(*n)))
	}
	if stops := c.stops(); stops != nil {
		b.Set("stop", engine.Strings(stops...))
	}
	if c.takes("num_ctx") {
		own, _ := c.provider.config.entry(c.model)
		b.Set("num_ctx", engine.Int(int64(cmp.Or(max(own.Context, 0), ollamaContext))))
	}
	return b.Value()
}

func ollamaMessages(c *call) (list []engine.Value) {
	if s := c.request.System; s != "" {
		list = append(list, engine.Object("role", "system", "content", s))
	}
	for _, t := range turnsOf(c.request) {
		for _, m := range t.asked {
			list = append(list, ollamaMessage(c, m))
		}
		for _, r := range t.results {
			b := engine.NewObject(4).Set("role", engine.String("tool")).Set("content", engine.String(r.content)).
				Set("tool_name", engine.String(r.call.Name))
			if r.call.ID != "" {
				b.Set("tool_call_id", engine.String(r.call.ID))
			}
			list = append(list, b.Value())
		}
		if len(t.texts)+len(t.images) == 0 {
			continue
		}
		b := engine.NewObject(3).Set("role", engine.String("user")).
			Set("content", engine.String(strings.Join(t.texts, "\n\n")))
		if images := ollamaImages(c, t.images); len(images) > 0 {
			b.Set("images", engine.Strings(images...))
		}
		list = append(list, b.Value())
	}
	return list
}

// ollamaImages returns the data of images; the server does not load addresses.
func ollamaImages(c *call, addresses []string) (list []string) {
	for _, address := range addresses {
		if m := mediaOf(address); m.url == "" {
			list = append(list, m.data)
		} else {
			c.unsentImage("it is not a data URL: " + m.url)
		}
	}
	return list
}

func ollamaMessage(c *call, m *engine.ModelMessage) engine.Value {
	b := engine.NewObject(4).Set("role", engine.String("assistant")).Set("content", engine.String(m.Content))
	if thinking := c.kept(m, Ollama).Get("thinking"); thinking.Truthy() {
		b.Set("thinking", thinking)
	}
	if len(m.ToolCalls) > 0 {
		calls := make([]engine.Value, len(m.ToolCalls))
		for i := range m.ToolCalls {
			call := &m.ToolCalls[i]
			calls[i] = engine.Object("id", call.ID, "function", engine.Object("name", call.Name, "arguments",
				argumentsValue(call)))
		}
		b.Set("tool_calls", engine.List(calls...))
	}
	return b.Value()
}

// ollamaAnswer reads the objects of a chat, of which a stream has one in each line.
type ollamaAnswer struct {
	*response
	thinking strings.Builder
}

func (r *ollamaAnswer) read(d *document) (last bool, err error) {
	v := d.value
	m := v.Get("message")
	if m.Kind() != engine.KindObject && v.Get("done").IsNull() {
		r.unread(d)
		return false, nil
	}
	thinking := m.Get("thinking").Text()
	if len(r.request.Tools) > 0 {
		r.thinking.WriteString(thinking)
	}
	if err := r.marks.thought(thinking); err != nil {
		return false, err
	}
	if err := r.say(m.Get("content").Text()); err != nil {
		return false, err
	}
	if calls := m.Get("tool_calls"); calls.Truthy() {
		r.open.add(calls, true)
		if err := r.open.tooMany(); err != nil {
			return false, err
		}
	}
	r.count(usageOf(v.Get("prompt_eval_count"), v.Get("eval_count"), engine.Null))
	if !loose.True(v.Get("done")) {
		return false, nil
	}
	reason := cmp.Or(v.Get("done_reason").Text(), "stop")
	if reason == "load" { // the model was loaded without an answer
		r.why = "the server loaded the model without an answer"
		reason = finishFailed
	}
	r.complete = true
	r.ended(reason)
	return true, nil
}

func (r *ollamaAnswer) opaque(engine.Value) engine.Value {
	if r.thinking.Len() == 0 {
		return engine.Null
	}
	return engine.Object("provider", r.provider.config.Label(), "api", string(Ollama), "thinking", r.thinking.String())
}
