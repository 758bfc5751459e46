package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/easel-canvas/easel/engine/scheduler"
)

// settleBatch takes the results of the batch in path order: events, handlers, and the nodes that
// run next. It returns false if the run ends here.
func (r *run) settleBatch(batch []nodeIndex) bool {
	canceled := false
	r.cited = r.cited[:0]
	for _, call := range r.calls {
		if r.gone {
			return false
		}
		r.settle(call)
		canceled = canceled || errors.Is(call.err, ErrCanceled)
		r.release(call)
	}
	r.results = nil
	switch {
	case r.gone:
		return false
	case canceled:
		r.finishCanceled()
		return false
	case r.failed != nil:
		r.endFailed()
		return false
	}
	if len(r.suspended) > 0 {
		batch = r.batchNodes()
	}
	r.st.path = append(r.st.path, batch...)
	r.sched.EndTurns()
	return true
}

// settle finishes one execution.
func (r *run) settle(call *Call) {
	if !r.takeIn(call) {
		return
	}
	if call.err == nil && call.speech != nil {
		call.err = r.speak(call)
		r.flushNotes()
	}
	r.conclude(call)
}

// takeIn writes the effects of an execution into the state. It returns false if the node waits for
// a person instead.
func (r *run) takeIn(call *Call) bool {
	r.unreserve(call) // what it made is counted as state now, or gone
	if s := suspensionOf(call.err); s != nil {
		r.suspend(call, s)
		return false
	}
	r.dropSuspended(call.node.index)
	r.applyCall(call)
	r.flushNotes()
	return true
}

// conclude ends an execution whose messages are complete: errors, node_finished, the nodes that run
// next.
func (r *run) conclude(call *Call) {
	n := call.node
	if call.err == nil {
		call.err = r.checkEvent(call)
	}
	r.flushPending()
	jumped, failed := false, call.err != nil
	if failed {
		jumped = r.handle(call)
	}
	switch {
	case call.deferred != nil && call.err == nil && r.failed == nil:
		r.pending = append(r.pending, n.index)
		if r.streams == nil {
			r.streams = map[nodeIndex]*Call{}
		}
		r.streams[n.index] = call
	case call.deferred != nil && call.err == nil:
		r.st.setOut(n.index, call.deferred.output, Null)
		r.emitNodeFinished(call)
	case n.container == nil || failed || n.item < 0 || call.itemsRan:
		r.emitNodeFinished(call)
	}
	how := r.outcome(call, jumped, failed)
	if r.opt.Scheduling == Eager {
		r.stretch.ways = append(r.stretch.ways, way{n.index, how, slices.Clone(call.next)})
	}
	r.sched.Settle(n.index, how, call.next)
}

// applier writes the effects of executions into the state.
type applier struct {
	*basis
	*progress
	*emitter
	cited []citation // of the last batch, for its checkpoint
}

// applyCall writes the effects of an execution into the state.
func (a *applier) applyCall(call *Call) {
	call.mu.Lock()
	defer call.mu.Unlock()
	for _, o := range call.outs {
		call.refuse(a.putOut(call.node.index, o.name, a.redact(o.value)))
	}
	for _, w := range call.sets {
		call.refuse(a.st.assign(w.ref, a.redact(w.value), a.checkAssigned))
	}
	call.sets = nil
	a.takeCites(call)
	for _, m := range call.memories {
		err := a.admit(m.Size())
		if call.refuse(err); err == nil {
			a.st.memory = append(a.st.memory, m)
			a.st.bytes += m.Size()
			a.bytes += m.Size()
		}
	}
	call.memories = nil
	a.addUsage(call)
	if call.err != nil {
		a.st.setOut(call.node.index, errorOutput, String(a.redactText(errorText(call.err))))
	}
}

// putOut sets an output if the state may grow by it, and makes it null otherwise.
func (a *applier) putOut(node nodeIndex, name string, v Value) error {
	grows := v.Size()
	if grows <= a.slack {
		a.slack -= grows
		a.st.setOut(node, name, v)
		return nil
	}
	if old, ok := a.st.nodes[node].out(name); ok {
		grows -= old.Size()
	}
	err := a.admit(grows)
	if err != nil {
		v = Null
	}
	a.st.setOut(node, name, v)
	return err
}

