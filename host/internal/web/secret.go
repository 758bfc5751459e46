package web

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/hostmatch"
)

// SecretBox replaces the placeholders of one request that carry its mark, and removes the values
// from what comes back. It is not safe for concurrent use.
type SecretBox struct {
	from   engine.Secrets
	mark   string
	hidden []form // of the values put in
}

// form is one way in which a value may come back.
type form struct{ text, placeholder string }

// NewSecretBox returns a box for a request with the given mark; nil knows no secrets.
func NewSecretBox(from engine.Secrets, mark string) *SecretBox {
	return &SecretBox{from: from, mark: mark}
}

// Fill replaces the placeholders of a text that goes to a host, host:port. Errors:
// [ErrSecretHost], those of the secrets.
func (b *SecretBox) Fill(ctx context.Context, host, text string) (string, error) {
	return b.fill(ctx, host, text, "")
}

// Plain returns text without values of secrets and without marks.
func (b *SecretBox) Plain(text string) string { return b.plain(text) }

// PlainError returns err without values of secrets in its text; errors.Is is not affected.
func (b *SecretBox) PlainError(err error) error { return b.plainError(err) }

func (b *SecretBox) in(text string) bool { return engine.HasSecret(text, b.mark) }

// put replaces the placeholders of text, which goes to the host of u; values are escaped for a body
// of the content type. A secret that is bound to other hosts is refused.
func (b *SecretBox) put(ctx context.Context, u *url.URL, text, contentType string) (string, error) {
	return b.fill(ctx, hostmatch.Of(u), text, contentType)
}

func (b *SecretBox) fill(ctx context.Context, host, text, contentType string) (string, error) {
	return engine.FillSecrets(text, b.mark, func(name string) (string, error) {
		if b.from == nil {
			return "", fmt.Errorf("secret %q: %w", name, engine.ErrNoPort)
		}
		secret, err := b.from.Secret(ctx, name)
		if err != nil {
			return "", fmt.Errorf("secret %q: %w", name, err)
		}
		if len(secret.Hosts) > 0 && !hostmatch.Any(secret.Hosts, host) {
			return "", fmt.Errorf("secret %q: %w: %s is not among %s", name, ErrSecretHost, host, strings.Join(secret.Hosts, ", "))
		}
		b.hide(name, secret.Value)
		return engine.EscapeSecret(contentType, secret.Value), nil
	})
}

// putAddress is put for the address u itself. In the query values are escaped; in front of it they
// stay as they are, because a secret may be several parts of a path.
func (b *SecretBox) putAddress(ctx context.Context, u *url.URL, address string) (string, error) {
	path, query, _ := strings.Cut(address, "?")
	full, err := b.put(ctx, u, path, "")
	if err != nil || len(path) == len(address) {
		return full, err
	}
	query, err = b.put(ctx, u, query, engine.FormType)
	return full + "?" + query, err
}

// shortest is the length from which a secret can be told from ordinary text.
const shortest = 4

func (b *SecretBox) hide(name, value string) {
	if len(value) < shortest || slices.ContainsFunc(b.hidden, func(f form) bool { return f.text == value }) {
		return
	}
	for _, text := range engine.SecretForms(value) {
		b.hidden = append(b.hidden, form{text, "{{secret:" + name + "}}"})
	}
	slices.SortStableFunc(b.hidden, func(a, b form) int { return len(b.text) - len(a.text) })
}

// plain removes values and marks from a text.
func (b *SecretBox) plain(text string) string {
	for _, f := range b.hidden {
		text = strings.ReplaceAll(text, f.text, f.placeholder)
	}
	return engine.UnmarkSecrets(text, b.mark)
}

// plainError removes them from an error's text, and leaves the error's identity.
func (b *SecretBox) plainError(err error) error {
	if text := b.plain(err.Error()); text != err.Error() {
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

// cover replaces placeholders by a word that may stand anywhere in an address: their braces would
// be escaped and not recognised again.
func (b *SecretBox) cover(address string) string {
	out, _ := engine.FillSecrets(address, b.mark, func(string) (string, error) { return coverWord, nil })
	return out
}

func (b *SecretBox) covered(host string) bool { return strings.Contains(host, coverWord) }

const coverWord = "easel-secret"
