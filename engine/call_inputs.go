package engine

import (
	"context"
	"strings"
)

// CallInputs is the part of a Call by which a component reads: references, variables, arguments,
// the conversation. See render.go for texts with references.
type CallInputs struct{ call *Call }

// Resolve is the value of a reference. A node that has not run in this run gives null; a text that
// is still being written is awaited. An unknown node or variable is an error (ErrRef).
func (in *CallInputs) Resolve(ctx context.Context, r *Ref) (Value, error) {
	v, _, err := in.resolve(ctx, r)
	return v, err
}

func (in *CallInputs) resolve(ctx context.Context, r *Ref) (v Value, absent bool, err error) {
	v, absent, err = in.peek(r)
	if s := v.Stream(); s != nil && err == nil {
		text, err := in.await(ctx, s)
		return String(text), false, err
	}
	return v, absent, err
}

// await is the whole text of a stream.
func (in *CallInputs) await(ctx context.Context, s *Stream) (string, error) {
	if in.call.node.inline && !in.call.isTool { // on the goroutine of the run's owner
		return s.await(ctx, in.call.run.work(), in.call.run.signal, in.call.run.flushNotes)
	}
	return s.await(ctx, in.call.run.work(), nil, nil)
}

// Peek is Resolve that leaves a text that is still being written as a stream.
func (in *CallInputs) Peek(r *Ref) (Value, error) {
	v, _, err := in.peek(r)
	return v, err
}

func (in *CallInputs) peek(r *Ref) (v Value, absent bool, err error) {
	in.call.mu.Lock()
	defer in.call.mu.Unlock()
	return in.view(r)
}

// view looks a reference up; mu is held. What this execution has written to it already counts.
func (in *CallInputs) view(r *Ref) (v Value, absent bool, err error) {
	if in.call.closed {
		return Null, false, ErrCanceled
	}
	given := false
	if in.call.debug {
		v, given = in.call.args.Lookup(r.Expr)
	}
	if !given {
		v, absent, err = in.call.run.st.lookup(r)
	}
	if err != nil || len(in.call.sets) == 0 {
		return v, absent, err
	}
	return in.overlay(r, v, absent)
}

// overlay puts this execution's own writes over a value: those of the reference itself, of
// something above it and of something below it.
func (in *CallInputs) overlay(r *Ref, v Value, absent bool) (Value, bool, error) {
	for _, a := range in.call.sets {
		if a.ref.Expr == r.Expr {
			v, absent = a.value, false
		} else if below, ok := strings.CutPrefix(r.Expr, a.ref.Expr+"."); ok {
			v, absent = Walk(a.value, strings.Split(below, ".")), false
		} else if below, ok := strings.CutPrefix(a.ref.Expr, r.Expr+"."); ok {
			v, absent = Put(v, strings.Split(below, "."), a.value), false
		}
	}
	return v, absent, nil
}

// Global is a variable of the conversation, or null.
func (in *CallInputs) Global(name string) Value {
	in.call.mu.Lock()
	defer in.call.mu.Unlock()
	if in.call.closed {
		return Null
	}
	v, _ := in.call.run.st.globals.get(name)
	return v
}

// Arg is an argument of a tool: what the model gave, or when the node runs by itself the
// parameter's value. It is noted as an input. given is false when there is none.
func (in *CallInputs) Arg(ctx context.Context, name string, param *Expr) (v Value, given bool, err error) {
	if x, ok := in.call.args.Lookup(name); ok {
		v, given = x, true
	} else if !param.IsEmpty() {
		if v, err = in.Eval(ctx, param); err != nil {
			return Null, false, err
		}
		given = true
	}
	if given && !in.call.isTool {
		in.In(name, v)
	}
	return v, given, nil
}

// Args are the arguments a model gave, or null when the node runs by itself.
func (in *CallInputs) Args() Value {
	if in.call.isTool {
		return in.call.args
	}
	return Null
}

// RunInputs are the inputs the caller of the run passed, by name, for forms and the start; null
// when none.
func (in *CallInputs) RunInputs() Value {
	if in.call.debug {
		return in.call.args
	}
	return in.call.run.in.Inputs
}

// Webhook is the payload of a run that a web request started; null otherwise.
func (in *CallInputs) Webhook() Value { return in.call.run.in.Webhook }

// In notes an input as node_finished shows it.
func (in *CallInputs) In(name string, v Value) {
	in.call.mu.Lock()
	defer in.call.mu.Unlock()
	in.record(len(in.call.ins), name, v)
}

// NodeName is the display name of a node.
func (in *CallInputs) NodeName(id string) string {
	if i, ok := in.call.run.c.index[id]; ok {
		return in.call.run.c.nodes[i].name
	}
	return ""
}

// History is the last n turns of the conversation, two entries each, oldest first; the last entry
// is what the user said now.
func (in *CallInputs) History(n int) []Turn {
	in.call.mu.Lock()
	defer in.call.mu.Unlock()
	if in.call.closed {
		return nil
	}
	return in.call.run.st.window(n)
}

// Chunks are the passages found so far in this run, by citation number, those of this execution
// included.
func (in *CallInputs) Chunks() Value {
	root := in.call.root()
	root.mu.Lock()
	defer root.mu.Unlock()
	if root.closed {
		return Null
	}
	ref := newReference()
	if n := len(in.call.run.st.retrieval); n > 0 {
		ref = in.call.run.st.retrieval[n-1].clone()
	}
	for _, x := range root.cites {
		ref.add(x.node, x.chunks, x.aggs)
	}
	return ref.chunks.value()
}

// Speaks reports whether a node tells the user its content itself.
func (in *CallInputs) Speaks(id string) bool {
	i, ok := in.call.run.c.index[id]
	return ok && in.call.run.c.nodes[i].speaker != nil
}
