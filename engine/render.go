package engine

import (
	"context"
	"slices"
	"strings"
)

// Eval is the value of a parameter that may be a literal, a reference or a text with references.
func (in *CallInputs) Eval(ctx context.Context, e *Expr) (Value, error) {
	return in.eval(ctx, e, false)
}

// eval is Eval, and with secrets EvalConfig.
func (in *CallInputs) eval(ctx context.Context, e *Expr, secrets bool) (v Value, err error) {
	switch {
	case e.whole, !e.ref.IsZero() && in.refers(&e.ref):
		v, err = in.Resolve(ctx, &e.ref)
		secrets = secrets && in.call.run.st.defines(&e.ref, v)
	case len(e.text.refs) > 0:
		s, err := in.Render(ctx, &e.text, TextStyle{Secrets: secrets})
		return String(s), err
	default:
		v = e.Literal
	}
	if secrets {
		v = in.call.MarkSecrets(v)
	}
	return v, err
}

// refers reports whether a bare expression means something in this canvas.
func (in *CallInputs) refers(r *Ref) bool {
	in.call.mu.Lock()
	defer in.call.mu.Unlock()
	if r.Node != "" {
		_, ok := in.call.run.c.index[r.Node]
		return ok
	}
	_, ok := in.call.run.st.globals.get(r.Expr)
	return ok
}

// TextStyle says how values read inside a text.
type TextStyle struct {
	Null   string // what null reads as; a node that has not run always reads as nothing
	Join   string // put between the elements of a list; "" writes lists as JSON
	Record bool   // note each reference as an input of the node
	// Secrets marks the placeholders of secrets in the literal parts, for a port; see FillSecrets.
	Secrets bool
}

// Render is a text with its references replaced.
func (in *CallInputs) Render(ctx context.Context, t *Text, style TextStyle) (string, error) {
	if len(t.refs) == 0 {
		if style.Secrets {
			return in.call.run.markText(t.Source), nil
		}
		return t.Source, nil
	}
	texts := make([]string, len(t.refs))
	if err := in.texts(ctx, t, style, texts); err != nil {
		return "", err
	}
	size := t.FilledLen(texts)
	if err := in.call.CheckText(size); err != nil {
		return "", err
	}
	if style.Secrets {
		marked := Text{parts: append([]textPart(nil), t.parts...)}
		for i := range marked.parts {
			marked.parts[i].lit = in.call.run.markText(marked.parts[i].lit)
		}
		t = &marked
	}
	return t.fill(texts, size), nil
}

// texts is how each reference of t reads, noted as inputs where the style says so. The state is
// looked at under one lock, except for texts that are still being written.
func (in *CallInputs) texts(ctx context.Context, t *Text, style TextStyle, texts []string) error {
	in.call.mu.Lock()
	known := len(in.call.ins)
	if style.Record && cap(in.call.ins)-known < len(texts) {
		in.call.ins = slices.Grow(in.call.ins, len(texts))
	}
	for i := range t.refs {
		v, absent, err := in.view(&t.refs[i])
		if v.kind == KindStream && err == nil {
			in.call.mu.Unlock()
			v, absent, err = in.resolve(ctx, &t.refs[i])
			in.call.mu.Lock()
		}
		if err != nil {
			in.call.mu.Unlock()
			return err
		}
		if v.tree != nil { // a string is not copied
			if err := in.checkRead(style, v); err != nil {
				in.call.mu.Unlock()
				return err
			}
		}
		texts[i] = style.text(v, absent)
		if style.Secrets && in.call.run.st.defines(&t.refs[i], v) {
			texts[i] = in.call.run.markText(texts[i])
		}
		if style.Record {
			in.record(known, t.refs[i].Expr, String(texts[i]))
		}
	}
	in.call.mu.Unlock()
	return nil
}

// record notes an input; only the first known ones may have the same name.
func (in *CallInputs) record(known int, name string, v Value) {
	if len(v.text) > smallInput || v.tree != nil || len(in.call.ins) > 500 {
		in.call.long = true
	}
	for i := range in.call.ins[:known] {
		if in.call.ins[i].name == name {
			in.call.ins[i].value = v
			return
		}
	}
	in.call.ins = append(in.call.ins, slot{name, v})
}

func (s TextStyle) text(v Value, absent bool) string {
	switch {
	case absent:
		return ""
	case v.IsNull():
		return s.Null
	case s.Join != "" && v.Kind() == KindList:
		parts := make([]string, v.Len())
		for i, e := range v.Elements() {
			parts[i] = e.Text()
		}
		return strings.Join(parts, s.Join)
	}
	return v.Text()
}

// TextOf is how one reference reads in the given style.
func (in *CallInputs) TextOf(ctx context.Context, r *Ref, style TextStyle) (string, error) {
	v, absent, err := in.resolve(ctx, r)
	if err != nil {
		return "", err
	}
	if err := in.checkRead(style, v); err != nil {
		return "", err
	}
	return style.text(v, absent), nil
}

// checkRead is nil when a value is no longer as a text than texts may be. Strings are not copied.
func (in *CallInputs) checkRead(s TextStyle, v Value) error {
	if v.kind != KindList && v.kind != KindObject {
		return nil
	}
	limit := in.call.run.opt.Limits.Text
	n := v.textLen(limit) + int64(len(s.Join))*int64(v.Len())
	if err := within(ErrTextTooLarge, n, limit); err != nil {
		return err
	}
	return in.call.reserve(n)
}
