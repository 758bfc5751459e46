// Package scheduler decides which nodes of a canvas run next. It is independent of components,
// values, events and time: its input is a Graph and the outcome of each execution, its output the
// nodes that may run now, in a fixed order.
//
// A node that was scheduled is in the frontier. Take moves nodes from there to the running ones,
// or to the pending ones while one of their sources may still run; Settle takes the outcome of a
// running node and schedules its successors. Bodies of containers are scopes over the same nodes.
//
// When Take is called is the policy of the caller. The engine's batch mode calls Take when nothing
// runs, settles the whole batch in the order it was given, and then calls EndTurns. Calling Take
// and EndTurns after each Settle starts a node as soon as its inputs are complete; the rules that
// need it (a node does not run twice at once, a container is not entered while a node of its last
// body still runs, a pending node is released only when nothing runs) hold for any order.
package scheduler

import "slices"

// Scheduler is the position of one run in its graph. The zero value needs Reset. It is not safe for
// concurrent use.
type Scheduler struct {
	State
	graph *Graph
	ran   []bool // by node: has run in this run, or in this turn of the body around it
	marks []mark // by node

	reached map[Index][]bool // what is still possible, by body; nil when it may have changed
	changes Changes
	memory  []Index // of State.Running
}

// mark is the scheduling state of a node.
type mark uint8

const (
	scheduled mark = 1 << iota // in the frontier
	pending
	running
)

// onItsWay are the marks of a node that will run without being scheduled again.
const onItsWay = scheduled | pending

// Changes are the changes since ResetChanges, for a caller that records each step of a run.
type Changes struct {
	Held    []Pending // nodes that began to wait
	Woken   []Index   // nodes that no longer wait
	Ended   []Index   // containers whose body ended, or which failed
	Cleared []Index   // containers in whose body a turn began
}

// Reset prepares the scheduler for a run of graph from its start. ran marks the nodes that have
// run; the scheduler writes it until the run is over, and the caller may read it.
func (s *Scheduler) Reset(graph *Graph, ran []bool) {
	s.graph, s.ran, s.reached = graph, ran, nil
	if len(s.marks) != len(graph.nodes) {
		s.marks = make([]mark, len(graph.nodes))
	}
	clear(s.marks)
	s.Frontier, s.Pending, s.Scopes, s.Ended = s.Frontier[:0], s.Pending[:0], s.Scopes[:0], s.Ended[:0]
	s.Running, s.Steps = s.memory[:0], 0
	s.ResetChanges()
}

// Changes are valid until the next call of a method.
func (s *Scheduler) Changes() *Changes { return &s.changes }

// ResetChanges empties Changes.
func (s *Scheduler) ResetChanges() {
	c := &s.changes
	c.Held, c.Woken, c.Ended, c.Cleared = c.Held[:0], c.Woken[:0], c.Ended[:0], c.Cleared[:0]
}

// Schedule puts a node into the frontier without an edge: the start of a run. A node that is
// scheduled already runs once.
func (s *Scheduler) Schedule(n Index) { s.schedule(n, None) }

// ScheduleOnError puts the targets of a node's error handler into the frontier, for a node that
// failed after it was settled.
func (s *Scheduler) ScheduleOnError(n Index) { s.scheduleAll(s.graph.nodes[n].OnError, n) }

// IsPending reports whether a node waits for one of its sources.
func (s *Scheduler) IsPending(n Index) bool { return s.marks[n]&pending != 0 }

// Take returns the nodes that may run now and marks them as running: first those that waited, then
// the frontier, each in order of arrival. If both are empty and nothing runs, it returns the first
// waiting node, whose sources will not run any more. If nothing is left to do, the list is empty.
// The list is valid until the next Take, or until a node is settled before another that was taken
// earlier.
func (s *Scheduler) Take() []Index {
	idle := len(s.Running) == 0
	if idle {
		s.Running, s.Ended = s.memory[:0], s.Ended[:0]
	}
	from := len(s.Running)
	if len(s.Pending) > 0 {
		s.wake()
	}
	s.start(idle)
	if idle && len(s.Running) == 0 && len(s.Pending) > 0 {
		s.release()
	}
	if idle {
		s.memory = s.Running
	}
	taken := s.Running[from:]
	for _, n := range taken {
		s.marks[n] = running
	}
	return taken
}

// wake runs the pending nodes whose sources are done.
func (s *Scheduler) wake() {
	stale := s.reached == nil
	kept := 0
	for i, w := range s.Pending {
		if stale || w.cyclic || s.ran[w.Source] {
			w.Source = s.missing(w.Node)
		}
		if w.Source == None {
			s.Running = append(s.Running, w.Node)
			s.changes.Woken = append(s.changes.Woken, w.Node)
			continue
		}
		if kept != i || s.Pending[kept].Source != w.Source {
			s.Pending[kept] = w
		}
		kept++
	}
	s.Pending = s.Pending[:kept]
}

