package plugin

import (
	"encoding/json"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// Kind says what an emission is; the contract numbers them.
type Kind uint32

// The kinds of emissions.
const (
	Delta     Kind = 1 // a piece of the answer
	Reasoning Kind = 2 // a piece of the reasoning
	Progress  Kind = 3 // Pct and Note
	Partial   Kind = 4 // a piece of output Key
)

// Emission is one piece a plugin gives before it has finished. Text is the delta
// of Delta, Reasoning and Partial.
type Emission struct {
	Kind Kind
	Text string
	Key  string
	Pct  float64
	Note string
}

// emit passes a piece on and returns 1 when the guest should finish.
func (g *guest) emit(kind Kind, data []byte) uint64 {
	if g.emits++; g.emits > maxEmits {
		g.stop(fail(TooManyCalls, "more than %d emits", maxEmits))
	}
	if most := g.m.limits.output(); len(data) > most {
		g.stop(tooLarge("an emit", len(data), most))
	}
	e, ok := readEmission(kind, data)
	if g.tell() {
		return 1
	}
	if !ok || g.req.Emit == nil {
		return 0
	}
	for _, text := range []*string{&e.Text, &e.Key, &e.Note} {
		*text = engine.UnmarkSecrets(*text, g.req.SecretMark)
	}
	g.outside(func() {
		ctx, stop := g.hostContext()
		defer stop()
		g.emitErr = g.req.Emit(ctx, e)
	})
	if g.tell() {
		return 1
	}
	return 0
}

// readEmission decodes a piece; unknown kinds and broken JSON are not passed on.
func readEmission(kind Kind, data []byte) (Emission, bool) {
	e := Emission{Kind: kind}
	switch kind {
	case Delta, Reasoning:
		e.Text = validText(data)
		return e, true
	case Progress:
		var p struct {
			Pct  float64 `json:"pct"`
			Note string  `json:"note"`
		}
		if json.Unmarshal(data, &p) != nil {
			return e, false
		}
		e.Pct, e.Note = min(max(p.Pct, 0), 100), p.Note
		return e, true
	case Partial:
		var p struct{ Key, Delta string }
		if json.Unmarshal(data, &p) != nil || p.Key == "" {
			return e, false
		}
		e.Key, e.Text = p.Key, p.Delta
		return e, true
	}
	return e, false
}

func validText(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }
