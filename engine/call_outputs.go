package engine

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// CallOutputs is the part of a Call that takes the effects of a component: outputs, messages,
// writes to variables, the choice of successors, citations, entries of the log.
type CallOutputs struct{ CallInputs }

// Out sets an output. One that exceeds the limit of outputs is null, and the execution fails when
// it returns.
func (c *CallOutputs) Out(name string, v Value) {
	err := c.CheckValue(v)
	if err == nil && c.isTool {
		err = c.reserve(v.Size()) // an agent holds it until it is done
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		v = Null
		if c.over == nil {
			c.exceeds.Store(true)
			c.over = fmt.Errorf("output %s: %w", name, err)
		}
	}
	c.setOut(name, v)
}

func (c *execution) setOut(name string, v Value) {
	if c.closed {
		return
	}
	for i := range c.outs {
		if c.outs[i].name == name {
			c.outs[i].value = v
			return
		}
	}
	c.outs = append(c.outs, slot{name, v})
}

// Written returns an output this execution has set already.
func (c *CallOutputs) Written(name string) (Value, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.outs {
		if c.outs[i].name == name {
			return c.outs[i].value, true
		}
	}
	return Null, false
}

// Defer announces a stream as the output: the component's Stream is called at the first read.
func (c *Call) Defer(output string, request Value) error {
	s, ok := c.node.comp.(Streamer)
	if !ok {
		return fmt.Errorf("%s cannot stream", c.node.spec.Name)
	}
	if err := c.CheckValue(request); err != nil {
		return err
	}
	stream := newStream(request, func(ctx context.Context, emit func(string) error) error {
		m := meter{call: &c.execution}
		if err := s.Stream(ctx, c, request, func(piece string) error {
			if err := m.add(len(piece)); err != nil {
				return err
			}
			return emit(piece)
		}); err != nil {
			return err
		}
		return c.exceeded() // by other outputs than the text
	})
	stream.written, stream.now, stream.wake = c.Written, c.run.clock.Now, c.run.wakeUp
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deferred = &deferred{output: output, stream: stream}
	c.setOut(output, streamValue(stream))
	return nil
}

// CanStream reports whether a node downstream sends this node's text to the user and nothing
// prevents streaming.
func (c *CallOutputs) CanStream() bool {
	return !c.isTool && c.node.feeds && len(c.node.gotos) == 0
}

// SpeaksOnly reports whether the nodes that follow are messages, and the canvas mentions no output
// of this node but the named one: the others may then be written when its text ends.
func (c *CallOutputs) SpeaksOnly(output string) bool {
	for _, d := range c.node.down {
		if c.run.c.nodes[d].speaker == nil {
			return false
		}
	}
	// An Answer of the first generation reads the output content without naming it.
	doc := c.run.c.doc.JSON()
	if output != "content" && strings.Contains(doc, `"Answer"`) {
		return false
	}
	id := string(c.node.quoted[1:len(c.node.quoted)-1]) + "@"
	return strings.Count(doc, id) == strings.Count(doc, id+output+"}")
}

// Say sends text of the node to the user.
func (c *CallOutputs) Say(s Speech) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.speech = &s
}

// Set writes to a reference when the execution is over. An unknown variable is an error now.
func (c *CallOutputs) Set(ctx context.Context, r *Ref, v Value) error {
	if _, err := c.Peek(r); err != nil {
		return err
	}
	if err := c.CheckValue(v); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sets = append(c.sets, assignment{r, v})
	return nil
}

// Next chooses the successors, instead of all edges. It must name ids from Targets. An id the
// canvas lacks is an error (ErrRef), and nothing is chosen.
func (c *CallOutputs) Next(ids []string) error {
	next := make([]nodeIndex, 0, len(ids))
	for _, id := range ids {
		n, ok := c.run.c.index[id]
		if !ok {
			return fmt.Errorf("%w: it leads to %q, which is not a component of this canvas", ErrRef, id)
		}
		next = append(next, through(c.run.c, n)...)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.branched, c.next = true, append(c.next, next...)
	c.setOut("_next", Strings(ids...))
	return nil
}

// Cite adds passages an answer may rest on.
func (c *CallOutputs) Cite(chunks, docAggs []Value) {
	chunks, docAggs = elements(c.run.redact(listOf(chunks))), elements(c.run.redact(listOf(docAggs)))
	root := c.root()
	root.mu.Lock()
	defer root.mu.Unlock()
	kept := citesOf(&c.execution)
	*kept = append(*kept, citation{root.id, chunks, docAggs})
}

// Remember adds a summary to the memory of the conversation.
func (c *CallOutputs) Remember(user, assistant, summary string) {
	root := c.root()
	root.mu.Lock()
	defer root.mu.Unlock()
	root.memories = append(root.memories, Strings(user, assistant, summary))
}

// Log writes an entry of the run's log that is not an event of the wire: tool_started, progress,
// usage, ...
func (c *CallOutputs) Log(typ EventType, data Value) { c.run.note(typ, c.node, data) }

// LogQueued logs how long a call of the node waited for a slot, ending now; see [QueuedFunc].
func (c *CallOutputs) LogQueued(queue, name string, d time.Duration) {
	entry := Object("component_id", c.root().id, "path", c.tracePath(), "queue", queue, "name", name)
	c.Log(EventQueued, c.timed(entry, c.run.clock.Now().Add(-d)))
}

// timed adds to an entry how long something took that began at start, and when it ended.
func (c *CallOutputs) timed(entry Value, start time.Time) Value {
	now := c.run.clock.Now()
	return entry.With("elapsed_time", seconds(now.Sub(start))).With("created_at", unixSeconds(now))
}

// unixSeconds returns a time as events have it.
func unixSeconds(t time.Time) Value { return Float(float64(t.UnixMicro()) / 1e6) }
