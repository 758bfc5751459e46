package engine

import "slices"

// analyse works out, once per canvas, every way that leads out of a node and what each waiting node
// waits for.
func (c *Canvas) analyse() {
	for i := range c.nodes {
		c.nodes[i].edges = c.waysOut(&c.nodes[i])
	}
	order := components(len(c.nodes), func(n int32) []int32 { return c.nodes[n].edges })
	for i := range c.nodes {
		n := &c.nodes[i]
		if !n.spec.Waits {
			continue
		}
		for _, r := range n.refs {
			if r.slot == 0 || r.Node == "" {
				continue
			}
			if s := c.awaited(n.index, r.slot-1); s >= 0 && !slices.Contains(n.sources, s) {
				n.sources = append(n.sources, s)
				n.cyclic = append(n.cyclic, c.leadsTo(n.index, s, order))
			}
		}
	}
}

// waysOut is every node that may be scheduled because n ran: edges, choices, error handlers,
// bodies.
func (c *Canvas) waysOut(n *node) []int32 {
	var out []int32
	add := func(to ...int32) {
		for _, t := range to {
			if t >= 0 && !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	if n.brancher {
		add(n.targets...)
	} else {
		add(n.down...)
	}
	if n.container != nil {
		add(n.item)
	}
	if n.parent >= 0 {
		around := &c.nodes[n.parent]
		if n.isItem || n.isExit {
			add(around.down...)
		}
		if len(n.down) == 0 && !n.brancher && !n.isItem {
			add(around.item)
		}
		if (n.isItem || n.isExit) && len(around.down) == 0 && around.parent >= 0 {
			add(c.nodes[around.parent].item)
		}
	}
	add(n.gotos...)
	return out
}

// awaited is what a reader of source has to wait for: the source itself, or the container around it
// when the reader stands outside. It is -1 when there is nothing to wait for: itself, or a
// container around the reader.
func (c *Canvas) awaited(reader, source int32) int32 {
	for p := c.nodes[reader].parent; ; p = c.nodes[p].parent {
		if source == p || source == reader {
			return -1
		}
		if p < 0 {
			break
		}
	}
	for {
		p := c.nodes[source].parent
		if p < 0 || c.encloses(p, reader) {
			return source
		}
		source = p
		if source == reader {
			return -1
		}
	}
}

// encloses reports whether a node stands in the body of a container, at any depth.
func (c *Canvas) encloses(container, node int32) bool {
	for p := c.nodes[node].parent; p >= 0; p = c.nodes[p].parent {
		if p == container {
			return true
		}
	}
	return false
}

// components numbers the strongly connected components of a graph of n nodes (Tarjan, without
// recursion). What a node leads to has a smaller number, or the same one in a cycle.
func components(n int, edges func(node int32) []int32) []int32 {
	t := tarjan{edges: edges, low: make([]int32, n), num: make([]int32, n), comp: make([]int32, n)}
	for i := range t.comp {
		t.comp[i] = -1
	}
	for i := range t.num {
		if t.num[i] == 0 {
			t.visit(int32(i))
		}
	}
	return t.comp
}

type tarjan struct {
	edges     func(node int32) []int32
	num, low  []int32
	comp      []int32
	stack     []int32
	next, ids int32
}

// frame is one level of the depth-first search: a node and the edge to follow next.
type frame struct {
	node int32
	edge int
}

func (t *tarjan) visit(root int32) {
	frames := []frame{{node: t.enter(root)}}
	for len(frames) > 0 {
		f := &frames[len(frames)-1]
		if edges := t.edges(f.node); f.edge < len(edges) {
			to := edges[f.edge]
			f.edge++
			if t.num[to] == 0 {
				frames = append(frames, frame{node: t.enter(to)})
			} else if t.comp[to] < 0 {
				t.low[f.node] = min(t.low[f.node], t.num[to])
			}
			continue
		}
		if t.low[f.node] == t.num[f.node] {
			t.leave(f.node)
		}
		frames = frames[:len(frames)-1]
		if len(frames) > 0 {
			above := frames[len(frames)-1].node
			t.low[above] = min(t.low[above], t.low[f.node])
		}
	}
}

func (t *tarjan) enter(n int32) int32 {
	t.next++
	t.num[n], t.low[n] = t.next, t.next
	t.stack = append(t.stack, n)
	return n
}

// leave closes the component whose first node is n.
func (t *tarjan) leave(n int32) {
	for {
		last := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		t.comp[last] = t.ids
		if last == n {
			break
		}
	}
	t.ids++
}

// leadsTo reports whether running from could schedule to.
func (c *Canvas) leadsTo(from, to int32, order []int32) bool {
	if order[to] >= order[from] {
		return order[to] == order[from]
	}
	return c.reach([]int32{from}, -1, -1)[to]
}

// reach is the set of nodes that stand in start or may be scheduled because of them. Ways through
// without, and back edges of the bodies around inside, do not count; -1 leaves those out.
func (c *Canvas) reach(start []int32, without, inside int32) []bool {
	seen := make([]bool, len(c.nodes))
	queue := make([]int32, 0, len(start))
	for _, n := range start {
		if n != without && !seen[n] {
			seen[n] = true
			queue = append(queue, n)
		}
	}
	closed := c.items(inside)
	for len(queue) > 0 {
		n := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, to := range c.nodes[n].edges {
			if seen[to] || to == without || slices.Contains(closed, to) {
				continue
			}
			seen[to] = true
			queue = append(queue, to)
		}
	}
	return seen
}

// items are the start nodes of a body and of all bodies around it.
func (c *Canvas) items(container int32) []int32 {
	var items []int32
	for p := container; p >= 0; p = c.nodes[p].parent {
		items = append(items, c.nodes[p].item)
	}
	return items
}
