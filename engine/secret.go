package engine

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine/stable"
)

// A canvas names a secret as {{secret:NAME}}. Only a placeholder in the canvas's own
// configuration counts: on the way to a port it carries the mark of the run, {{secret:NAME:MARK}},
// and a port replaces the placeholders with the mark it received. A placeholder in a value that
// came from outside (user, webhook, document, model, tool) carries no mark and is plain text. Marks
// are random, live as long as a run and are removed from all responses.
const (
	secretOpen  = "{{secret:"
	secretClose = "}}"
)

// MapSecrets returns text with every placeholder replaced by what change returns for its name,
// which is not empty, holds no braces and ends in the mark where there is one.
func MapSecrets(text string, change func(name string) string) string {
	var parts []string
	done := 0 // bytes of text that are in parts
	for at := 0; ; {
		open := strings.Index(text[at:], secretOpen)
		if open < 0 {
			return strings.Join(append(parts, text[done:]), "")
		}
		open += at
		at = open + len(secretOpen)
		end := at + strings.IndexAny(text[at:]+"}", "{}")
		if end > at && strings.HasPrefix(text[end:], secretClose) {
			parts = append(parts, text[done:open], change(text[at:end]))
			at = end + len(secretClose)
			done = at
		}
	}
}

// FillSecrets returns text with every placeholder that carries mark replaced by the result of value
// for its name. Other placeholders stay as they are; without a mark all do. The errors of value are
// joined.
func FillSecrets(text, mark string, value func(name string) (string, error)) (string, error) {
	if !HasSecret(text, mark) {
		return text, nil
	}
	var failed error
	filled := MapSecrets(text, func(name string) string {
		own, ok := strings.CutSuffix(name, ":"+mark)
		if !ok {
			return secretOpen + name + secretClose
		}
		v, err := value(own)
		failed = errors.Join(failed, err)
		return v
	})
	return filled, failed
}

// HasSecret reports whether text holds a placeholder that carries mark.
func HasSecret(text, mark string) bool {
	return mark != "" && strings.Contains(text, ":"+mark+secretClose)
}

// MarkSecrets returns text, which must be configuration, with mark in every placeholder.
func MarkSecrets(text, mark string) string {
	return MapSecrets(text, func(name string) string { return Placeholder(name, mark) })
}

// Placeholder returns the placeholder of a secret in a text, with the mark unless that is empty.
func Placeholder(name, mark string) string {
	if mark != "" {
		name += ":" + mark
	}
	return secretOpen + name + secretClose
}

// UnmarkSecrets returns text without mark: placeholders read {{secret:NAME}} again.
func UnmarkSecrets(text, mark string) string {
	if mark == "" || !strings.Contains(text, mark) {
		return text
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, ":"+mark, ""), mark, "")
}

