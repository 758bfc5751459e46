package node

import (
	"context"
	"errors"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// Services answer what a plugin asks of the run it works for; whether it may is decided before.
// Requests and answers are the args and ok of the contract's call.
type Services struct {
	Call *engine.Call
	LLM  string // llm_id the node names
	// Models maps the aliases plugins may name to llm_ids. A request without an alias goes to LLM.
	Models map[string]string
}

func refuse(code, message string) error { return &Error{Code: code, Message: message} }

// Chat asks the run's model. With stream each piece of the answer goes to delta; reasoning is left
// out. Tokens are what the model reported, and an estimate when it reported none; the run counts
// them itself.
func (s *Services) Chat(ctx context.Context, args engine.Value, delta func(string) error) (engine.Value, error) {
	if s.Call.Ports().Model == nil {
		return engine.Null, refuse("unsupported", "this host offers no model")
	}
	req := engine.ModelRequest{LLM: s.LLM, Purpose: engine.PurposeAnswer, Stream: args.Get("stream").True()}
	if t, ok := args.Get("temperature").Float(); ok {
		req.Config.Temperature = &t
	}
	if alias := args.Get("model").Str(); alias != "" {
		id, ok := s.Models[alias]
		if !ok {
			return engine.Null, refuse("not_found", "llm.chat: no model is called "+engine.String(alias).JSON()+" here; leave it out for the default")
		}
		req.LLM = id
	}
	if n, ok := args.Get("max_tokens").Int(); ok && n > 0 {
		most := int(n)
		req.Config.MaxTokens = &most
	}
	tokens := 0
	for _, m := range args.Get("messages").Elements() {
		role, content := m.Get("role").Str(), m.Get("content").Str()
		tokens += engine.Tokens(content)
		if role == "system" {
			req.System = strings.TrimPrefix(req.System+"\n\n"+content, "\n\n")
			continue
		}
		req.Query = content
		req.Messages = append(req.Messages, engine.ModelMessage{Role: role, Content: content})
	}
	if !req.Stream {
		delta = nil
	}
	answer, err := s.Call.Generate(ctx, &req, spoken(delta))
	if err != nil {
		return engine.Null, err
	}
	text := strings.TrimSpace(engine.WithoutReasoning(answer.Text))
	used := answer.Usage
	if used.Prompt+used.Completion == 0 {
		used = engine.Usage{Prompt: tokens, Completion: engine.Tokens(text)}
	}
	return engine.Object("text", text, "usage", engine.Object("prompt_tokens", used.Prompt, "completion_tokens", used.Completion)), nil
}

// spoken passes on the pieces that stand outside think marks, which are pieces of their own.
func spoken(delta func(string) error) func(string) error {
	if delta == nil {
		return nil
	}
	thinking := false
	return func(piece string) error {
		switch {
		case piece == engine.ThinkOpen, piece == engine.ThinkClose:
			thinking = piece == engine.ThinkOpen
			return nil
		case thinking:
			return nil
		}
		return delta(piece)
	}
}

// Variable reads a variable of the run: sys.query, env.name. Outputs of nodes are none.
func (s *Services) Variable(ctx context.Context, name string) (engine.Value, error) {
	ref := engine.ParseRef(name)
	if ref.Node != "" {
		return engine.Object("found", false, "value", engine.Null), nil
	}
	value, err := s.Call.Resolve(ctx, &ref)
	if errors.Is(err, engine.ErrRef) {
		return engine.Object("found", false, "value", engine.Null), nil
	}
	return engine.Object("found", err == nil, "value", value), err
}

// SetVariable writes one when the node is done; the plugin sees it at once.
func (s *Services) SetVariable(ctx context.Context, name string, value engine.Value) error {
	ref := engine.ParseRef(name)
	if ref.Node != "" {
		return refuse(codeInvalidArgument, "var.set: "+engine.String(name).JSON()+" is no variable")
	}
	err := s.Call.Set(ctx, &ref, value)
	if errors.Is(err, engine.ErrRef) {
		return refuse("not_found", "var.set: the canvas has no variable "+engine.String(name).JSON())
	}
	return err
}
