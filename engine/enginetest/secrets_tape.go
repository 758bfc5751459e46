package enginetest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/easel-canvas/easel/engine"
)

// leastSecret is the length in bytes of the shortest value that counts as a secret; shorter ones
// cannot be distinguished from ordinary text.
const leastSecret = 4

// SecretsTape is an engine.Secrets that forwards lookups and records the values, so that Record
// keeps them out of a case. It may be used by many goroutines.
type SecretsTape struct {
	Secrets engine.Secrets

	mu    sync.Mutex
	known []knownSecret // longest form first
}

// knownSecret is a form of a secret's value.
type knownSecret struct{ form, name string }

// Secret looks a name up and records its value.
func (t *SecretsTape) Secret(ctx context.Context, name string) (engine.Secret, error) {
	s, err := t.Secrets.Secret(ctx, name)
	if err == nil {
		t.Learn(name, s.Value)
	}
	return s, err
}

// Learn records a value that is in a canvas itself, such as a key among the params of a node.
func (t *SecretsTape) Learn(name, value string) {
	if len(value) < leastSecret {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, form := range engine.SecretForms(value) {
		t.known = append(t.known, knownSecret{form, name})
	}
	slices.SortStableFunc(t.known, func(a, b knownSecret) int { return cmp.Compare(len(b.form), len(a.form)) })
}

// clean replaces the values of secrets by their names.
func (t *SecretsTape) clean(v engine.Value) engine.Value {
	t.mu.Lock()
	defer t.mu.Unlock()
	return v.MapStrings(func(text string) string {
		for _, k := range t.known {
			text = strings.ReplaceAll(text, k.form, engine.Placeholder(k.name, ""))
		}
		return text
	})
}
