package engine

// CallTurns is the part of a Call for nodes in the body of a container and for the Item that opens
// its turns.
type CallTurns struct{ call *Call }

// Container is the component around an item's body, or nil.
func (t *CallTurns) Container() Component {
	if t.call.node.parent < 0 {
		return nil
	}
	return t.call.run.c.nodes[t.call.node.parent].comp
}

// ContainerRef is a reference to an output of the container around this node.
func (t *CallTurns) ContainerRef(output string) Ref {
	if t.call.node.parent < 0 {
		return Ref{}
	}
	return Ref{
		Expr: t.call.run.c.nodes[t.call.node.parent].id + "@" + output, Node: t.call.run.c.nodes[t.call.node.parent].id,
		Output: output, slot: int32(t.call.node.parent) + 1,
	}
}

// Body is the ids of the nodes in the same body as this item, in document order.
func (t *CallTurns) Body() []string {
	var ids []string
	for _, i := range t.call.run.c.bodies[t.call.node.parent] {
		ids = append(ids, t.call.run.c.nodes[i].id)
	}
	return ids
}

// Cursor is how many turns this item has begun since its container was entered.
func (t *CallTurns) Cursor() int {
	t.call.mu.Lock()
	defer t.call.mu.Unlock()
	return int(t.call.cursor)
}

// Turn begins a turn of the body: the cursor moves on by one.
func (t *CallTurns) Turn() {
	t.call.mu.Lock()
	defer t.call.mu.Unlock()
	t.call.cursor++
	t.call.turned = true
}

// EndBody ends the container: there is no further turn.
func (t *CallTurns) EndBody() {
	t.call.mu.Lock()
	defer t.call.mu.Unlock()
	t.call.turned, t.call.bodyEnd = true, true
}
