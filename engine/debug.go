package engine

import "context"

// This file runs one node alone, with given values, as an editor does.

// InputForm returns the fields that a person fills in to run one node alone: field name -> {name,
// type, optional, options, value}.
func (c *Canvas) InputForm(id string) (Value, error) {
	n, err := c.node(id)
	if err != nil {
		return Null, err
	}
	if f, ok := n.comp.(Former); ok {
		return formFields(f.InputForm()), nil
	}
	form := NewObject(4)
	if n.spec.Tool != nil && len(n.spec.Tool.Args) > 0 {
		for _, a := range n.spec.Tool.Args {
			form.Set(a.Name, inputField(a))
		}
		return form.Value(), nil
	}
	for _, r := range n.refs {
		name := r.Expr
		if at, ok := c.index[r.Node]; ok && c.nodes[at].name != "" {
			name = c.nodes[at].name + "@" + r.Output
		}
		form.Set(r.Expr, Object("name", name, "type", "line"))
	}
	return form.Value(), nil
}

// inputField returns the field of a form for an argument of a tool.
func inputField(a Field) Value {
	typ := "line"
	switch {
	case len(a.Enum) > 0:
		typ = "options"
	case a.Type == "number" || a.Type == "integer" || a.Type == "boolean":
		typ = a.Type
	}
	f := Object("name", a.Name, "type", typ, "optional", !a.Required)
	if len(a.Enum) > 0 {
		f = f.With("options", Strings(a.Enum...))
	}
	return f
}

// Inputs returns the inputs a node would read now: each reference in its params with its value, in
// document order. A node that has not run is null; unknown references are left out, and a text that
// is still being written is given as far as it is complete.
func (c *Canvas) Inputs(st *State, id string) (Value, error) {
	n, err := c.node(id)
	if err != nil {
		return Null, err
	}
	b := NewObject(len(n.refs))
	for _, r := range n.refs {
		v, _, err := st.lookup(r)
		if err != nil {
			continue
		}
		if s := v.Stream(); s != nil {
			text, _ := s.result() // its error is the writer's, not the reader's
			v = String(text)
		}
		b.Set(r.Expr, v)
	}
	return b.Value(), nil
}

// Debug runs one node alone on a fresh state: values replace its references, or are its arguments.
// It returns all outputs, streams read to the end.
func (c *Canvas) Debug(ctx context.Context, st *State, id string, values Value, opt Options) (Value, error) {
	n, err := c.node(id)
	if err != nil {
		return Null, err
	}
	st.Reset(false)
	plain := NewObject(values.Len())
	for k, v := range values.Fields() {
		if x, wrapped := v.Lookup("value"); wrapped {
			v = x
		}
		plain.Set(k, v)
	}
	opt.Checkpoints, opt.Internal = false, false // there is no reader
	r := newRun(ctx, c, st, Input{}, opt, nil)
	defer r.close()
	return r.debug(n, plain.Value())
}

// debug runs one node alone.
func (r *run) debug(n *node, values Value) (Value, error) {
	r.st.retrieval = append(r.st.retrieval, Reference{})
	call := r.newCall(n)
	call.args, call.debug = values, true
	r.calls = append(r.calls, call)
	r.shared = true
	b := &crew{r: r, done: make(chan *job, 1), queue: []*Call{call}}
	b.fill()
	b.wait()
	call = r.calls[0]
	r.applyCall(call)
	if s := call.speech; s != nil && call.err == nil {
		text := ""
		for _, p := range s.Parts {
			if stream := p.Stream(); stream != nil {
				t, err := stream.await(r.work(), r.work(), nil, nil)
				if err != nil {
					call.err = err
				}
				p = String(WithoutReasoning(t))
			}
			text += p.Text()
		}
		call.setOut("content", String(text))
	}
	if d := call.deferred; d != nil && call.err == nil {
		text, err := d.stream.await(r.work(), r.work(), nil, nil)
		call.setOut(d.output, String(text))
		call.err = err
	}
	r.applyCall(call)
	r.st.retrieval = r.st.retrieval[:len(r.st.retrieval)-1]
	out := r.st.Outputs(n.id)
	if r.canceled() {
		return out, ErrCanceled
	}
	if call.err != nil {
		return out, r.nodeError(n, call.err)
	}
	return out, nil
}
