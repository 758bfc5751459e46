package engine

// Container returns the component around an item's body, or nil.
func (c *CallOutputs) Container() Component {
	if c.node.parent < 0 {
		return nil
	}
	return c.run.c.nodes[c.node.parent].comp
}

// ContainerRef returns a reference to an output of the container around this node.
func (c *CallOutputs) ContainerRef(output string) Ref {
	if c.node.parent < 0 {
		return Ref{}
	}
	return Ref{
		Expr: c.run.c.nodes[c.node.parent].id + "@" + output, Node: c.run.c.nodes[c.node.parent].id,
		Output: output, slot: int32(c.node.parent) + 1,
	}
}

// Body returns the ids of the nodes in the same body as this item, in document order.
func (c *CallOutputs) Body() []string {
	var ids []string
	for _, i := range c.run.c.bodies[c.node.parent] {
		ids = append(ids, c.run.c.nodes[i].id)
	}
	return ids
}

// Cursor returns the number of turns this item has begun since its container was entered.
func (c *CallOutputs) Cursor() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return int(c.cursor)
}

// Turn begins a turn of the body: the cursor advances by one.
func (c *CallOutputs) Turn() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cursor++
	c.turned = true
}

// EndBody ends the container: there is no further turn.
func (c *CallOutputs) EndBody() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turned, c.bodyEnd = true, true
}
