package web

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

var secretPattern = regexp.MustCompile(`\{\{secret:([^{}]*)\}\}`)

func hasSecret(text string) bool { return strings.Contains(text, "{{secret:") }

// secretBox puts the secrets of one request in and takes them out again.
type secretBox struct {
	from  engine.Secrets
	known map[string]string // value -> placeholder
}

// put replaces {{secret:NAME}} by what it stands for.
func (b *secretBox) put(ctx context.Context, text string) (string, error) {
	var failed error
	out := secretPattern.ReplaceAllStringFunc(text, func(placeholder string) string {
		name := secretPattern.FindStringSubmatch(placeholder)[1]
		if b.from == nil {
			failed = errors.Join(failed, fmt.Errorf("secret %q: %w", name, engine.ErrNoPort))
			return ""
		}
		value, err := b.from.Secret(ctx, name)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("secret %q: %w", name, err))
			return ""
		}
		if b.known == nil {
			b.known = map[string]string{}
		}
		b.known[value] = placeholder
		return value
	})
	return out, failed
}

// shortest is the length from which a secret can be told from ordinary text.
const shortest = 4

// hide takes secrets out of a text.
func (b *secretBox) hide(text string) string {
	for value, placeholder := range b.known {
		if len(value) >= shortest {
			text = strings.ReplaceAll(text, value, placeholder)
		}
	}
	return text
}

// hideIn takes secrets out of an error's text, and keeps the error's identity.
func (b *secretBox) hideIn(err error) error {
	if text := b.hide(err.Error()); text != err.Error() {
		return &hidden{text, err}
	}
	return err
}

// hidden is an error whose text held a secret.
type hidden struct {
	text string
	err  error
}

func (h *hidden) Error() string        { return h.text }
func (h *hidden) Is(target error) bool { return errors.Is(h.err, target) }

// cover replaces placeholders by a word that may stand anywhere in an address.
func (b *secretBox) cover(address string) string {
	return secretPattern.ReplaceAllString(address, coverWord)
}

func (b *secretBox) covered(host string) bool { return strings.Contains(host, coverWord) }

const coverWord = "easel-secret"
