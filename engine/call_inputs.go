package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// CallInputs is the part of a Call by which a component reads: references, variables, arguments,
// the conversation. See render.go for texts with references.
type CallInputs struct{ execution }

// Resolve returns the value of a reference. It is null for a node that has not run in this run; a
// node that is still writing its text is awaited. An unknown node or variable is an error (ErrRef).
func (c *CallInputs) Resolve(ctx context.Context, r *Ref) (Value, error) {
	v, _, err := c.resolve(ctx, r)
	return v, err
}

func (c *CallInputs) resolve(ctx context.Context, r *Ref) (v Value, absent bool, err error) {
	v, absent, err = c.peek(r)
	if s := v.Stream(); s != nil && err == nil {
		text, err := c.await(ctx, s)
		return String(text), false, err
	}
	if s := writing(c, r); s != nil && err == nil {
		if _, err = c.await(ctx, s); err == nil {
			v, absent = atEnd(s, r, v, absent)
		}
	}
	return v, absent, err
}

// Late returns the text that a node is still writing, if the reference names another output of it,
// which is complete when the text has ended: the tools that a streaming Agent used.
func Late(call *Call, r *Ref) (text Value, ok bool) {
	s := writing(&call.CallInputs, r)
	if s == nil {
		return Null, false
	}
	return streamValue(s), true
}

// writing returns the unfinished text of the node that a reference names, unless it is the output
// itself.
func writing(c *CallInputs, r *Ref) *Stream {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, ok := c.run.c.index[r.Node]
	if !ok || c.closed {
		return nil
	}
	if _, streams := c.run.c.nodes[i].comp.(Streamer); !streams {
		return nil
	}
	for _, out := range c.st.nodes[i].outs {
		if s := out.value.Stream(); s != nil && out.name != r.Output {
			return s
		}
	}
	return nil
}

// await returns the whole text of a stream.
func (c *CallInputs) await(ctx context.Context, s *Stream) (string, error) {
	if c.node.inline && !c.isTool && !c.away { // on the goroutine of the run's owner
		return s.await(ctx, c.run.work(), c.run.signal, c.run.flushNotes)
	}
	return s.await(ctx, c.run.work(), nil, nil)
}

// atEnd returns the value of a reference to another output of the writer of a stream, which may not
// be in the state yet, or else v.
func atEnd(s *Stream, r *Ref, v Value, absent bool) (Value, bool) {
	if x, ok := s.written(r.Output); ok {
		return Walk(x, r.Path), false
	}
	return v, absent
}

// Peek is Resolve, but returns a text that is still being written as a stream.
func (c *CallInputs) Peek(r *Ref) (Value, error) {
	v, _, err := c.peek(r)
	return v, err
}

func (c *CallInputs) peek(r *Ref) (v Value, absent bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.view(r)
}

// Answers reports whether a reference names streamed output of a node, such as a model's answer,
// which may contain reasoning.
func (c *CallInputs) Answers(r *Ref) bool {
	i, ok := c.run.c.index[r.Node]
	if !ok || len(r.Path) > 0 {
		return false
	}
	_, streams := c.run.c.nodes[i].comp.(Streamer)
	return streams
}

// view looks a reference up; mu is held. Writes of this execution to it already count.
func (c *CallInputs) view(r *Ref) (v Value, absent bool, err error) {
	if c.closed {
		return Null, false, ErrCanceled
	}
	given := false
	if c.debug || c.edited {
		v, given = c.args.Lookup(r.Expr)
	}
	if !given {
		v, absent, err = c.st.lookup(r)
	}
	if err != nil || len(c.sets) == 0 {
		return v, absent, err
	}
	return c.overlay(r, v, absent)
}

// overlay puts this execution's own writes over a value: those of the reference itself, of
// something above it and of something below it.
func (c *CallInputs) overlay(r *Ref, v Value, absent bool) (Value, bool, error) {
	for _, a := range c.sets {
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

// Global returns a variable of the conversation, or null.
func (c *CallInputs) Global(name string) Value {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return Null
	}
	v, _ := c.st.globals.get(name)
	return v
}

// Arg returns an argument of a tool: the model's or, if the node does not run as a tool, the value
// of the parameter. It is recorded as an input. given is false without either.
func (c *CallInputs) Arg(ctx context.Context, name string, param *Expr) (v Value, given bool, err error) {
	if x, ok := c.args.Lookup(name); ok {
		v, given = x, true
	} else if !param.IsEmpty() {
		if v, err = c.Eval(ctx, param); err != nil {
			return Null, false, err
		}
		given = true
	}
	if given && !c.isTool {
		c.In(name, v)
	}
	return v, given, nil
}

// Args returns the arguments from a model, or null if the node does not run as a tool.
func (c *CallInputs) Args() Value {
	if c.isTool {
		return c.args
	}
	return Null
}

// RunInputs returns the inputs the caller of the run passed, by name, for forms and the start; null
// when none.
func (c *CallInputs) RunInputs() Value {
	if c.debug {
		return c.args
	}
	return c.run.in.Inputs
}

// Webhook returns the payload of a run that a web request started; null otherwise.
func (c *CallInputs) Webhook() Value { return c.run.in.Webhook }

// In records an input for node_finished.
func (c *CallInputs) In(name string, v Value) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.record(len(c.ins), name, v)
}

// NodeName returns the display name of a node.
func (c *CallInputs) NodeName(id string) string {
	if i, ok := c.run.c.index[id]; ok {
		return c.run.c.nodes[i].name
	}
	return ""
}

// History returns the last n turns of the conversation, two entries each, oldest first; the last
// entry is the user's current message. It panics if Init has not declared as many with
// [Setup.LookBack].
func (c *CallInputs) History(n int) []Turn {
	if most := c.node.lookback.Turns; n > most && most != AllTurns {
		panic(fmt.Sprintf("component %s reads %d turns; its Init declares %d", c.node.spec.Name, n, most))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	return c.st.window(n)
}

// Memories returns the summaries that earlier runs of the conversation left with Remember, oldest
// first: lists of user, assistant and summary. There are at most as many as the nodes of the canvas
// declare with [Setup.LookBack].
func (c *CallInputs) Memories() []Value {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	return slices.Clone(c.st.memory)
}

// Chunks returns the passages found so far in this run, by citation number, those of this execution
// included.
func (c *CallInputs) Chunks() Value {
	root := c.root()
	root.mu.Lock()
	defer root.mu.Unlock()
	if root.closed {
		return Null
	}
	ref := Reference{}
	if n := len(c.st.retrieval); n > 0 {
		ref = c.st.retrieval[n-1].clone()
	}
	for _, x := range root.cites {
		ref.add(x.node, x.chunks, x.aggs)
	}
	passagesOf(&c.execution).addTo(&ref)
	return ref.chunks.value()
}

// Speaks reports whether a node sends its content to the user.
func (c *CallInputs) Speaks(id string) bool {
	i, ok := c.run.c.index[id]
	return ok && c.run.c.nodes[i].speaker != nil
}
