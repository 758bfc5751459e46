package engine

import "github.com/easel-canvas/easel/engine/scheduler"

// nodeIndex is the position of a node in its canvas; noNode is that of none.
type nodeIndex = scheduler.Index

const noNode = scheduler.None

// newGraph is the canvas as the scheduler sees it. Nodes that wait for sources read what their
// texts refer to.
func (c *Canvas) newGraph() *scheduler.Graph {
	nodes := make([]scheduler.Node, len(c.nodes))
	for i := range c.nodes {
		n := &c.nodes[i]
		nodes[i] = scheduler.Node{
			Down: n.down, Choices: n.targets, OnError: n.gotos, Reads: n.reads(), Body: c.bodies[n.index],
			Parent: n.parent, Item: n.item,
			Chooses: n.brancher, Container: n.container != nil, Opens: n.isItem, Exits: n.isExit,
		}
		if n.container != nil {
			nodes[i].Breaks, nodes[i].Progresses = n.container.Breaks(), n.container.Progresses()
		}
	}
	return scheduler.NewGraph(nodes)
}

// reads are the nodes a node waits for.
func (n *node) reads() []nodeIndex {
	if !n.spec.Waits {
		return nil
	}
	var reads []nodeIndex
	for _, r := range n.refs {
		if r.slot > 0 && r.Node != "" {
			reads = append(reads, nodeIndex(r.slot-1))
		}
	}
	return reads
}
