package scheduler

import "slices"

// Scope is an open body: the turns of one container.
type Scope struct {
	Container Index
	Live      int  // nodes of the body that are on their way or running; an inner container until it ends
	Leaf      bool // the end of the body was reached in this turn
	Again     bool // the container was scheduled once more while open
	Steps     int  // executions without progress
}

// IsOpen reports whether the body of a container is open.
func (s *Scheduler) IsOpen(container Index) bool { return s.scope(container) != nil }

// Enter opens the body of a container, which need not have run: a run that is only that body.
func (s *Scheduler) Enter(container Index) { s.open(container) }

// scope returns the open body of a container, or nil. It is valid until a body opens or ends.
func (s *Scheduler) scope(container Index) *Scope {
	if container == None {
		return nil
	}
	for i := range s.Scopes {
		if s.Scopes[i].Container == container {
			return &s.Scopes[i]
		}
	}
	return nil
}

// open enters the body of a container.
func (s *Scheduler) open(container Index) {
	s.Scopes = append(s.Scopes, Scope{Container: container})
	if i := slices.Index(s.Ended, container); i >= 0 { // that was its last body
		s.Ended = append(s.Ended[:i], s.Ended[i+1:]...)
	}
	s.clear(container)
	s.schedule(s.graph.nodes[container].Item, container)
}

// clear begins a turn: nothing in the body has run in it yet.
func (s *Scheduler) clear(container Index) {
	s.changes.Cleared = append(s.changes.Cleared, container)
	s.reached = nil
	s.graph.ClearRan(s.ran, container)
}

// EndTurns begins a new turn of each body whose nodes are all done, the innermost body first.
func (s *Scheduler) EndTurns() {
	for i := len(s.Scopes) - 1; i >= 0; i-- {
		scope := &s.Scopes[i]
		if scope.Live > 0 || !scope.Leaf {
			continue
		}
		scope.Leaf = false
		s.clear(scope.Container)
		s.schedule(s.graph.nodes[scope.Container].Item, None)
	}
}

// leaf records that the end of a body was reached in this turn.
func (s *Scheduler) leaf(container Index) {
	if scope := s.scope(container); scope != nil {
		scope.Leaf = true
	}
}

// leave records that a node of a body is done.
func (s *Scheduler) leave(n Index) {
	if scope := s.scope(s.graph.hot[n].parent); scope != nil {
		scope.Live--
	}
}

// end closes the body of a container and schedules the successors of the container.
func (s *Scheduler) end(container Index) {
	again := s.close(container)
	s.ended(container)
	s.ran[container] = true
	s.reached = nil
	s.follow(container, s.graph.hot[container].down)
	s.leave(container)
	if again {
		s.schedule(container, None)
	}
}

// ended records that a container has ended.
func (s *Scheduler) ended(container Index) {
	if !slices.Contains(s.Ended, container) {
		s.Ended = append(s.Ended, container)
	}
	if !slices.Contains(s.changes.Ended, container) {
		s.changes.Ended = append(s.changes.Ended, container)
	}
}

// close removes an open body with its scheduled nodes. It reports whether the container was
// scheduled again while the body was open.
func (s *Scheduler) close(container Index) (again bool) {
	frontier, pending, scopes := s.Frontier[:0], s.Pending[:0], s.Scopes[:0]
	for _, n := range s.Frontier {
		if !s.dropped(n, container) {
			frontier = append(frontier, n)
		}
	}
	for _, w := range s.Pending {
		if s.dropped(w.Node, container) {
			s.changes.Woken = append(s.changes.Woken, w.Node)
		} else {
			pending = append(pending, w)
		}
	}
	steps := 0
	for _, scope := range s.Scopes {
		if scope.Container == container {
			again, steps = scope.Again, scope.Steps
		} else if !s.graph.Encloses(container, scope.Container) {
			scopes = append(scopes, scope)
		}
	}
	s.Frontier, s.Pending, s.Scopes = frontier, pending, scopes
	if outer := s.scope(s.graph.hot[container].parent); outer != nil {
		outer.Steps += steps
	} else {
		s.Steps += steps
	}
	return again
}

// dropped unschedules a node, if it is in the body of a container.
func (s *Scheduler) dropped(n, container Index) bool {
	if !s.graph.Encloses(container, n) {
		return false
	}
	s.marks[n] &^= onItsWay
	return true
}

// crosses handles edges that cross the border of a body: an edge back to the node that opens it or
// to the container ends the turn, an edge out of the body ends the container. It returns true if
// the edge does not schedule its target; an edge of a node that was still running when its body
// ended leads nowhere inside that body.
func (s *Scheduler) crosses(n, from Index) bool {
	around := s.graph.hot[from].parent
	if around == None {
		return false
	}
	if n == around || n == s.graph.nodes[around].Item {
		if scope := s.scope(around); scope != nil {
			scope.Leaf = true
			return true
		}
		return s.hasEnded(around)
	}
	for around != None && !s.graph.Encloses(around, n) {
		if s.scope(around) != nil {
			s.end(around)
		}
		around = s.graph.hot[around].parent
	}
	return s.hasEnded(around)
}

// hasEnded reports whether a body was left, or one around it, while nodes of it were running.
func (s *Scheduler) hasEnded(container Index) bool {
	if len(s.Ended) == 0 {
		return false
	}
	for p := container; p != None; p = s.graph.hot[p].parent {
		if slices.Contains(s.Ended, p) {
			return true
		}
	}
	return false
}
