package model

import (
	"context"
	"errors"
	"iter"
	"net/url"
	"regexp"
	"slices"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/egress/reach"
	"github.com/easel-canvas/easel/host/internal/egress/web"
)

// maxFallbacks bounds the models that are called after the first one.
const maxFallbacks = 8

// chosenModel is a model of a provider.
type chosenModel struct {
	provider *provider
	name     string
}

func (c chosenModel) id() string { return c.name + "@" + c.provider.config.Label() }

// plan is a call with the models that are called after the first one.
type plan struct {
	models  []chosenModel
	unknown []string // why names of fallback models were left out
}

// plan returns the models of a call: first, those of the request, and those that the configuration
// sets for first.
func (m *Models) plan(first chosenModel, req *engine.ModelRequest) plan {
	entry, _ := first.provider.config.entry(first.name)
	p := plan{models: []chosenModel{first}}
	for _, id := range slices.Concat(req.Fallback, entry.Fallback) {
		provider, name, err := m.resolve(id, KindChat)
		if err != nil {
			p.unknown = append(p.unknown, "a fallback model is left out: "+err.Error())
			continue
		}
		next := chosenModel{provider, name}
		if !slices.Contains(p.models, next) && len(p.models) <= maxFallbacks {
			p.models = append(p.models, next)
		}
	}
	return p
}

// generateBy calls the models of a plan until one answers. Another one is called only if nothing of
// an answer was passed on and the server failed; see [elsewhere].
func (m *Models) generateBy(
	ctx context.Context, p plan, req *engine.ModelRequest,
) iter.Seq2[engine.ModelPiece, error] {
	warn := func(text string) {
		if req.Warned != nil {
			req.Warned(text)
		}
	}
	return func(yield func(engine.ModelPiece, error) bool) {
		for i, one := range p.models {
			a := attempt{stream: req.Stream, yield: yield, last: i+1 == len(p.models)}
			if i > 0 {
				a.model = one.id()
			}
			failed := a.run(ctx, m.generate(ctx, one.provider, one.name, req))
			if failed == nil {
				return
			}
			if i == 0 {
				for _, text := range p.unknown {
					warn(text)
				}
			}
			if a.last {
				yield(engine.ModelPiece{}, failed)
				return
			}
			warn(failed.Error() + "; " + p.models[i+1].id() + " is called instead")
		}
	}
}

// attempt passes on the answer of one model.
type attempt struct {
	stream bool
	yield  func(engine.ModelPiece, error) bool
	model  string // its id, for the first piece; "" for the model of the request
	last   bool   // no other model is called after it
	passed bool   // a piece was passed on
	whole  []engine.ModelPiece
}

// run returns the failure after which the next model may be called; nil if the answer or its error
// was passed on. An answer that is not streamed is passed on when it is complete.
func (a *attempt) run(ctx context.Context, pieces iter.Seq2[engine.ModelPiece, error]) (failed error) {
	for piece, err := range pieces {
		switch {
		case err != nil && !a.passed && ctx.Err() == nil && elsewhere(err):
			return err
		case err != nil:
			if a.flush() {
				a.yield(engine.ModelPiece{}, err)
			}
			return nil
		case !a.stream && !a.last:
			a.whole = append(a.whole, piece)
		case !a.pass(piece):
			return nil
		}
	}
	a.flush()
	return nil
}

func (a *attempt) flush() bool {
	for _, piece := range a.whole {
		if !a.pass(piece) {
			return false
		}
	}
	return true
}

func (a *attempt) pass(piece engine.ModelPiece) bool {
	if !a.passed {
		piece.Model, a.passed = a.model, true
	}
	return a.yield(piece, nil)
}

// elsewhere reports whether another model may answer a call that failed: its server failed, was
// busy or could not be reached, or the account has no quota left. A request that was refused, an
// answer that was stopped for its content, and settings that are wrong are no reasons.
func elsewhere(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.elsewhere
}

// elsewhere reports the same of a failure that the server reported.
func (r *refusal) elsewhere() bool {
	return retryStatus(r.status) || r.quota() || r.status == 0 && serverWords.MatchString(r.code+" "+r.text)
}

// serverWords match failures without a status that are not about the request.
var serverWords = regexp.MustCompile(`(?i)\b(over(loaded|capacity)|server[_ ]error|internal[_ ](server[_ ])?error|` +
	`unavailable|rate[_ ]limit|too many requests|time[d_ ]?-?out|busy)\b|overloaded`)

// unreachable reports whether a call failed without a response, or in the middle of one.
func unreachable(err error) bool {
	var failed *url.Error
	return errors.Is(err, ErrSilent) || errors.Is(err, ErrBroken) || errors.As(err, &failed) &&
		!errors.Is(err, web.ErrAddress) && !errors.Is(err, reach.ErrRedirect)
}
