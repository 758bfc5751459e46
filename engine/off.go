package engine

import "slices"

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

// lead adds an edge to a node.
func (n *node) lead(c *Canvas, to nodeIndex) {
	if !c.nodes[to].off && !c.nodes[to].orphan {
		n.down = append(n.down, to)
		return
	}
	for _, next := range through(c, to) {
		if !slices.Contains(n.down, next) {
			n.down = append(n.down, next)
		}
	}
}

// switchOffBodies switches off the bodies of containers that are switched off.
func switchOffBodies(c *Canvas) {
	for i := range c.nodes {
		for p := c.nodes[i].parent; p >= 0 && !c.nodes[i].off; p = c.nodes[p].parent {
			c.nodes[i].off = c.nodes[p].off
		}
	}
}