// checkAssigned returns nil if a variable may be set from old to v. The value counts as an event,
// because the log repeats it; of a list, which most often grows by an element, only the growth
// counts.
func (a *applier) checkAssigned(old, v Value) error {
	if err := a.opt.Limits.checkValue(v); err != nil {
		return err
	}
	a.bytes += v.Size()
	if v.kind == KindList && old.kind == KindList {
		a.bytes -= min(v.Size(), old.Size())
	}
	return a.admit(v.Size() - old.Size())
}

// refuse makes an error that of the execution, unless it has one.
func (c *Call) refuse(err error) {
	if c.err == nil {
		c.err = err
	}
}

// addUsage adds the usage of an execution; call.mu is held.
func (a *applier) addUsage(call *Call) {
	a.usage.add(call.usage)
	call.usage = Usage{}
}

// takeCites adds the passages of an execution to the references of the run; call.mu is held.
func (a *applier) takeCites(call *Call) {
	if len(call.cites) == 0 {
		return
	}
	for _, c := range call.cites {
		size := c.size()
		if err := a.admit(size); err != nil {
			call.refuse(err)
			continue
		}
		a.st.cite(c)
		a.bytes += size
		a.cited = append(a.cited, c)
	}
	call.cites = nil
}

// handle applies the error handling of a node. jumped reports that the error handler's nodes run
// instead of the edges' targets.
func (a *applier) handle(call *Call) (jumped bool) {
	n := call.node
	a.st.setOut(n.index, errorOutput, String(a.redactText(errorText(call.err))))
	switch {
	case errors.Is(call.err, ErrCanceled):
	case len(n.gotos) > 0:
		return true
	case !n.back.IsNull() && (n.spec.Tool != nil || n.spec.Tells):
		a.emitMessage(n.back.Text(), false, false, nil)
		a.emitMessageEnd(&Said{}, Null)
	case !n.back.IsNull():
		a.st.dropError(n.index)
		a.st.setOut(n.index, "result", n.back)
		call.err = nil
	default:
		a.failWith(a.nodeError(n, call.err))
	}
	return false
}

// outcome returns the result of an execution for the scheduler. It also emits the end of a
// container.
func (r *run) outcome(call *Call, jumped, failed bool) scheduler.Outcome {
	n := call.node
	switch {
	case r.failed != nil || r.gone || errors.Is(call.err, ErrCanceled):
		return scheduler.Stopped
	case jumped:
		return scheduler.Recovered
	case n.isItem && call.turned:
		r.turn(call)
		if call.bodyEnd {
			return scheduler.Ended
		}
		return scheduler.Turned
	case call.branched:
		return scheduler.Chosen
	case failed:
		return scheduler.Failed
	case call.itemsRan:
		return scheduler.Ended
	case n.container != nil && r.opt.pinned(n):
		r.emitContainerFinished(n, call.started, call.ins)
		return scheduler.Ended
	case n.container != nil && n.item != noNode:
		r.openBody(call)
		return scheduler.Opened
	}
	return scheduler.Followed
}

// countSteps limits runaways. Executions count in the body they belong to, without one for each
// node of the canvas, so that a large graph does not count as a cycle; turns that bring an
// iteration closer to its end reset the count.
func (r *run) countSteps(batch []nodeIndex) error {
	if err := r.countInner(len(batch)); err != nil {
		return err
	}
	for _, i := range batch {
		n := &r.c.nodes[i]
		if r.sched.Count(i)-len(r.c.nodes) <= r.opt.MaxSteps {
			continue
		}
		err := fmt.Errorf("%w: more than %d executions without progress, which looks like a cycle without exit; "+
			"raise the option MaxSteps (--max-steps) if it is not", ErrLimit, r.opt.MaxSteps)
		return &NodeError{Node: n.id, Kind: n.spec.Name, Err: err}
	}
	return nil
}
