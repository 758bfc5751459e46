package engine

import (
	"slices"
	"strings"
)

// mostOutward bounds the nodes that are compared in pairs. Above it, nothing is proved.
const mostOutward = 200

// OrderOf returns when the nodes of a canvas start in a run with [Auto]: as its settings request,
// else [Eager] if a run in batches would send, write and do the same in the same order, and [Batch]
// if that is not proved.
func OrderOf(c *Canvas) Scheduling {
	if c.settings.scheduling != "" {
		return c.settings.scheduling
	}
	proved := c.proved.Load()
	if proved == 0 {
		proved = 1 // batches
		if !c.pipeline && len(c.settings.approval) == 0 && isIndifferent(c) {
			proved = 2
		}
		c.proved.Store(proved)
	}
	return schedulings[proved-1]
}

// isIndifferent reports whether eager runs of a canvas differ from runs in batches in nothing but
// their duration and the order of the events of nodes.
func isIndifferent(c *Canvas) bool {
	o := newOrderCheck(newValidator(c))
	reached := o.fromStart()
	ranks := make([]int, len(c.nodes))
	outward := 0
	var choices [][]nodeIndex // of choicesFollowed, one list for each node that chooses
	for i := range c.nodes {
		n := &c.nodes[i]
		if !reached[i] {
			continue
		}
		o.checkWrites(n, reached)
		o.checkJoin(n)
		if ranks[i] = n.rank(); ranks[i] >= speaks {
			outward++
		}
		if len(o.found) > 0 || outward > mostOutward || !readsAlike(o, n) {
			return false
		}
		if n.brancher && len(choices) < mostOutward {
			choices = append(choices, choicesFollowed(c, n))
		}
	}
	for a := range ranks {
		for b := range a {
			if reached[a] && reached[b] && ranks[a]+ranks[b] >= decides &&
				!o.ordered(nodeIndex(a), nodeIndex(b)) && !areApart(choices, a, b) {
				return false
			}
		}
	}
	return true
}

// areApart reports whether two nodes follow different choices of one node: a run has at most one.
func areApart(choices [][]nodeIndex, a, b int) bool {
	for _, by := range choices {
		if by[a] != by[b] && by[a] != 0 && by[b] != 0 {
			return true
		}
	}
	return false
}

// The ranks of nodes. The order of two nodes matters if the sum of their ranks is at least decides.
const (
	thinks  = 1 // a model reads the passages that were found
	speaks  = 2 // people see when
	acts    = 3 // it uses something outside, or adds passages, in whose order messages have them
	decides = 4 // code of a plugin, which may use every variable, or a pause, which begins another turn
)

// rank returns how far others observe when a node runs.
func (n *node) rank() int {
	switch {
	case n.asks, n.suspends, n.isForeign():
		return decides
	case n.toolUser, n.spec.Tool != nil, n.spec.Category == CategoryTool:
		return acts
	case n.speaker != nil:
		return speaks
	case n.spec.Category == CategoryModel:
		return thinks
	}
	return 0
}

// readsAlike reports whether a node that does not wait in batches for the nodes it refers to reads
// the same as in an eager run, in which it waits: each has ended before it, or will not run.
func readsAlike(o *orderCheck, n *node) bool {
	if n.spec.Waits || n.sideBySide() {
		return true
	}
	for _, from := range joinGraph(o.Canvas).Sources(n.index) {
		to := o.level(n.index, from)
		_, last := o.span(from)
		first, _ := o.span(to)
		if last >= first && o.graph.ReachWithout(from, o.start)[to] {
			return false
		}
	}
	return true
}

// isForeign reports whether code of a plugin runs, which may use every variable.
func (n *node) isForeign() bool {
	return strings.HasPrefix(n.spec.Name, PluginPrefix) || slices.ContainsFunc(n.tools, (*node).isForeign)
}

// choicesFollowed returns for each node 1 + the choice of n leading to it, 0 for none or several.
func choicesFollowed(c *Canvas, n *node) []nodeIndex {
	labels := make([]nodeIndex, len(c.nodes))
	several := c.graph.ReachWithout(n.index, append([]nodeIndex{c.start}, n.gotos...)...)
	for i, ids := range n.comp.(Brancher).Choices() {
		for at, follows := range c.graph.ReachWithout(n.index, c.find(ids)...) {
			if follows {
				several[at] = several[at] || labels[at] != 0
				labels[at] = nodeIndex(i) + 1
			}
		}
	}
	for at := range labels {
		if several[at] {
			labels[at] = 0
		}
	}
	return labels
}
