package engine

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/easel-canvas/easel/engine/stable"
)

// redactor removes secrets from the events and the stored data of a run. It is safe for concurrent
// use.
type redactor struct {
	active atomic.Bool // there is a mark, or secrets is not empty

	mu      sync.Mutex
	mark    string     // of placeholders that count; "" until one is used. Never stored.
	secrets []revealed // forms of the values, longest first
}

// revealed is a form of a secret's value.
type revealed struct{ form, name string }

// secretMark returns the mark of placeholders that count, or "".
func (r *redactor) secretMark() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mark
}

// markText marks a text of the configuration. The mark of the run is drawn when it is first needed.
func (r *redactor) markText(text string) string {
	if !strings.Contains(text, secretOpen) {
		return text
	}
	r.mu.Lock()
	if r.mark == "" {
		r.mark = NewSecretMark()
		r.active.Store(true)
	}
	r.mu.Unlock()
	return MarkSecrets(text, r.mark)
}

// learn records a revealed secret, so that it can be removed.
func (r *redactor) learn(name, value string) {
	if len(value) < 4 {
		return // too short to distinguish from ordinary text
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.ContainsFunc(r.secrets, func(s revealed) bool { return s.form == value }) {
		return
	}
	for _, form := range SecretForms(value) {
		r.secrets = append(r.secrets, revealed{form, name})
	}
	stable.Sort(r.secrets, func(a, b revealed) int { return len(b.form) - len(a.form) })
	r.active.Store(true)
}

// redact removes marks, and replaces values by names.
func (r *redactor) redact(v Value) Value {
	if !r.active.Load() {
		return v
	}
	return v.MapStrings(r.redactText)
}

func (r *redactor) redactText(s string) string {
	if !r.active.Load() {
		return s
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, secret := range r.secrets {
		s = strings.ReplaceAll(s, secret.form, Placeholder(secret.name, ""))
	}
	return UnmarkSecrets(s, r.mark)
}

func (r *redactor) redactError(err error) error {
	if err == nil || !r.active.Load() {
		return err
	}
	text := err.Error()
	if plain := r.redactText(text); plain != text {
		return &redacted{err, plain}
	}
	return err
}

// redacted is an error of the same kind with another text. It does not unwrap to the original,
// which holds the secret.
type redacted struct {
	kind error
	text string
}

func (e *redacted) Error() string        { return e.text }
func (e *redacted) Is(target error) bool { return errors.Is(e.kind, target) }
