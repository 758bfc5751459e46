package node

import (
	"context"
	"errors"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// Services handle the requests of a plugin to its run; its permissions are checked before.
// Requests and answers are the args and ok of the contract's call.
type Services struct {
	Call *engine.Call
	LLM  string // llm_id of the node
	// Models maps the aliases plugins may name to llm_ids. A request without an alias goes to LLM.
	Models map[string]string
}

// Chat calls the run's model. With Stream each piece of the answer is passed to delta; reasoning is
// left out. Tokens are reported by the model, or else estimated; the run counts them itself.
func (s *Services) Chat(ctx context.Context, in contract.ChatRequest, delta func(string) error) (contract.ChatAnswer,
	error,
) {
	if s.Call.Ports().Model == nil {
		return contract.ChatAnswer{}, contract.Errorf(contract.Unsupported, "this host offers no model")
	}
	req := engine.ModelRequest{LLM: s.LLM, Purpose: engine.PurposeAnswer, Stream: in.Stream}
	req.Config.Temperature = in.Temperature
	if in.Model != "" {
		id, ok := s.Models[in.Model]
		if !ok {
			const text = "llm.chat: no model is called %q here; leave it out for the default"
			return contract.ChatAnswer{}, contract.Errorf(contract.NotFound, text, in.Model)
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
	if !req.Stream {
		delta = nil
	}
	answer, err := s.Call.Generate(ctx, &req, spoken(delta))
	if err != nil {
		return contract.ChatAnswer{}, err
	}
	out := contract.ChatAnswer{Text: strings.TrimSpace(engine.WithoutReasoning(answer.Text)), Usage: answer.Usage}
	if out.Usage.Prompt+out.Usage.Completion == 0 {
		out.Usage = engine.Usage{Prompt: tokens, Completion: engine.Tokens(out.Text)}
	}
	return out, nil
}

// spoken passes on the pieces outside of think marks, which are separate pieces.
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

// Variable reads a variable of the run: sys.query, env.name. Outputs of nodes are not found.
func (s *Services) Variable(ctx context.Context, name string) (value engine.Value, found bool, err error) {
	ref := engine.ParseRef(name)
	if ref.Node != "" {
		return engine.Null, false, nil
	}
	value, err = s.Call.Resolve(ctx, &ref)
	if errors.Is(err, engine.ErrRef) {
		return engine.Null, false, nil
	}
	return value, err == nil, err
}

// SetVariable writes a variable when the node ends; the plugin sees it immediately.
func (s *Services) SetVariable(ctx context.Context, name string, value engine.Value) error {
	ref := engine.ParseRef(name)
	if ref.Node != "" {
		return contract.Errorf(contract.InvalidArgument, "var.set: %q is not a variable", name)
	}
	err := s.Call.Set(ctx, &ref, value)
	if errors.Is(err, engine.ErrRef) {
		return contract.Errorf(contract.NotFound, "var.set: the canvas has no variable %q", name)
	}
	return err
}
