package plugin

// chat is llm.chat.
func (g *guest) chat(req ChatRequest) (any, *Error) {
	p := g.grant.LLM
	switch {
	case p == nil:
		return nil, fail(Denied, "llm.chat is not granted")
	case g.req.Services.Chat == nil:
		return nil, fail(Unsupported, "this host offers no model")
	case len(req.Messages) == 0:
		return nil, fail(InvalidArgument, "llm.chat: messages are missing")
	}
	if g.chats++; g.chats > p.MaxCalls {
		return nil, fail(Denied, "llm.chat is granted %d times in a call", p.MaxCalls)
	}
	var out ChatAnswer
	var err error
	g.outside(func() {
		ctx, stop := g.hostContext()
		defer stop()
		var delta func(string) error
		if req.Stream && g.req.Emit != nil {
			delta = func(text string) error {
				g.emitErr = g.req.Emit(ctx, Emission{Kind: Delta, Text: text})
				return g.emitErr
			}
		}
		out, err = g.req.Services.Chat.Chat(ctx, req, delta)
	})
	if err != nil {
		return nil, asError(err, Upstream)
	}
	return out, nil
}

// embed turns texts into vectors.
func (g *guest) embed(a struct {
	Texts []string `json:"texts"`
},
) (any, *Error) {
	p := g.grant.Embed
	switch {
	case p == nil:
		return nil, fail(Denied, "embed is not granted")
	case g.req.Services.Embed == nil:
		return nil, fail(Unsupported, "this host offers no embeddings")
	}
	if g.embeds++; g.embeds > p.MaxCalls {
		return nil, fail(Denied, "embed is granted %d times in a call", p.MaxCalls)
	}
	var vectors [][]float32
	var err error
	g.outside(func() {
		ctx, stop := g.hostContext()
		defer stop()
		vectors, err = g.req.Services.Embed.Embed(ctx, a.Texts)
	})
	if err != nil {
		return nil, asError(err, Upstream)
	}
	return map[string]any{"vectors": vectors}, nil
}
