package main

import (
	"context"
	"iter"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// model reports calls and answers of any model.
type model struct {
	run    *run
	behind engine.Model
}

// ModelInfo returns the known properties of the model.
func (m *model) ModelInfo(ctx context.Context, llmID string) engine.Info {
	if i, ok := m.behind.(engine.ModelInfo); ok {
		return i.ModelInfo(ctx, llmID)
	}
	return engine.Info{}
}

// Generate forwards the call, between model_started and model_finished.
func (m *model) Generate(ctx context.Context, req *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	return func(yield func(engine.ModelPiece, error) bool) {
		if err := m.run.notes.wait(ctx, req.Noted); err != nil {
			yield(engine.ModelPiece{}, err)
			return
		}
		clock := m.run.options.Ports.Clock
		began := clock.Now()
		node, _, _ := strings.Cut(req.Node, "-->")
		m.run.tell(engine.EventModelStarted, engine.NewObject(4).Set("component_id", engine.String(node)).
			Set("call", engine.String(req.Key)).Set("model", engine.String(req.LLM)).Set("messages", messagesOf(req)))
		var text strings.Builder
		var usage engine.Usage
		var failed error
		defer func() {
			if m.run.ctx.Err() != nil {
				return // the end of the run is the end of its calls
			}
			done := engine.NewObject(6).Set("component_id", engine.String(node)).Set("call", engine.String(req.Key)).
				Set("text", engine.String(text.String()))
			if usage != (engine.Usage{}) {
				done.Set("usage", usage.Value())
			}
			if failed != nil {
				done.Set("error", engine.String(failed.Error()))
			}
			done.Set("elapsed_time", engine.Float(clock.Now().Sub(began).Seconds()))
			m.run.tell(engine.EventModelFinished, done)
		}()
		for p, err := range m.behind.Generate(ctx, req) {
			failed = err
			text.WriteString(p.Text)
			if p.Usage != nil {
				usage = *p.Usage
			}
			if !yield(p, err) {
				return
			}
		}
	}
}

// hostModel calls a model through the host.
type hostModel struct {
	run  *run
	info engine.Info
}

// readInfo reads the host's description of its models: {tools, images, context}. Without tools,
// agents plan in text, which every model can do.
func readInfo(v engine.Value) engine.Info {
	n, _ := v.Get("context").Int()
	return engine.Info{Tools: v.Get("tools").True(), Images: v.Get("images").True(), Context: int(n)}
}

// ModelInfo returns the same for every llm_id.
func (h *hostModel) ModelInfo(context.Context, string) engine.Info { return h.info }

// Generate sends the request and yields the answer as it comes.
func (h *hostModel) Generate(ctx context.Context, req *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	return func(yield func(engine.ModelPiece, error) bool) {
		for v, err := range h.run.stream(ctx, "model", req.Node, requestOf(req)) {
			if err != nil {
				yield(engine.ModelPiece{}, err)
				return
			}
			if !yield(pieceOf(v), nil) {
				return
			}
		}
	}
}

func requestOf(req *engine.ModelRequest) engine.Value {
	mode := "chat"
	if req.Stream {
		mode = "stream"
	}
	b := engine.NewObject(10).Set("model", engine.String(req.LLM)).Set("purpose", engine.String(string(req.Purpose))).
		Set("mode", engine.String(mode)).Set("messages", withAttached(req, messagesOf(req))).
		Set("options", req.Config.Value())
	// An agent that plans in text lists its tools in the prompt; the list in the request is for
	// stand-ins.
	if len(req.Tools) > 0 && req.Purpose != engine.PurposePlan {
		list := make([]engine.Value, len(req.Tools))
		for i, t := range req.Tools {
			list[i] = t.Value()
		}
		b.Set("tools", engine.List(list...))
	}
	if !req.Schema.IsNull() {
		b.Set("schema", req.Schema)
	}
	return b.Set("key", engine.String(req.Key)).Value()
}

// messagesOf returns the messages in the form of chat completions, the system's first.
func messagesOf(req *engine.ModelRequest) engine.Value {
	list := make([]engine.Value, 0, len(req.Messages)+1)
	if req.System != "" {
		list = append(list, engine.Object("role", "system", "content", req.System))
	}
	for _, m := range req.Messages {
		b := engine.NewObject(4).Set("role", engine.String(m.Role)).Set("content", engine.String(m.Content))
		if len(m.ToolCalls) > 0 {
			calls := make([]engine.Value, len(m.ToolCalls))
			for i, c := range m.ToolCalls {
				calls[i] = engine.Object("id", c.ID, "type", "function",
					"function", engine.Object("name", c.Name, "arguments", c.Arguments))
			}
			b.Set("tool_calls", engine.List(calls...))
		}
		if m.ToolID != "" {
			b.Set("tool_call_id", engine.String(m.ToolID))
		}
		list = append(list, b.Value())
	}
	return engine.List(list...)
}

// withAttached adds to messages their images, and the attachments of the provider to its answers.
func withAttached(req *engine.ModelRequest, messages engine.Value) engine.Value {
	list := messages.Slice()
	for i, m := range req.Messages {
		at := len(list) - len(req.Messages) + i
		if !m.Opaque.IsNull() {
			list[at] = list[at].With("opaque", m.Opaque)
		}
		if len(m.Images) > 0 {
			list[at] = list[at].With("images", engine.Strings(m.Images...))
		}
	}
	return engine.List(list...)
}

func pieceOf(v engine.Value) engine.ModelPiece {
	p := engine.ModelPiece{Text: v.Get("text").Str(), Opaque: v.Get("opaque")}
	for _, c := range v.Get("tool_calls").Elements() {
		p.ToolCalls = append(p.ToolCalls, engine.ToolCall{
			ID: c.Get("id").Str(), Name: c.Get("name").Str(), Arguments: c.Get("arguments").Text(),
		})
	}
	if u := v.Get("usage"); u.Kind() == engine.KindObject {
		prompt, _ := u.Get("prompt_tokens").Int()
		completion, _ := u.Get("completion_tokens").Int()
		p.Usage = &engine.Usage{Prompt: int(prompt), Completion: int(completion)}
	}
	return p
}
