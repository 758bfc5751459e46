package pluginnode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
)

// services connect a plugin to the ports of the run.
func (n *node) services(call *engine.Call, tenant, name string) plugin.Services {
	s := plugin.Services{Variables: variables{call}}
	if call.Ports().Model != nil {
		s.Chat = &chat{call: call, model: n.LLM, aliases: n.adapter.cfg.Models}
	}
	if call.Ports().Secrets != nil {
		s.Secrets = secrets{call}
	}
	if n.adapter.cfg.KV != nil {
		s.KV = n.adapter.cfg.KV(tenant, name)
	}
	if n.adapter.cfg.Embed != nil {
		s.Embed = n.adapter.cfg.Embed(tenant)
	}
	return s
}

// chat asks the run's model.
type chat struct {
	call    *engine.Call
	model   string
	aliases map[string]string
}

// Chat asks; reasoning is left out. Tokens are what the model reported, and an estimate when it reported none; the
// run counts them itself.
func (c *chat) Chat(ctx context.Context, in plugin.ChatRequest, delta func(string) error) (plugin.ChatAnswer, error) {
	req := engine.ModelRequest{
		LLM: c.model, Purpose: engine.PurposeAnswer, Stream: in.Stream, Config: engine.ModelConfig{Temperature: in.Temperature},
	}
	if in.Model != "" {
		id, ok := c.aliases[in.Model]
		if !ok {
			return plugin.ChatAnswer{}, &plugin.Error{Code: plugin.NotFound, Message: fmt.Sprintf("llm.chat: no model is called %q here; leave it out for the default", in.Model)}
		}
		req.LLM = id
	}
	if in.MaxTokens > 0 {
		req.Config.MaxTokens = &in.MaxTokens
	}
	tokens := 0
	for _, m := range in.Messages {
		tokens += engine.Tokens(m.Content)
		if m.Role == "system" {
			req.System = strings.TrimPrefix(req.System+"\n\n"+m.Content, "\n\n")
			continue
		}
		req.Query = m.Content
		req.Messages = append(req.Messages, engine.ModelMessage{Role: m.Role, Content: m.Content})
	}
	answer, err := c.call.Generate(ctx, &req, outside(delta))
	text := strings.TrimSpace(engine.WithoutReasoning(answer.Text))
	used := plugin.Usage{PromptTokens: answer.Usage.Prompt, CompletionTokens: answer.Usage.Completion}
	if used == (plugin.Usage{}) {
		used = plugin.Usage{PromptTokens: tokens, CompletionTokens: engine.Tokens(text)}
	}
	return plugin.ChatAnswer{Text: text, Usage: used}, err
}

// outside passes on the pieces that stand outside think marks, which are pieces of their own.
func outside(delta func(string) error) func(string) error {
	if delta == nil {
		return nil
	}
	thinking := false
	return func(piece string) error {
		switch {
		case piece == thinkOpen, piece == thinkClose:
			thinking = piece == thinkOpen
			return nil
		case thinking:
			return nil
		}
		return delta(piece)
	}
}

// variables are those of the run: sys.query, env.name. Outputs of nodes are none.
type variables struct{ call *engine.Call }

// Variable reads one.
func (v variables) Variable(ctx context.Context, name string) (json.RawMessage, bool, error) {
	ref := engine.ParseRef(name)
	if ref.Node != "" {
		return nil, false, nil
	}
	value, err := v.call.Resolve(ctx, &ref)
	if errors.Is(err, engine.ErrRef) {
		return nil, false, nil
	}
	return value.AppendJSON(nil), err == nil, err
}

// SetVariable writes one when the node is done; the plugin sees it at once.
func (v variables) SetVariable(ctx context.Context, name string, raw json.RawMessage) error {
	ref := engine.ParseRef(name)
	if ref.Node != "" {
		return &plugin.Error{Code: plugin.InvalidArgument, Message: fmt.Sprintf("var.set: %q is no variable", name)}
	}
	value, err := engine.ParseJSON(raw)
	if err != nil {
		return err
	}
	err = v.call.Set(ctx, &ref, value)
	if errors.Is(err, engine.ErrRef) {
		return &plugin.Error{Code: plugin.NotFound, Message: fmt.Sprintf("var.set: the canvas has no variable %q", name)}
	}
	return err
}

// secrets looks a secret up through the run, which then keeps it out of outputs and events.
type secrets struct{ call *engine.Call }

// Secret is the value behind a name. One that is not set is not found.
func (s secrets) Secret(ctx context.Context, name string) (string, bool, error) {
	value, err := s.call.Reveal(ctx, "{{secret:"+name+"}}")
	if err != nil {
		return "", false, ctx.Err()
	}
	return value, true, nil
}
