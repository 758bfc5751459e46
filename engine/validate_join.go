package engine

import "slices"

// batchSpan is the first and the last batch in which a node may run. Batches of a body are counted
// from the start of its turn.
type batchSpan struct {
	first, last int
	known, on   bool // on: it is being computed
	sure, asked bool // sure: it runs in each run, or in each turn of the body; asked: that is known
}

// checkJoin reports a node to which paths of different length lead: batches run it once for each,
// unless it waits for the last one. An edge to a node that still waits does not run it again.
func (o *orderCheck) checkJoin(n *node) {
	ways, held := o.waysInto(n), o.heldUntil(n)
	for _, a := range ways {
		first, _ := o.span(a)
		for _, b := range ways {
			_, last := o.span(b)
			if a == b || last+1 <= max(first+1, held) || slices.Contains(o.graph.Sources(n.index), b) {
				continue
			}
			o.add(n, SeverityWarning, CodeOrderDependent, "",
				"ways of different length lead here: batches run it once for each way, an eager run once")
			return
		}
	}
}

// waysInto returns the nodes with an edge to a node.
func (o *orderCheck) waysInto(n *node) []nodeIndex {
	var ways []nodeIndex
	for _, from := range joinGraph(o.Canvas).Sources(n.index) {
		if slices.Contains(o.next(&o.nodes[from]), n.index) || slices.Contains(o.nodes[from].gotos, n.index) {
			ways = append(ways, from)
		}
	}
	return ways
}

// span returns the first and the last batch in which a node may run; a node in a cycle may run in
// any.
func (o *orderCheck) span(at nodeIndex) (first, last int) {
	s := &o.spans[at]
	switch {
	case s.known:
		return s.first, s.last
	case s.on:
		return 0, len(o.nodes)
	}
	s.on = true
	n := &o.nodes[at]
	for i, from := range o.waysInto(n) {
		least, most := o.span(from)
		if i == 0 {
			s.first = least + 1
		}
		s.first, s.last = min(s.first, least+1), max(s.last, most+1)
	}
	s.first = max(s.first, o.heldUntil(n))
	for _, source := range o.graph.Sources(at) {
		if o.nodes[source].parent == n.parent {
			_, most := o.span(source)
			s.last = max(s.last, most+1)
		} else if !o.isBefore(source, n.parent) {
			s.last += len(o.nodes) // what is outside of the body may end at any time
		}
	}
	if n.container != nil {
		s.last += len(o.nodes) // its body takes as many as it likes
	}
	s.known = true
	return s.first, s.last
}

// heldUntil returns the first batch in which a node may run because of its sources: nodes of the
// same body that run in any case.
func (o *orderCheck) heldUntil(n *node) int {
	held := 0
	for _, source := range o.graph.Sources(n.index) {
		if o.nodes[source].parent == n.parent && o.isSure(source) {
			first, _ := o.span(source)
			held = max(held, first+1)
		}
	}
	return held
}

// isBefore reports whether a container, or one around it, waits for a node.
func (o *orderCheck) isBefore(n, container nodeIndex) bool {
	for p := container; p != noNode; p = o.nodes[p].parent {
		if o.after(n)[p] {
			return true
		}
	}
	return false
}

// isSure reports whether a node runs in each run, or in each turn of the body around it. It may be
// false for one in a cycle that does.
func (o *orderCheck) isSure(at nodeIndex) bool {
	s, n := &o.spans[at], &o.nodes[at]
	if s.asked {
		return s.sure
	}
	s.asked = true
	s.sure = at == o.start || n.isItem
	for _, from := range o.waysInto(n) {
		f := &o.nodes[from]
		if !f.brancher && !f.isExit && len(f.gotos) == 0 && f.parent == n.parent && o.isSure(from) {
			s.sure = true
		}
	}
	return s.sure
}
