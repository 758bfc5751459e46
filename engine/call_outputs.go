package engine

import (
	"context"
	"fmt"
)

// CallOutputs is the part of a Call by which a component leaves something behind: outputs,
// messages, writes to variables, what runs next, what an answer rests on, entries of the log.
type CallOutputs struct{ call *Call }

// Out sets an output. One that is larger than outputs may be is null, and the execution fails when
// it returns.
func (out *CallOutputs) Out(name string, v Value) {
	err := out.call.CheckValue(v)
	if err == nil && out.call.isTool {
		err = out.call.reserve(v.Size()) // an agent holds it until it is done
	}
	out.call.mu.Lock()
	defer out.call.mu.Unlock()
	if err != nil {
		v = Null
		if out.call.over == nil {
			out.call.exceeds.Store(true)
			out.call.over = fmt.Errorf("output %s: %w", name, err)
		}
	}
	out.setOut(name, v)
}

func (out *CallOutputs) setOut(name string, v Value) {
	if out.call.closed {
		return
	}
	for i := range out.call.outs {
		if out.call.outs[i].name == name {
			out.call.outs[i].value = v
			return
		}
	}
	out.call.outs = append(out.call.outs, slot{name, v})
}

// Written is an output this execution has set already.
func (out *CallOutputs) Written(name string) (Value, bool) {
	out.call.mu.Lock()
	defer out.call.mu.Unlock()
	for i := range out.call.outs {
		if out.call.outs[i].name == name {
			return out.call.outs[i].value, true
		}
	}
	return Null, false
}

// Defer announces a stream as the output: the component's Stream is asked for it when somebody
// first reads it.
func (out *CallOutputs) Defer(output string, request Value) error {
	s, ok := out.call.node.comp.(Streamer)
	if !ok {
		return fmt.Errorf("%s cannot stream", out.call.node.spec.Name)
	}
	if err := out.call.CheckValue(request); err != nil {
		return err
	}
	stream := newStream(request, func(ctx context.Context, emit func(string) error) error {
		m := meter{call: out.call}
		return s.Stream(ctx, out.call, request, func(piece string) error {
			if err := m.add(len(piece)); err != nil {
				return err
			}
			return emit(piece)
		})
	})
	out.call.mu.Lock()
	defer out.call.mu.Unlock()
	out.call.deferred = &deferred{output: output, stream: stream}
	out.setOut(output, streamValue(stream))
	return nil
}

// CanStream reports whether somebody downstream speaks what this node writes, and nothing stands in
// the way.
func (out *CallOutputs) CanStream() bool {
	return !out.call.isTool && out.call.node.feeds && len(out.call.node.gotos) == 0
}

// Say hands over what the node tells the user.
func (out *CallOutputs) Say(s Speech) {
	out.call.mu.Lock()
	defer out.call.mu.Unlock()
	out.call.speech = &s
}

// Set writes to a reference when the execution is over. An unknown variable is an error now.
func (out *CallOutputs) Set(ctx context.Context, r *Ref, v Value) error {
	if _, err := out.call.Peek(r); err != nil {
		return err
	}
	if err := out.call.CheckValue(v); err != nil {
		return err
	}
	out.call.mu.Lock()
	defer out.call.mu.Unlock()
	out.call.sets = append(out.call.sets, assignment{r, v})
	return nil
}

// Next chooses the successors, instead of all edges. It must name ids from Targets. An id the
// canvas lacks is an error (ErrRef), and nothing is chosen.
func (out *CallOutputs) Next(ids []string) error {
	next := make([]nodeIndex, len(ids))
	for i, id := range ids {
		n, ok := out.call.run.c.index[id]
		if !ok {
			return fmt.Errorf("%w: it leads to %q, which is no component of this canvas", ErrRef, id)
		}
		next[i] = n
	}
	out.call.mu.Lock()
	defer out.call.mu.Unlock()
	out.call.branched, out.call.next = true, append(out.call.next, next...)
	out.setOut("_next", Strings(ids...))
	return nil
}

// Cite adds passages an answer may rest on.
func (out *CallOutputs) Cite(chunks, docAggs []Value) {
	if out.call.parent != nil {
		out.call.parent.Cite(chunks, docAggs)
		return
	}
	chunks, docAggs = elements(out.call.run.redact(listOf(chunks))), elements(out.call.run.redact(listOf(docAggs)))
	out.call.mu.Lock()
	defer out.call.mu.Unlock()
	out.call.cites = append(out.call.cites, citation{out.call.id, chunks, docAggs})
}

// Remember adds a summary to the memory of the conversation.
func (out *CallOutputs) Remember(user, assistant, summary string) {
	root := out.call.root()
	root.mu.Lock()
	defer root.mu.Unlock()
	root.memories = append(root.memories, Strings(user, assistant, summary))
}

// Log writes an entry of the run's log that is not one of the wire's events: tool_started,
// progress, usage, ...
func (out *CallOutputs) Log(typ EventType, data Value) { out.call.run.note(typ, out.call.node, data) }
