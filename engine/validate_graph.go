package engine

import (
	"slices"

	"github.com/easel-canvas/easel/engine/scheduler"
)

// checkEdges reports edges to unknown components. They lead nowhere; a branch or a handler that is
// chosen and leads nowhere is an error of its node.
func (v *validator) checkEdges() {
	for i := range v.nodes {
		n := &v.nodes[i]
		for _, d := range n.entry.Get("downstream").Elements() {
			v.edge(n, "downstream", d.Str(), "nothing follows here")
		}
		if b, ok := n.comp.(Brancher); ok {
			for _, id := range slices.Concat(b.Choices()...) {
				v.edge(n, "to", id, "choosing it is an error")
			}
		}
		for _, id := range n.common.ErrorTargets() {
			v.edge(n, "exception_goto", id, "it handles no error")
		}
	}
}

func (v *validator) edge(n *node, param, to, then string) {
	if _, ok := v.index[to]; !ok {
		v.add(n, SeverityWarning, CodeUnknownTarget, param,
			"%q names no component of this canvas: %s%s", to, then, v.guess(to, v.Nodes()))
	}
}

// checkBodies checks that every container has a start, that every item is in a container it
// fits, and that each turn of a body can end inside it.
func (v *validator) checkBodies() {
	for i := range v.nodes {
		n := &v.nodes[i]
		if n.off {
			continue
		}
		v.checkParent(n)
		if n.container != nil && n.item < 0 {
			v.add(n, SeverityError, CodeNoItem, "", "it has no start node inside, so its body never runs")
		}
		for _, to := range v.next(n) {
			v.checkEntry(n, &v.nodes[to])
		}
		if n.container != nil && n.item >= 0 {
			v.checkExits(n)
		}
	}
}

// checkParent checks the parent of a node.
func (v *validator) checkParent(n *node) {
	named := n.entry.Get("parent_id").Str()
	if at, ok := v.index[named]; ok && v.nodes[at].comp != nil && v.nodes[at].container == nil {
		v.add(n, SeverityWarning, CodeBadParent, "parent_id", "%q holds no other nodes", named)
	}
	if n.orphan {
		v.add(n, SeverityWarning, CodeBadParent, "parent_id",
			"%q names no component of this canvas: nothing leads to it", named)
	}
	if !n.isItem || n.orphan {
		return
	}
	if n.parent < 0 {
		v.add(n, SeverityError, CodeBadParent, "parent_id", "%s stands outside an iteration or loop", n.spec.Name)
	} else if fits, ok := n.comp.(Fitter); ok && !fits.Fits(v.nodes[n.parent].container) {
		v.add(n, SeverityError, CodeBadParent, "parent_id",
			"%s cannot open the body of a %s", n.spec.Name, v.nodes[n.parent].spec.Name)
	}
}

// next returns the nodes that follow n by edges and choices.
func (v *validator) next(n *node) []nodeIndex {
	if n.brancher {
		return n.targets
	}
	return n.down
}

// checkEntry checks an edge that leads into a body from outside, or from the container itself,
// which opens its body without an edge.
func (v *validator) checkEntry(n, to *node) {
	if to.parent < 0 || v.graph.Encloses(to.parent, n.index) {
		return
	}
	around := &v.nodes[to.parent]
	switch {
	case around == n:
		v.add(n, SeverityError, CodeEntersBody, "downstream",
			"%q stands in the body of this node, so it cannot follow it", to.id)
	case to.isItem:
		v.add(n, SeverityError, CodeEntersBody, "downstream",
			"%q opens the body of %q, which only that node does: lead to %q instead", to.id, around.id, around.id)
	default:
		v.add(n, SeverityWarning, CodeEntersBody, "downstream",
			"%q stands in the body of %q, which does not run then", to.id, around.id)
	}
}

// checkExits checks edges that lead out of the body of a container, which ends it. It is an error
// if every turn takes such an edge, because the first turn is the last then.
func (v *validator) checkExits(container *node) {
	always := v.always(container)
	for _, i := range v.Canvas.bodies[container.index] {
		n := &v.nodes[i]
		for _, to := range v.next(n) {
			target := &v.nodes[to]
			switch {
			case to == container.index || v.graph.Encloses(container.index, to):
			case always[i] && !n.brancher:
				v.add(n, SeverityError, CodeLeavesBody, "downstream",
					"%q stands outside of %q, which ends there in its first turn: "+
						"give %q the parent_id %q", target.id, container.id, target.id, container.id)
			default:
				v.add(n, SeverityWarning, CodeLeavesBody, "downstream",
					"%q stands outside of %q, which ends there", target.id, container.id)
			}
		}
	}
}

// always returns the nodes of a body that run in each of its turns, whatever is chosen.
func (v *validator) always(container *node) map[nodeIndex]bool {
	seen := map[nodeIndex]bool{container.item: true}
	queue := []nodeIndex{container.item}
	for len(queue) > 0 {
		n := &v.nodes[queue[0]]
		queue = queue[1:]
		if n.brancher || n.isExit {
			continue
		}
		for _, to := range n.down {
			if !seen[to] && v.nodes[to].parent == container.index {
				seen[to] = true
				queue = append(queue, to)
			}
		}
	}
	return seen
}

// checkCycles reports cycles without an end: no choice, no form, no error handler, no turn of a
// body.
func (v *validator) checkCycles() {
	on := make([][]nodeIndex, len(v.nodes))
	for i := range v.nodes {
		on[i] = v.onwards(&v.nodes[i])
	}
	order := scheduler.Components(len(v.nodes), func(n nodeIndex) []nodeIndex { return on[n] })
	reached := v.fromStart()
	named := map[int]bool{}
	for i := range v.nodes {
		n := &v.nodes[i]
		inCycle := func(to nodeIndex) bool { return order[to] == order[i] }
		if !reached[i] || named[order[i]] || !slices.ContainsFunc(on[i], inCycle) {
			continue
		}
		named[order[i]] = true
		v.add(n, SeverityError, CodeEndlessCycle, "downstream",
			"leads back to this node without a choice on the way, so that the run never finishes")
	}
}

// onwards returns the nodes that run each time after n has run.
func (v *validator) onwards(n *node) []nodeIndex {
	if n.brancher || n.form != nil || n.isItem || n.isExit || len(n.gotos) > 0 {
		return nil
	}
	var on []nodeIndex
	for _, to := range n.down {
		endsTurn := n.parent >= 0 && (to == n.parent || !v.graph.Encloses(n.parent, to) || v.nodes[to].isItem)
		if !endsTurn {
			on = append(on, to)
		}
	}
	return on
}

// checkReachable reports nodes that no edge leads to.
func (v *validator) checkReachable() {
	if v.start < 0 {
		return
	}
	for i, ok := range v.fromStart() {
		if n := &v.nodes[i]; !ok && !n.off && n.comp != nil {
			v.add(n, SeverityWarning, CodeUnreachable, "", "nothing leads to it")
		}
	}
}

// fromStart returns the nodes that a run can come to.
func (v *validator) fromStart() []bool {
	if v.start < 0 {
		return make([]bool, len(v.nodes))
	}
	return v.graph.Reach(v.start)
}
