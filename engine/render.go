package engine

import (
	"context"
	"slices"
	"strings"
)

// Eval returns the value of a parameter that may be a literal, a reference or a text with
// references.
func (c *CallInputs) Eval(ctx context.Context, e *Expr) (Value, error) {
	return c.eval(ctx, e, false)
}

// eval is Eval or, with secrets, EvalConfig.
func (c *CallInputs) eval(ctx context.Context, e *Expr, secrets bool) (v Value, err error) {
	switch {
	case e.whole, !e.ref.IsZero() && c.refers(&e.ref):
		v, err = c.Resolve(ctx, &e.ref)
		secrets = secrets && c.st.defines(&e.ref, v)
	case len(e.text.refs) > 0:
		s, err := c.Render(ctx, &e.text, TextStyle{Secrets: secrets})
		return String(s), err
	default:
		v = e.Literal
	}
	if secrets {
		v = v.MapStrings(c.run.markText)
	}
	return v, err
}

// refers reports whether a bare expression is a reference in this canvas.
func (c *CallInputs) refers(r *Ref) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.Node != "" {
		_, ok := c.run.c.index[r.Node]
		return ok
	}
	_, ok := c.st.globals.get(r.Expr)
	return ok || isPrincipal(r.Expr)
}

// TextStyle configures how values are written inside a text.
type TextStyle struct {
	Null   string // what null reads as; a node that has not run always reads as nothing
	Join   string // put between the elements of a list; "" writes lists as JSON
	Record bool   // note each reference as an input of the node
	// Secrets marks the placeholders of secrets in the literal parts, for a port; see FillSecrets.
	Secrets bool
}

// Render returns a text with its references replaced.
func (c *CallInputs) Render(ctx context.Context, t *Text, style TextStyle) (string, error) {
	if len(t.refs) == 0 {
		if style.Secrets {
			return c.run.markText(t.Source), nil
		}
		return t.Source, nil
	}
	var few [8]string // on the stack
	texts := few[:]
	if len(t.refs) > len(few) {
		texts = make([]string, len(t.refs))
	}
	if err := c.texts(ctx, t, style, texts); err != nil {
		return "", err
	}
	size := t.FilledLen(texts)
	if err := c.CheckText(size); err != nil {
		return "", err
	}
	if style.Secrets {
		marked := Text{parts: append([]textPart(nil), t.parts...)}
		for i := range marked.parts {
			marked.parts[i].lit = c.run.markText(marked.parts[i].lit)
		}
		t = &marked
	}
	return t.fill(texts, size), nil
}

// Texts returns the text of each of the references of t, in the order of Refs.
func Texts(ctx context.Context, c *Call, t *Text) ([]string, error) {
	texts := make([]string, len(t.refs))
	return texts, c.texts(ctx, t, TextStyle{}, texts)
}

// texts returns the text of each reference of t, recorded as inputs if style.Record is set. The
// state is read under one lock, except for texts that are still being written.
func (c *CallInputs) texts(ctx context.Context, t *Text, style TextStyle, texts []string) error {
	c.mu.Lock()
	known := len(c.ins)
	if style.Record && cap(c.ins)-known < len(texts) {
		c.ins = slices.Grow(c.ins, len(texts))
	}
	plain := !style.Record && !style.Secrets && !c.closed && !c.debug && !c.edited && len(c.sets) == 0
	for i := range t.refs {
		if r := &t.refs[i]; plain && r.Node == "" {
			if s, ok := c.st.globals.textAt(r.slot, r.Expr); ok { // the common case
				texts[i] = s
				continue
			}
		}
		v, absent, err := c.view(&t.refs[i])
		if v.kind == KindStream && err == nil {
			c.mu.Unlock()
			v, absent, err = c.resolve(ctx, &t.refs[i])
			c.mu.Lock()
		}
		if err != nil {
			c.mu.Unlock()
			return err
		}
		if v.tree != nil { // a string is not copied
			if err := c.checkRead(style, v); err != nil {
				c.mu.Unlock()
				return err
			}
		}
		texts[i] = style.text(v, absent)
		if style.Secrets && c.st.defines(&t.refs[i], v) {
			texts[i] = c.run.markText(texts[i])
		}
		if style.Record {
			c.record(known, t.refs[i].Expr, String(texts[i]))
		}
	}
	c.mu.Unlock()
	return nil
}

// record records an input; only the first known ones may have the same name.
func (c *CallInputs) record(known int, name string, v Value) {
	if len(v.text) > smallInput || v.tree != nil || len(c.ins) > 500 {
		c.long = true
	}
	for i := range c.ins[:known] {
		if c.ins[i].name == name {
			c.ins[i].value = v
			return
		}
	}
	c.ins = append(c.ins, slot{name, v})
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

// TextOf returns the text of one reference in the given style.
func (c *CallInputs) TextOf(ctx context.Context, r *Ref, style TextStyle) (string, error) {
	v, absent, err := c.resolve(ctx, r)
	if err != nil {
		return "", err
	}
	if err := c.checkRead(style, v); err != nil {
		return "", err
	}
	return style.text(v, absent), nil
}

// checkRead returns nil if the text of a value is within the limit of texts. Strings are not
// copied.
func (c *CallInputs) checkRead(s TextStyle, v Value) error {
	if v.kind != KindList && v.kind != KindObject {
		return nil
	}
	limit := c.run.opt.Limits.Text
	n := v.textLen(limit) + int64(len(s.Join))*int64(v.Len())
	if err := within(ErrTextTooLarge, n, limit); err != nil {
		return err
	}
	return c.reserve(n)
}
