package engine

// isOff reports whether the document switches a node off. The first node of a canvas or a body
// cannot be switched off, because nothing would run.
func (n *node) isOff() bool {
	return n.entry.Get("disabled").True() && !n.opens()
}

// opens reports whether a canvas or a body begins at the node.
func (n *node) opens() bool {
	if n.id == StartID || n.id == PipelineID || n.spec.New == nil {
		return true
	}
	role := n.spec.role()
	return role == RoleStart || role == RoleItem
}

// through returns the targets of an edge to a node: the node or, if it is switched off, its
// successors. Orphans are left out.
func through(c *Canvas, i nodeIndex) []nodeIndex {
	if !c.nodes[i].off && !c.nodes[i].orphan {
		return []nodeIndex{i}
	}
	return past(c, i, map[nodeIndex]bool{}, nil)
}

func past(c *Canvas, i nodeIndex, seen map[nodeIndex]bool, found []nodeIndex) []nodeIndex {
	if seen[i] || c.nodes[i].orphan {
		return found
	}
	seen[i] = true
	if !c.nodes[i].off {
		return append(found, i)
	}
	for _, d := range c.nodes[i].entry.Get("downstream").Elements() {
		if to, ok := c.index[d.Str()]; ok {
			found = past(c, to, seen, found)
		}
	}
	return found
}

// maxPassed bounds the edges that lead past nodes that are switched off: each node before them gets
// those to all nodes after them.
const maxPassed = 1_000_000

// lead adds an edge to a node. seen are the nodes that edges past others have come by.
func (n *node) lead(c *Canvas, to nodeIndex, seen map[nodeIndex]bool) {
	if !c.nodes[to].off && !c.nodes[to].orphan {
		n.down = append(n.down, to)
		return
	}
	if len(seen) == 0 {
		for _, d := range n.down {
			seen[d] = true
		}
	}
	n.down = past(c, to, seen, n.down)
}

// switchOffBodies switches off the bodies of containers that are switched off.
func switchOffBodies(c *Canvas) {
	for i := range c.nodes {
		for p := c.nodes[i].parent; p >= 0 && !c.nodes[i].off; p = c.nodes[p].parent {
			c.nodes[i].off = c.nodes[p].off
		}
	}
}
