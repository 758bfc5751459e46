package plugin

import (
	"context"
	"strconv"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// chat is llm.chat.
func (r *requests) chat(args engine.Value) (engine.Value, error) {
	g := r.g
	granted := g.grant.LLM
	switch {
	case granted == nil:
		return engine.Null, contract.Errorf(contract.Denied, "llm.chat is not granted")
	case g.req.Services.Chat == nil:
		return engine.Null, contract.Errorf(contract.Unsupported, "this host offers no model")
	}
	req, err := contract.ReadChat(args)
	if err != nil {
		return engine.Null, err
	}
	if r.chats++; r.chats > granted.MaxCalls {
		return engine.Null, contract.Errorf(contract.Denied, "llm.chat is granted %d times in a call", granted.MaxCalls)
	}
	var answer contract.ChatAnswer
	r.outside(func(ctx context.Context) {
		var delta func(string) error
		if req.Stream && g.req.Emit != nil {
			delta = func(text string) error {
				g.emitErr = g.req.Emit(ctx, contract.Emission{Kind: contract.Delta, Text: text})
				return g.emitErr
			}
		}
		answer, err = g.req.Services.Chat.Chat(ctx, req, delta)
	})
	return answer.Value(), err
}

// embed turns texts into vectors.
func (r *requests) embed(args engine.Value) (engine.Value, error) {
	g := r.g
	granted := g.grant.Embed
	switch {
	case granted == nil:
		return engine.Null, contract.Errorf(contract.Denied, "embed is not granted")
	case g.req.Services.Embed == nil:
		return engine.Null, contract.Errorf(contract.Unsupported, "this host offers no embeddings")
	}
	texts := make([]string, 0, args.Get("texts").Len())
	for _, t := range args.Get("texts").Elements() {
		if t.Kind() != engine.KindString {
			return engine.Null, contract.Errorf(contract.InvalidArgument, "embed: texts is not a list of strings")
		}
		texts = append(texts, t.Str())
	}
	if r.embeds++; r.embeds > granted.MaxCalls {
		return engine.Null, contract.Errorf(contract.Denied, "embed is granted %d times in a call", granted.MaxCalls)
	}
	var vectors [][]float32
	var err error
	r.outside(func(ctx context.Context) { vectors, err = g.req.Services.Embed.Embed(ctx, texts) })
	return engine.Object("vectors", vectorList(vectors)), err
}

func vectorList(vectors [][]float32) engine.Value {
	list := make([]engine.Value, len(vectors))
	for i, vector := range vectors {
		row := make([]engine.Value, len(vector))
		for j, x := range vector {
			row[j], _ = engine.ParseNumber(strconv.FormatFloat(float64(x), 'g', -1, 32)) // NaN is null
		}
		list[i] = engine.List(row...)
	}
	return engine.List(list...)
}
