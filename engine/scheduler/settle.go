package scheduler

// Outcome is the outcome of an execution, which determines the nodes scheduled next.
type Outcome uint8

// The outcomes of an execution.
const (
	// Followed takes all edges. A node that Exits ends the container around it, and a container
	// ends without its body having run.
	Followed Outcome = iota
	// Chosen takes the choices passed to Settle, instead of the edges.
	Chosen
	// Recovered takes the edges of the error handler instead of the node's own.
	Recovered
	// Failed continues after an error that has no error handler: nothing is chosen, no body is
	// entered, and otherwise the edges are taken.
	Failed
	// Opened is a container that enters its body.
	Opened
	// Turned is a node that Opens and begins a turn of the body.
	Turned
	// Ended is a node that Opens and has no further turn, or a container that does not enter its
	// body: the container is over.
	Ended
	// Stopped takes no edge: the run is over.
	Stopped
)

// Settle takes the outcome of a running node and schedules its successors. chosen is used for
// Chosen only.
func (s *Scheduler) Settle(n Index, how Outcome, chosen []Index) {
	v := &s.graph.hot[n]
	s.stop(n)
	failed := how == Failed || how == Recovered
	s.ran[n] = !v.container || failed
	if v.container && failed {
		s.ended(n) // its body is not entered
	}
	if how != Followed || v.diverts || s.hasEnded(v.parent) {
		s.reached = nil // a way out was not taken
	}
	switch how {
	case Stopped:
		return
	case Opened:
		if !s.hasEnded(v.parent) {
			s.open(n)
		}
		return // it is done when its body is
	case Ended:
		s.endedBy(n)
		return
	case Recovered:
		s.scheduleAll(s.graph.nodes[n].OnError, n)
	case Chosen:
		s.follow(n, chosen)
	case Turned:
		s.turn(n)
	case Followed, Failed:
		if v.container || v.exits && s.breaks(v.parent) {
			s.endedBy(n)
			return
		}
		if how == Failed && s.graph.nodes[n].Chooses {
			s.follow(n, nil) // nothing was chosen, so nothing follows
		} else {
			s.follow(n, v.down)
		}
	}
	s.leave(n)
}

// follow schedules the successors of a node. Without any, the end of its body is reached.
func (s *Scheduler) follow(n Index, next []Index) {
	s.scheduleAll(next, n)
	if len(next) == 0 {
		s.leaf(s.graph.hot[n].parent)
	}
}

// turn begins a turn of the body around n.
func (s *Scheduler) turn(n Index) {
	v := &s.graph.hot[n]
	if scope := s.scope(v.parent); scope != nil && s.graph.nodes[v.parent].Progresses {
		scope.Steps = 0
	}
	s.scheduleAll(v.down, n)
}

// endedBy ends a container: n itself, or the one around it, unless another node has ended that.
func (s *Scheduler) endedBy(n Index) {
	v := &s.graph.hot[n]
	switch {
	case v.container:
		s.end(n)
	case v.parent == None || s.hasEnded(v.parent):
	case v.exits || s.scope(v.parent) != nil:
		s.end(v.parent)
	}
}

// breaks reports whether a container may be ended by a node that Exits.
func (s *Scheduler) breaks(container Index) bool {
	return container != None && s.graph.nodes[container].Breaks
}

// Count counts an execution in the body around n, or in the run, and returns the number without
// progress.
func (s *Scheduler) Count(n Index) int {
	steps := &s.Steps
	if scope := s.scope(s.graph.hot[n].parent); scope != nil {
		steps = &scope.Steps
	}
	*steps++
	return *steps
}
