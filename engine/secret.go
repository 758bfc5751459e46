package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// A secret appears in a canvas, in its state and in its events by name only: {{secret:NAME}}. The text behind it
// is put in where it is used, and taken out of whatever comes back.
const (
	secretOpen  = "{{secret:"
	secretClose = "}}"
)

// Reveal puts in the secrets a text names. The revealed text must not be kept: it belongs into a request, not
// into an output.
func (c *Call) Reveal(ctx context.Context, text string) (string, error) {
	if !strings.Contains(text, secretOpen) {
		return text, nil
	}
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, secretOpen)
		b.WriteString(before)
		if !ok {
			return b.String(), nil
		}
		name, after, ok := strings.Cut(rest, secretClose)
		if !ok {
			return "", fmt.Errorf("secret: %q does not end with }}", shorten(rest, 40))
		}
		secrets := c.run.opt.Ports.Secrets
		if secrets == nil {
			return "", fmt.Errorf("secret %q: %w", name, ErrNoPort)
		}
		value, err := secrets.Secret(ctx, name)
		if err != nil {
			return "", fmt.Errorf("secret %q: %w", name, err)
		}
		c.run.learn(name, value)
		b.WriteString(value)
		text = after
	}
}

// learn remembers a revealed secret, so that it can be taken out again.
func (r *run) learn(name, value string) {
	if len(value) < 4 {
		return // too short to tell apart from ordinary text
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.secrets == nil {
		r.secrets = map[string]string{}
	}
	r.secrets[value] = name
	r.revealed.Store(true)
}

// redact puts the names back in place of secrets.
func (r *run) redact(v Value) Value {
	if !r.revealed.Load() {
		return v
	}
	switch v.Kind() {
	case KindString:
		return String(r.redactText(v.Str()))
	case KindList:
		vals := make([]Value, v.Len())
		for i, e := range v.Elements() {
			vals[i] = r.redact(e)
		}
		return listOf(vals)
	case KindObject:
		b := NewObject(v.Len())
		for k, e := range v.Fields() {
			b.Set(k, r.redact(e))
		}
		return b.Value()
	}
	return v
}

func (r *run) redactText(s string) string {
	if !r.revealed.Load() {
		return s
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for value, name := range r.secrets {
		s = strings.ReplaceAll(s, value, secretOpen+name+secretClose)
	}
	return s
}

// nodeError is what a run ends with: err, whose text may quote a request, without secrets.
func (r *run) nodeError(n *node, err error) error {
	if text := err.Error(); r.redactText(text) != text {
		err = &redacted{err, r.redactText(text)}
	}
	return &NodeError{Node: n.id, Kind: n.spec.Name, Err: err}
}

// redacted is an error of the same kind with another text. It cannot be unwrapped, since the text is there.
type redacted struct {
	kind error
	text string
}

func (e *redacted) Error() string        { return e.text }
func (e *redacted) Is(target error) bool { return errors.Is(e.kind, target) }
