package engine

import (
	"slices"

	"github.com/easel-canvas/easel/engine/scheduler"
)

// nodeIndex is the position of a node in its canvas; noNode stands for no node.
type nodeIndex = scheduler.Index

const noNode = scheduler.None

// newGraph returns the scheduler's graph of the canvas. Nodes that wait for sources read the nodes
// that their texts refer to.
func (c *Canvas) newGraph() *scheduler.Graph {
	return graphOf(c, func(n *node) []nodeIndex { return reads(c, n) })
}

// joinGraph returns the graph for an eager run: each node waits for the nodes it refers to and for
// every node that leads to it, as long as those may still run. Batches meet where branches of the
// same length end; without them a node would run once for each branch.
func joinGraph(c *Canvas) *scheduler.Graph {
	if g := c.joined.Load(); g != nil {
		return g
	}
	reads := make([][]nodeIndex, len(c.nodes))
	for i := range c.nodes {
		n := &c.nodes[i]
		for _, list := range [...][]nodeIndex{n.down, n.targets, n.gotos} {
			for _, to := range list {
				if !c.nodes[to].isItem {
					reads[to] = append(reads[to], n.index)
				}
			}
		}
		if !n.isItem {
			reads[i] = append(reads[i], refers(c, n)...)
		}
	}
	g := graphOf(c, func(n *node) []nodeIndex { return reads[n.index] })
	c.joined.Store(g)
	return g
}

// graphOf returns the scheduler's graph of the canvas in which nodes wait for the nodes in reads.
func graphOf(c *Canvas, reads func(n *node) []nodeIndex) *scheduler.Graph {
	nodes := make([]scheduler.Node, len(c.nodes))
	for i := range c.nodes {
		n := &c.nodes[i]
		nodes[i] = scheduler.Node{
			Down: n.down, Choices: n.targets, OnError: n.gotos, Reads: reads(n), Body: c.bodies[n.index],
			Parent: n.parent, Item: n.item,
			Chooses: n.brancher, Container: n.container != nil, Opens: n.isItem, Exits: n.isExit,
		}
		if n.container != nil {
			nodes[i].Breaks, nodes[i].Progresses = n.container.Breaks(), n.container.Progresses()
		}
	}
	return scheduler.NewGraph(nodes)
}

// runsSideBySide reports whether a container runs its body for several elements at once.
func runsSideBySide(nodes []node) bool {
	return slices.ContainsFunc(nodes, func(n node) bool { return n.sideBySide() })
}

// reads returns the nodes that a node waits for in batches.
func reads(c *Canvas, n *node) []nodeIndex {
	if !n.spec.Waits && !n.sideBySide() {
		return nil
	}
	return refers(c, n)
}

// refers returns the nodes that a node refers to. Bodies that run side by side do not see results
// that are settled after their start, so their container refers to all nodes that they refer to.
func refers(c *Canvas, n *node) []nodeIndex {
	reads := n.refers(nil)
	if !n.sideBySide() {
		return reads
	}
	for i := range c.nodes {
		if inBodyOf(c, nodeIndex(i), n.index) {
			reads = c.nodes[i].refers(reads)
		}
	}
	inside := func(at nodeIndex) bool { return at == n.index || inBodyOf(c, at, n.index) }
	return slices.DeleteFunc(reads, inside)
}

// inBodyOf reports whether a node is in the body of a container, or deeper.
func inBodyOf(c *Canvas, n, container nodeIndex) bool {
	for p := c.nodes[n].parent; p != noNode; p = c.nodes[p].parent {
		if p == container {
			return true
		}
	}
	return false
}

// sideBySide reports whether a node is a container that runs its body for several elements at once:
// it is not inline then.
func (n *node) sideBySide() bool { return n.container != nil && !n.inline }

// refers adds the nodes that a node itself refers to.
func (n *node) refers(reads []nodeIndex) []nodeIndex {
	for _, r := range n.refs {
		if r.slot > 0 && r.Node != "" {
			reads = append(reads, nodeIndex(r.slot-1))
		}
	}
	return reads
}
