package contract

import (
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// Kind is the kind of an emission; the contract defines the numbers.
type Kind uint32

// The kinds of emissions.
const (
	Delta     Kind = 1 // a piece of the answer
	Reasoning Kind = 2 // a piece of the reasoning
	Progress  Kind = 3 // Pct and Note
	Partial   Kind = 4 // a piece of the output Key
)

// Emission is one piece that a plugin emits before it has finished.
type Emission struct {
	Kind Kind
	Text string  // of Delta, Reasoning and Partial
	Key  string  // of Partial: the output it belongs to
	Pct  float64 // of Progress: 0 to 100
	Note string  // of Progress
}

// ReadEmission decodes a piece; ok is false for unknown kinds and malformed data, which hosts drop.
func ReadEmission(kind Kind, data []byte) (e Emission, ok bool) {
	e = Emission{Kind: kind}
	switch kind {
	case Delta, Reasoning:
		e.Text = strings.ToValidUTF8(string(data), "\uFFFD")
		return e, true
	case Progress, Partial:
	default:
		return e, false
	}
	v, err := engine.ParseJSON(data)
	if err != nil {
		return e, false
	}
	o := readObject("", v, &err)
	if kind == Partial {
		e.Key, e.Text = o.text("key"), o.text("delta")
		return e, err == nil && e.Key != ""
	}
	pct, _ := o.member("pct", engine.KindNumber).Float()
	e.Pct, e.Note = min(max(pct, 0), 100), o.text("note")
	return e, err == nil
}

// Unmarked returns the emission without the mark of a call.
func (e Emission) Unmarked(mark string) Emission {
	e.Text = engine.UnmarkSecrets(e.Text, mark)
	e.Key = engine.UnmarkSecrets(e.Key, mark)
	e.Note = engine.UnmarkSecrets(e.Note, mark)
	return e
}
