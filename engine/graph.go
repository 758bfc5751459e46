package engine

import (
	"slices"

	"github.com/easel-canvas/easel/engine/scheduler"
)

// nodeIndex is the position of a node in its canvas; noNode is that of none.
type nodeIndex = scheduler.Index

const noNode = scheduler.None

// newGraph is the canvas as the scheduler sees it. Nodes that wait for sources read what their
// texts refer to.
func (c *Canvas) newGraph() *scheduler.Graph {
	return graphOf(c, (*node).reads)
}

// joinGraph is the canvas as an eager run sees it: each node waits for what it refers to and for
// every node that leads to it, as long as those may still come. Batches meet where branches of the
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
			reads[i] = append(reads[i], n.refers()...)
		}
	}
	g := graphOf(c, func(n *node) []nodeIndex { return reads[n.index] })
	c.joined.Store(g)
	return g
}

// graphOf is the canvas as a scheduler sees it in which nodes wait for what reads gives.
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

// runsSideBySide reports whether a container runs its body for several elements at once: it is not
// inline then.
func runsSideBySide(nodes []node) bool {
	return slices.ContainsFunc(nodes, func(n node) bool { return n.container != nil && !n.inline })
}

// reads are the nodes a node waits for.
func (n *node) reads() []nodeIndex {
	if !n.spec.Waits {
		return nil
	}
	return n.refers()
}

// refers are the nodes that a node refers to.
func (n *node) refers() []nodeIndex {
	var reads []nodeIndex
	for _, r := range n.refs {
		if r.slot > 0 && r.Node != "" {
			reads = append(reads, nodeIndex(r.slot-1))
		}
	}
	return reads
}