// SecretForms lists the forms in which the value of a secret may appear in responses: unchanged,
// escaped for URLs, forms and JSON, and in base64, alone or inside a longer text. The longest is
// first, so that none is replaced in part.
func SecretForms(value string) []string {
	quoted := EscapeSecret("json", value)
	out := []string{
		value, quoted, strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`).Replace(quoted),
		EscapeSecret(FormType, value), escaped(value, "-_.~$&+:=@", "%20"), escaped(value, "-_.~!*'()", "%20"),
	}
	for _, e := range [...]*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		out = append(out, e.EncodeToString([]byte(value)),
			e.WithPadding(base64.NoPadding).EncodeToString([]byte(value)))
		for before := range 3 {
			if inner := within64(e, value, before); len(inner) >= leastBase64 {
				out = append(out, inner)
			}
		}
	}
	stable.Sort(out, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(out)
}

// EscapeSecret escapes the value of a secret for a body of this content type: as inside JSON
// quotes, or as %XX in a form. In other bodies it is not changed.
func EscapeSecret(contentType, value string) string {
	switch kind := strings.ToLower(contentType); {
	case strings.Contains(kind, "json"):
		quoted := AppendQuoted(nil, value)
		return string(quoted[1 : len(quoted)-1])
	case strings.Contains(kind, "x-www-form-urlencoded"):
		return escaped(value, "-_.~", "+")
	}
	return value
}

// FormType is the content type of a form, and how the query of an address is written.
const FormType = "application/x-www-form-urlencoded"

// leastBase64 is the least number of base64 characters that are searched for inside a longer text;
// fewer are found by chance.
const leastBase64 = 6

// within64 returns the part of the base64 text that depends on value alone, if value follows a
// number of bytes (modulo 3) and precedes others.
func within64(e *base64.Encoding, value string, before int) string {
	all := e.WithPadding(base64.NoPadding).EncodeToString(append(make([]byte, before), value...))
	from := (before*8 + 5) / 6
	to := (before + len(value)) * 8 / 6
	return all[from:max(from, to)]
}

// escaped writes s with %XX for all bytes but letters, digits and those of plain.
func escaped(s, plain, blank string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		switch {
		case c == ' ':
			b.WriteString(blank)
		case c != '_' && isWordByte(c), strings.IndexByte(plain, c) >= 0:
			b.WriteByte(c)
		default:
			const hex = "0123456789ABCDEF"
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}

// SecretMark returns the mark that placeholders of this run carry, for a port; "" when no
// placeholder of the configuration was used yet, so that none is to be replaced.
func (c *Call) SecretMark() string {
	return c.run.secretMark()
}

// MarkSecrets returns a value of the configuration with the mark of the run in its placeholders. A
// value that came from outside must not be passed.
func (c *Call) MarkSecrets(v Value) Value { return v.MapStrings(c.run.markText) }

// ResolveConfig is Resolve for a parameter that may hold secrets: an env variable whose value
// equals the canvas's definition is configuration, so its placeholders are marked.
func (c *Call) ResolveConfig(ctx context.Context, r *Ref) (Value, error) {
	v, err := c.Resolve(ctx, r)
	if err == nil && c.st.defines(r, v) {
		v = c.MarkSecrets(v)
	}
	return v, err
}

// Defines reports whether v, the value of r, equals the canvas's definition of an env variable:
// configuration, and not a value from outside.
func (c *Call) Defines(r *Ref, v Value) bool { return c.st.defines(r, v) }

// defines reports whether v equals the document's definition of the env variable r. A value that is
// only in the saved globals is state.
func (s *State) defines(r *Ref, v Value) bool {
	name, env := strings.CutPrefix(r.Expr, "env.")
	return env && Equal(s.envDefault(name), v)
}

// EvalConfig is Eval for a parameter that may hold secrets: the placeholders in its literal parts
// are marked.
func (c *Call) EvalConfig(ctx context.Context, e *Expr) (Value, error) {
	return c.eval(ctx, e, true)
}

// Secret looks a secret up. Its value must not be stored: the run removes it from outputs, events
// and errors.
func (c *Call) Secret(ctx context.Context, name string) (Secret, error) {
	secrets := c.run.opt.Ports.Secrets
	if secrets == nil {
		return Secret{}, fmt.Errorf("secret %q: %w", name, ErrNoPort)
	}
	secret, err := secrets.Secret(ctx, name)
	if err != nil {
		return Secret{}, fmt.Errorf("secret %q: %w", name, err)
	}
	c.run.learn(name, secret.Value)
	return secret, nil
}

// nodeError returns the error that a run ends with: err, whose text may quote a request, without
// secrets.
func (r *redactor) nodeError(n *node, err error) error {
	return &NodeError{Node: n.id, Kind: n.spec.Name, Err: r.redactError(err)}
}

// MapStrings returns v with change applied to every string in it; keys of objects stay as they are.
func (v Value) MapStrings(change func(string) string) Value {
	switch v.kind {
	case KindString:
		v.text = change(v.text)
	case KindList, KindObject:
		vals := make([]Value, len(v.tree.vals))
		for i := range vals {
			vals[i] = v.tree.vals[i].MapStrings(change)
		}
		v.tree = &tree{keys: v.tree.keys, vals: vals, index: v.tree.index}
	}
	return v
}
