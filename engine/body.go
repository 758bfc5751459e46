package engine

import (
	"slices"
	"time"
)

// body is the data of a container's open body in a run; the scheduler keeps its turns.
type body struct {
	container nodeIndex
	cursor    int64     // turns begun
	started   time.Time // of the container
	ins       []slot    // of the container
}

// body returns the open body of a container, or nil.
func (r *run) body(container nodeIndex) *body {
	if container == noNode || !r.sched.IsOpen(container) {
		return nil
	}
	return bodyOf(r.bodies, container)
}

// bodyOf returns the entry of a container in bodies, or nil.
func bodyOf(bodies []body, container nodeIndex) *body {
	for i := range bodies {
		if bodies[i].container == container {
			return &bodies[i]
		}
	}
	return nil
}

// openBody keeps the data for node_finished of a container that enters its body.
func (r *run) openBody(call *Call) {
	b := bodyOf(r.bodies, call.node.index)
	if b == nil { // else it was entered before
		r.bodies = append(r.bodies, body{})
		b = &r.bodies[len(r.bodies)-1]
	}
	*b = body{container: call.node.index, started: call.started, ins: slices.Clone(call.ins)}
}

// turn applies an item's decision: a further turn, or the end of its container. It reports the
// latter.
func (r *run) turn(call *Call) {
	b := r.body(call.node.parent)
	if b == nil {
		return
	}
	b.cursor = call.cursor
	if call.bodyEnd {
		r.emitContainerFinished(&r.c.nodes[b.container], b.started, b.ins)
		b.ins = nil // openBody uses the entry again
	}
}
