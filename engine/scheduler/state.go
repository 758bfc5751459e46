package scheduler

import "slices"

// State is the position of a run in its graph: with the nodes that have run it is sufficient to
// continue in another scheduler.
type State struct {
	Frontier []Index   // scheduled, in order
	Pending  []Pending // waiting for something they read, in order
	Running  []Index   // taken and not settled, in order
	Scopes   []Scope   // open bodies, outer ones first
	Ended    []Index   // containers that have ended since nothing was running
	Steps    int       // executions outside of bodies without progress
}

// Pending is a node that waits.
type Pending struct {
	Node   Index
	Source Index // the first node it reads that is still to come
	cyclic bool  // whether a source may come depends on the node itself
}

// Clone returns a copy that later changes do not affect.
func (s *State) Clone() *State {
	c := *s
	for _, list := range [...]*[]Index{&c.Frontier, &c.Running, &c.Ended} {
		*list = slices.Clone(*list)
	}
	c.Pending, c.Scopes = slices.Clone(s.Pending), slices.Clone(s.Scopes)
	return &c
}

// Restore continues at the position st, after Reset. st is copied.
func (s *Scheduler) Restore(st *State) {
	s.State, s.reached = *st.Clone(), nil
	for _, n := range s.Frontier {
		s.marks[n] |= scheduled
	}
	for i := range s.Pending {
		w := &s.Pending[i]
		w.cyclic = s.graph.hot[w.Node].cyclic
		s.marks[w.Node] |= pending
	}
	for _, n := range s.Running {
		s.marks[n] |= running
	}
}
