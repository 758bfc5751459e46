package web

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/egress/hostmatch"
)

// SecretBox fills the placeholders of one request that carry its mark, and removes the values from
// the response. It is not safe for concurrent use.
type SecretBox struct {
	from   engine.Secrets
	mark   string
	also   []string // hosts that receive the request besides the one it is sent to
	hidden []form   // encodings of the values that were filled in
}

// form is one encoding of a value, and the placeholder that replaces it.
type form struct{ text, placeholder string }

// NewSecretBox returns a box for a request with the given mark; from may be nil.
func NewSecretBox(from engine.Secrets, mark string) *SecretBox {
	return &SecretBox{from: from, mark: mark}
}

// Fill replaces the placeholders of a text that is sent to host (host:port). Errors:
// [ErrSecretHost], those of the secret store.
func (b *SecretBox) Fill(ctx context.Context, host, text string) (string, error) {
	return b.fill(ctx, host, text, "")
}

// Hide removes texts that are secret without a name from then on.
func (b *SecretBox) Hide(texts ...string) {
	for _, text := range texts {
		b.cloak(text, "***")
	}
}

// Mark returns the mark of the placeholders that are filled.
func (b *SecretBox) Mark() string { return b.mark }

// Plain returns text without secret values and marks.
func (b *SecretBox) Plain(text string) string { return b.plain(text) }

// PlainError returns err with secret values removed from its text; errors.Is is not affected.
func (b *SecretBox) PlainError(err error) error { return b.plainError(err) }

func (b *SecretBox) in(text string) bool { return engine.HasSecret(text, b.mark) }

// put replaces the placeholders of a text that is sent to the host of u; values are escaped for the
// content type. A secret that is bound to other hosts is an error.
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
		for _, to := range append([]string{host}, b.also...) {
			if len(secret.Hosts) > 0 && !hostmatch.Any(secret.Hosts, to) {
				return "", fmt.Errorf("secret %q: %w: %s is not among %s", name, ErrSecretHost, to,
					strings.Join(secret.Hosts, ", "))
			}
		}
		b.hide(name, secret.Value)
		return engine.EscapeSecret(contentType, secret.Value), nil
	})
}

// putAddress is put for the URL u itself. Values are escaped in the query, but not before it, where
// a secret may contain several path segments.
func (b *SecretBox) putAddress(ctx context.Context, u *url.URL, address string) (string, error) {
	path, query, _ := strings.Cut(address, "?")
	full, err := b.put(ctx, u, path, "")
	if err != nil || len(path) == len(address) {
		return full, err
	}
	query, err = b.put(ctx, u, query, engine.FormType)
	return full + "?" + query, err
}

// minSecret is the minimum length of a value that is removed; shorter ones occur in ordinary text.
const minSecret = 4

func (b *SecretBox) hide(name, value string) { b.cloak(value, "{{secret:"+name+"}}") }

// cloak removes a value from then on, and writes a placeholder for it.
func (b *SecretBox) cloak(value, placeholder string) {
	if len(value) < minSecret || slices.ContainsFunc(b.hidden, func(f form) bool { return f.text == value }) {
		return
	}
	for _, text := range engine.SecretForms(value) {
		b.hidden = append(b.hidden, form{text, placeholder})
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

// plainError removes values and marks from the text of an error and keeps its identity.
func (b *SecretBox) plainError(err error) error {
	if text := b.plain(err.Error()); text != err.Error() {
		return &hidden{text, err}
	}
	return err
}

// hidden is an error with secrets removed from its text.
type hidden struct {
	text string
	err  error
}

func (h *hidden) Error() string        { return h.text }
func (h *hidden) Is(target error) bool { return errors.Is(h.err, target) }

// cover replaces placeholders by a word that is valid anywhere in a URL, since parsing would escape
// their braces.
func (b *SecretBox) cover(address string) string {
	out, _ := engine.FillSecrets(address, b.mark, func(string) (string, error) { return coverWord, nil })
	return out
}

func (b *SecretBox) covered(host string) bool { return strings.Contains(host, coverWord) }

const coverWord = "easel-secret"
