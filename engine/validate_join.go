package engine

import "slices"

// joinCheck is what is known of the batches in which nodes run. Batches of a body are counted from
// the start of its turn.
type joinCheck struct {
	spans []batchSpan // by node
	sure  []bool      // by node: it runs in each run, or in each turn of the body around it
}

// batchSpan is the first and the last batch in which a node may run.
type batchSpan struct {
	first, last int
	known, on   bool // on: it is being worked out
}

// checkJoin names a node to which ways of different length lead: batches run it once for each, unless
// it waits for what comes last.
func (o *orderCheck) checkJoin(n *node) {
	ways := o.waysInto(n)
	for i, a := range ways {
		for _, b := range ways[:i] {
			if (o.repeats(n, a, b) || o.repeats(n, b, a)) && !o.apart(edge{a, n.index}, edge{b, n.index}) {
				o.add(n, SeverityWarning, CodeOrderDependent, "",
					"ways of different length lead here: batches run it once for each way, an eager run once")
				return
			}
		}
	}
}

// waysInto are the nodes with an edge to a node.
func (o *orderCheck) waysInto(n *node) []nodeIndex {
	leads := func(from nodeIndex) bool {
		return slices.Contains(o.next(&o.nodes[from]), n.index) || slices.Contains(o.nodes[from].gotos, n.index)
	}
	return slices.DeleteFunc(joinGraph(o.Canvas).Sources(n.index), func(from nodeIndex) bool { return !leads(from) })
}

// repeats reports whether batches may run a node because of the way from a, and again because of
// that from b. An edge to a node that still waits does not run it again.
func (o *orderCheck) repeats(n *node, a, b nodeIndex) bool {
	if slices.Contains(o.graph.Sources(n.index), b) {
		return false
	}
	from, _ := o.span(a)
	_, until := o.span(b)
	return until+1 > max(from+1, o.heldUntil(n))
}

// span is when a node may run, counted in batches; one in a cycle may run in any.
func (o *orderCheck) span(at nodeIndex) (first, last int) {
	s := &o.joins.spans[at]
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

// heldUntil is the first batch in which a node may run because of what it waits for: nodes of the
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

// isSure reports whether a node runs in each run, or in each turn of the body around it.
func (o *orderCheck) isSure(n nodeIndex) bool {
	if o.joins.sure != nil {
		return o.joins.sure[n]
	}
	sure := make([]bool, len(o.nodes))
	queue := []nodeIndex{o.start}
	for i := range o.nodes {
		if item := o.nodes[i].item; item >= 0 {
			queue = append(queue, item)
		}
	}
	for len(queue) > 0 {
		from := queue[0]
		queue = queue[1:]
		if from < 0 || sure[from] {
			continue
		}
		sure[from] = true
		node := &o.nodes[from]
		if node.brancher || node.isExit || len(node.gotos) > 0 {
			continue
		}
		for _, to := range node.down {
			if o.nodes[to].parent == node.parent {
				queue = append(queue, to)
			}
		}
	}
	o.joins.sure = sure
	return sure[n]
}
