package engine

import "slices"

// Previous returns the node that led to this one, and its outputs: of several the one that ran
// last. "" means none. A text that is still being written is left out.
func (c *CallInputs) Previous() (node string, outputs Value) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.run
	if c.closed || c.isTool {
		return "", emptyObject
	}
	found := before(r, c.node.index)
	if found == noNode {
		return "", emptyObject
	}
	b := NewObject(len(r.st.nodes[found].outs))
	for _, o := range r.st.nodes[found].outs {
		if o.value.Stream() == nil {
			b.Set(o.name, o.value)
		}
	}
	return r.c.nodes[found].id, b.Value()
}

// before returns the node with an edge to another one that ran last; without one that ran in this
// run, the first in the document.
func before(r *run, to nodeIndex) nodeIndex {
	leads := func(i nodeIndex) bool { return slices.Contains(r.c.nodes[i].down, to) }
	for i := len(r.st.path) - 1; i >= 0; i-- {
		if leads(r.st.path[i]) {
			return r.st.path[i]
		}
	}
	for i := range r.c.nodes {
		if leads(nodeIndex(i)) {
			return nodeIndex(i)
		}
	}
	return noNode
}

// Concurrency returns the number of things the run does at once, see [Options].
func (c *execution) Concurrency() int { return max(c.run.opt.Concurrency, 1) }

// Alias returns the component's name as the document writes it: its own name or one of its aliases.
// A component with several names can thus find out which one was used.
func (s *Setup) Alias() string {
	if s.owner == nil {
		return s.Kind
	}
	if name := s.owner.entry.Get("obj").Get("component_name").Str(); name != "" {
		return name
	}
	return s.Kind
}

// Upstream returns the ids in the node's upstream member, in document order.
func (s *Setup) Upstream() []string {
	if s.owner == nil {
		return nil
	}
	var ids []string
	for _, id := range s.owner.entry.Get("upstream").Elements() {
		ids = append(ids, id.Str())
	}
	return ids
}
