package model

import (
	"cmp"
	"context"
	"iter"
	"math"

	"github.com/easel-canvas/easel/engine"
)

// Account counts the tokens of a caller.
type Account interface {
	// Allow returns an error if a call may not start. A started call always completes.
	Allow(ctx context.Context) error
	// Spend counts the tokens of a finished call. It must not block.
	Spend(tokens int64)
}

// unlimited is the account of a caller without a quota.
type unlimited struct{}

func (unlimited) Allow(context.Context) error { return nil }
func (unlimited) Spend(int64)                 {}

// Use is the usage of a model by one call.
type Use struct {
	Tenant, Canvas string
	Model          string // name@provider
	Tokens
	Price *engine.Price // of a vendor's price list, or that the tenant has set; nil if unknown
	Own   bool          // the tenant has set Price
}

// Tokens counts the tokens of a call.
type Tokens struct {
	Input, Output   int64
	Cached, Written int64 // of Input, from the cache of the provider and to it
}

// sum returns the number of tokens.
func (t Tokens) sum() int64 { return sum(t.Input, t.Output) }

// charge charges the tokens of a call to the account, and reports them with the model that an id
// means. A call without tokens is free.
func (t *Tenant) charge(m *Models, id string, kind Kind, tokens Tokens) {
	t.account.Spend(tokens.sum())
	if t.used == nil || tokens == (Tokens{}) {
		return
	}
	u := Use{Tenant: t.tenant, Canvas: t.canvas, Model: id, Tokens: tokens}
	if p, model, err := m.resolve(id, kind); err == nil {
		u.Model = model + "@" + p.config.Label()
		u.Price, u.Own = m.price(p, model)
	}
	t.used(u)
}

// counted charges a call of models.
func (t *Tenant) counted(
	ctx context.Context, m *Models, req *engine.ModelRequest, pieces iter.Seq2[engine.ModelPiece, error],
) iter.Seq2[engine.ModelPiece, error] {
	return func(yield func(engine.ModelPiece, error) bool) {
		if err := t.account.Allow(ctx); err != nil {
			yield(engine.ModelPiece{}, err)
			return
		}
		var b bill
		defer func() {
			t.charge(m, cmp.Or(b.model, req.LLM), KindChat, b.tokens(func() int64 { return promptTokens(req) }))
		}()
		for piece, err := range pieces {
			b.take(piece)
			if !yield(piece, err) {
				return
			}
		}
	}
}

// bill adds up the tokens of one call. It uses the numbers reported by the provider, and an
// estimate of the output if none arrive: some providers never report usage, and a caller may stop
// reading early.
type bill struct {
	reported  Tokens // the last report; some providers repeat it with growing numbers
	estimated int64  // estimated tokens of the output
	model     string // that answered; "" is the one of the request
}

func (b *bill) take(piece engine.ModelPiece) {
	b.model = cmp.Or(piece.Model, b.model)
	if u := piece.Usage; u != nil {
		b.report(u)
	}
	b.addText(piece.Text)
	for _, c := range piece.ToolCalls {
		b.addText(c.Name)
		b.addText(c.Arguments)
	}
}

func (b *bill) report(u *engine.Usage) {
	if reported(u.Prompt, u.Completion) > 0 {
		b.reported = Tokens{int64(u.Prompt), int64(u.Completion), int64(u.Cached), int64(u.Written)}
	}
}

func (b *bill) addText(text string) { b.estimated = sum(b.estimated, int64(engine.Tokens(text))) }

// tokens returns the tokens of the call; prompt estimates those of the prompt. A call that failed
// before any output is free.
func (b *bill) tokens(prompt func() int64) Tokens {
	switch {
	case b.reported != Tokens{}:
		return b.reported
	case b.estimated == 0:
		return Tokens{}
	}
	return Tokens{Input: prompt(), Output: b.estimated}
}

// reported returns the sum of the reported numbers, or 0 if they are missing or negative.
func reported(prompt, completion int) int64 {
	if prompt < 0 || completion < 0 {
		return 0
	}
	return sum(int64(prompt), int64(completion))
}

// sum adds numbers that are not negative and saturates at the largest int64.
func sum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// promptTokens estimates the tokens of a request.
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
