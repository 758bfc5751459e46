package model

import (
	"context"
	"iter"
	"math"

	"github.com/easel-canvas/easel/engine"
)

// Account is where the tokens of a caller are counted.
type Account interface {
	// Allow lets a call begin or says why it may not. A call that has begun is finished.
	Allow(ctx context.Context) error
	// Spend counts the tokens of a call that has ended. It must not wait.
	Spend(tokens int64)
}

// free is the account of who may use any number of tokens.
type free struct{}

func (free) Allow(context.Context) error { return nil }
func (free) Spend(int64)                 {}

// counted is a call on an account.
func counted(ctx context.Context, account Account, req *engine.ModelRequest, pieces iter.Seq2[engine.ModelPiece, error]) iter.Seq2[engine.ModelPiece, error] {
	return func(yield func(engine.ModelPiece, error) bool) {
		if err := account.Allow(ctx); err != nil {
			yield(engine.ModelPiece{}, err)
			return
		}
		var b bill
		defer func() { account.Spend(b.total(func() int64 { return promptTokens(req) })) }()
		for piece, err := range pieces {
			b.take(piece)
			if !yield(piece, err) {
				return
			}
		}
	}
}

// bill adds up one call. What the provider reports counts; when it reports nothing, because it
// never does or because somebody left before the end, what was said is estimated.
type bill struct {
	reported int64 // the last report: some providers repeat it, each time a higher one
	said     int64 // estimated
}

func (b *bill) take(piece engine.ModelPiece) {
	if u := piece.Usage; u != nil {
		b.report(u.Prompt, u.Completion)
	}
	b.say(piece.Text)
	for _, c := range piece.ToolCalls {
		b.say(c.Name)
		b.say(c.Arguments)
	}
}

func (b *bill) report(prompt, completion int) {
	if n := reported(prompt, completion); n > 0 {
		b.reported = n
	}
}

func (b *bill) say(text string) { b.said = sum(b.said, int64(engine.Tokens(text))) }

// total is what the call used; prompt estimates the prompt. A call that was refused before it said
// anything is free.
func (b *bill) total(prompt func() int64) int64 {
	switch {
	case b.reported > 0:
		return b.reported
	case b.said == 0:
		return 0
	}
	return sum(b.said, prompt())
}

// reported is the sum of what a provider reports; 0 when it reports nothing, or numbers that cannot
// be.
func reported(prompt, completion int) int64 {
	if prompt < 0 || completion < 0 {
		return 0
	}
	return sum(int64(prompt), int64(completion))
}

// sum adds numbers that are not negative, up to the largest one.
func sum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// promptTokens estimates what a request says.
func promptTokens(req *engine.ModelRequest) int64 {
	n := int64(engine.Tokens(req.System))
	for _, m := range req.Messages {
		n += int64(engine.Tokens(m.Content))
		for _, c := range m.ToolCalls {
			n += int64(engine.Tokens(c.Name) + engine.Tokens(c.Arguments))
		}
	}
	return n
}