// release runs the first waiting node, whose sources will not run any more.
func (s *Scheduler) release() {
	first := s.Pending[0].Node
	s.Pending = append(s.Pending[:0], s.Pending[1:]...)
	s.changes.Woken = append(s.changes.Woken, first)
	s.reached = nil
	s.Running = append(s.Running, first)
}

// start runs the nodes of the frontier that can run; the others begin to wait, or stay.
func (s *Scheduler) start(idle bool) {
	kept := 0
	for _, n := range s.Frontier {
		if !idle && s.busy(n) {
			s.Frontier[kept] = n
			kept++
			continue
		}
		if scope := s.scope(n); scope != nil {
			// Scheduled in the batch in which it opened: it starts again after it has ended.
			scope.Again = true
			s.marks[n] &^= scheduled
			s.leave(n)
			continue
		}
		if source := s.missing(n); source != None {
			w := Pending{Node: n, Source: source, cyclic: s.graph.hot[n].cyclic}
			s.Pending = append(s.Pending, w)
			s.changes.Held = append(s.changes.Held, w)
			s.marks[n] = s.marks[n]&^scheduled | pending
			continue
		}
		s.Running = append(s.Running, n)
	}
	s.Frontier = s.Frontier[:kept]
}

// busy reports whether a node cannot start before a running one is settled: itself, or a node in
// its own body.
func (s *Scheduler) busy(n Index) bool {
	if s.marks[n]&running != 0 {
		return true
	}
	inBody := func(r Index) bool { return s.graph.Encloses(n, r) }
	return s.graph.hot[n].container && slices.ContainsFunc(s.Running, inBody)
}

// missing returns the first node that n reads, has not run and still may, or None.
func (s *Scheduler) missing(n Index) Index {
	v := &s.graph.hot[n]
	for _, source := range v.sources {
		switch {
		case s.ran[source.node]:
		case s.scope(source.node) != nil: // an open container: its end is still to come
			return source.node
		case source.cyclic:
			if s.graph.reach(s.onTheirWay(), n, v.parent)[source.node] {
				return source.node
			}
		case s.possible(v.parent)[source.node]:
			return source.node
		}
	}
	return None
}

// possible returns the nodes that may still run, as seen from a body. It is computed once and kept
// while every node takes all its ways, because then a possible node stays possible until it has
// run.
func (s *Scheduler) possible(body Index) []bool {
	if seen, ok := s.reached[body]; ok {
		return seen
	}
	if s.reached == nil {
		s.reached = map[Index][]bool{}
	}
	seen := s.graph.reach(s.onTheirWay(), None, body)
	s.reached[body] = seen
	return seen
}

// onTheirWay returns every node that runs or is scheduled.
func (s *Scheduler) onTheirWay() []Index {
	var nodes []Index
	for n, m := range s.marks {
		if m != 0 {
			nodes = append(nodes, Index(n))
		}
	}
	return nodes
}

func (s *Scheduler) scheduleAll(nodes []Index, from Index) {
	for _, n := range nodes {
		s.schedule(n, from)
	}
}

// schedule puts a node into the frontier. from is the node whose edge leads there, or None.
func (s *Scheduler) schedule(n, from Index) {
	if from != None && s.crosses(n, from) {
		return
	}
	if s.marks[n]&onItsWay != 0 {
		return // it runs once
	}
	if scope := s.scope(n); scope != nil { // still open: it starts again after it has ended
		scope.Again = true
		return
	}
	if scope := s.scope(s.graph.hot[n].parent); scope != nil {
		scope.Live++
	}
	s.marks[n] |= scheduled
	s.Frontier = append(s.Frontier, n)
	for _, seen := range s.reached {
		if !seen[n] {
			s.reached = nil
			break
		}
	}
}

// Withdraw takes a running node back, as if it had not been scheduled: a run that pauses before
// the node has done anything schedules it again when it continues. Other nodes stay as they are.
func (s *Scheduler) Withdraw(n Index) {
	if s.marks[n]&running != 0 {
		s.stop(n)
		s.leave(n)
	}
}

// stop takes a node from the running ones.
func (s *Scheduler) stop(n Index) {
	s.marks[n] &^= running
	if len(s.Running) > 0 && s.Running[0] == n { // in batch mode always
		s.Running = s.Running[1:]
		return
	}
	if i := slices.Index(s.Running, n); i >= 0 {
		copy(s.Running[i:], s.Running[i+1:])
		s.Running = s.Running[:len(s.Running)-1]
	}
}
