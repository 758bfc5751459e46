package engine

import (
	"slices"
	"time"
)

// scope is an open body: the turns of one Iteration or Loop, over the state of the run.
type scope struct {
	container int32
	cursor    int64 // turns begun
	live      int   // nodes of the body that are scheduled, waiting or running; an inner container until it ends
	leaf      bool  // the end of the body was reached in this turn
	again     bool  // the container was scheduled once more while open
	steps     int   // executions without progress
	started   time.Time
	ins       []slot
}

// scope is the open body of a container, or nil.
func (r *run) scope(container int32) *scope {
	if container < 0 {
		return nil
	}
	for i := range r.scopes {
		if r.scopes[i].container == container {
			return r.scopes[i]
		}
	}
	return nil
}

// openBody enters a container.
func (r *run) openBody(call *Call) {
	n := call.node
	r.scopes = append(r.scopes, &scope{container: n.index, started: call.started, ins: slices.Clone(call.ins)})
	r.st.nodes[n.index].ran = false
	r.clearRan(n.index)
	r.schedule(n.item, n.index)
}

// clearRan begins a turn: nothing in the body has run in it yet.
func (r *run) clearRan(container int32) {
	r.cleared = append(r.cleared, container)
	r.reached = nil
	r.st.clearRan(container)
}

func (s *State) clearRan(container int32) {
	for _, i := range s.canvas.bodies[container] {
		s.nodes[i].ran = false
		s.clearRan(i)
	}
}

// turn takes an item's decision: a further turn, or the end of its container.
func (r *run) turn(call *Call) {
	s := r.scope(call.node.parent)
	if s == nil {
		return
	}
	s.cursor = call.cursor
	if call.bodyEnd {
		c := &r.c.nodes[s.container]
		r.emitContainerFinished(c, s.ins, nil)
		r.endContainer(s.container)
		return
	}
	if r.c.nodes[s.container].container.Progresses() {
		s.steps = 0
	}
}

// leaf notes that a node of a body has no successor.
func (r *run) leaf(n *node) {
	if s := r.scope(n.parent); s != nil && n.container == nil {
		s.leaf = true
	}
}

// leave notes that a node of a body is done.
func (r *run) leave(n *node) {
	if s := r.scope(n.parent); s != nil {
		s.live--
	}
}

// endTurns enters the item again for every body whose nodes are all done, the innermost first.
func (r *run) endTurns() {
	for i := len(r.scopes) - 1; i >= 0; i-- {
		if i >= len(r.scopes) {
			continue
		}
		s := r.scopes[i]
		if s.live > 0 || !s.leaf {
			continue
		}
		s.leaf = false
		r.clearRan(s.container)
		r.schedule(r.c.nodes[s.container].item, -1)
	}
}

// endContainer closes a body and schedules what follows the container.
func (r *run) endContainer(container int32) {
	again := r.closeBody(container)
	r.ended = append(r.ended, container)
	c := &r.c.nodes[container]
	r.st.nodes[container].ran = true
	r.reached = nil
	r.scheduleAll(c.down, container)
	if len(c.down) == 0 {
		if s := r.scope(c.parent); s != nil {
			s.leaf = true
		}
	}
	r.leave(c)
	if again {
		r.schedule(container, -1)
	}
}

// closeBody forgets an open body, everything scheduled in it included. It reports whether the
// container was scheduled again meanwhile.
func (r *run) closeBody(container int32) (again bool) {
	inside := func(n int32) bool {
		if !r.c.encloses(container, n) {
			return false
		}
		r.marks[n] = 0
		return true
	}
	r.next = slices.DeleteFunc(r.next, inside)
	r.held = slices.DeleteFunc(r.held, func(h held) bool {
		if !inside(h.node) {
			return false
		}
		r.heldOut = append(r.heldOut, h.node)
		return true
	})
	r.scopes = slices.DeleteFunc(r.scopes, func(s *scope) bool {
		if s.container != container && !r.c.encloses(container, s.container) {
			return false
		}
		if s.container == container {
			again = s.again
			if outer := r.scope(r.c.nodes[container].parent); outer != nil {
				outer.steps += s.steps
			} else {
				r.steps += s.steps
			}
		}
		return true
	})
	return again
}

// Marks of a node on its way into a batch.
const (
	markScheduled = 1
	markHeld      = 2
)

func (r *run) scheduleAll(nodes []int32, from int32) {
	for _, n := range nodes {
		r.schedule(n, from)
	}
}

// schedule puts a node into the next batch. from is the node whose edge leads there, or -1.
func (r *run) schedule(n, from int32) {
	if r.marks[n] != 0 {
		return // it is on its way already and runs once
	}
	if from >= 0 && r.crosses(n, from) {
		return
	}
	if s := r.scope(n); s != nil { // still open: it starts anew after it has ended
		s.again = true
		return
	}
	if s := r.scope(r.c.nodes[n].parent); s != nil {
		s.live++
	}
	r.marks[n] = markScheduled
	r.next = append(r.next, n)
	for _, seen := range r.reached {
		if !seen[n] {
			r.reached = nil
			break
		}
	}
}

// crosses deals with edges that touch the border of a body: a way back to the item or to the
// container is the end of the turn, a way out ends the container. It is true when the target does
// not run because of this edge.
func (r *run) crosses(n, from int32) bool {
	around := r.c.nodes[from].parent
	if around < 0 {
		return false
	}
	if n == around || n == r.c.nodes[around].item {
		if s := r.scope(around); s != nil {
			s.leaf = true
			return true
		}
		return slices.Contains(r.ended, around)
	}
	if r.c.encloses(around, n) {
		return slices.Contains(r.ended, around) // another node of the batch has left this body
	}
	for around >= 0 && !r.c.encloses(around, n) {
		if r.scope(around) != nil {
			r.endContainer(around)
		}
		around = r.c.nodes[around].parent
	}
	return false
}
