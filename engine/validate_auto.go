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
		if !c.pipeline && isIndifferent(c) {
			proved = 2
		}
		c.proved.Store(proved)
	}
	return schedulings[proved-1]
}

// isIndifferent reports whether eager runs of a canvas differ from runs in batches in nothing but
// their duration and the order of the events of nodes.
func isIndifferent(c *Canvas) bool {
	o := newOrderCheck(&validator{Canvas: c})
	reached := o.fromStart()
	var outward []nodeIndex
	for i := range c.nodes {
		n := &c.nodes[i]
		if !reached[i] {
			continue
		}
		o.checkWrites(n, reached)
		o.checkJoin(n)
		if n.isOutward() {
			outward = append(outward, n.index)
		}
		if len(o.found) > 0 || len(outward) > mostOutward {
			return false
		}
	}
	apart := &exclusions{canvas: c}
	for _, a := range outward {
		foreign := c.nodes[a].isForeign()
		for i := range c.nodes {
			b := nodeIndex(i)
			compared := reached[i] && b != a && (foreign || c.nodes[i].isOutward())
			if compared && !o.ordered(a, b) && !apart.contain(a, b) {
				return false
			}
		}
	}
	return true
}

// isOutward reports whether people or other programs may see when a node runs: it sends messages,
// waits for a person, or uses something outside.
func (n *node) isOutward() bool {
	return n.speaker != nil || n.asks || n.suspends || n.toolUser || n.isForeign() ||
		n.spec.Category == CategoryTool || n.spec.Tool != nil && n.spec.Category != CategoryKnowledge ||
		n.params.Get("memory_ids").Truthy()
}

// isForeign reports whether code of a plugin runs, which may use every variable.
func (n *node) isForeign() bool {
	return strings.HasPrefix(n.spec.Name, PluginPrefix) || slices.ContainsFunc(n.tools, (*node).isForeign)
}

// exclusions are pairs of nodes that follow different choices of one node.
type exclusions struct {
	canvas *Canvas
	known  bool
	labels [][]nodeIndex // of choicesFollowed, one list for each node that chooses
}

// contain reports whether a run has at most one of two nodes.
func (x *exclusions) contain(a, b nodeIndex) bool {
	if !x.known {
		x.known = true
		for i := range x.canvas.nodes {
			if n := &x.canvas.nodes[i]; n.brancher && len(x.labels) < mostOutward {
				x.labels = append(x.labels, choicesFollowed(x.canvas, n))
			}
		}
	}
	for _, by := range x.labels {
		if by[a] != by[b] && by[a] != 0 && by[b] != 0 {
			return true
		}
	}
	return false
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
