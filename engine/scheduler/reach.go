package scheduler

import "slices"

// Reach returns the set of nodes that may run once those in start are scheduled, start included.
func (g *Graph) Reach(start ...Index) []bool { return g.reach(start, None, None) }

// ReachWithout is Reach without the ways through one node.
func (g *Graph) ReachWithout(without Index, start ...Index) []bool {
	return g.reach(start, without, None)
}

// reach is Reach without the ways through one node, and without the back edges of the bodies around
// inside; None leaves either out.
func (g *Graph) reach(start []Index, without, inside Index) []bool {
	seen := make([]bool, len(g.nodes))
	queue := make([]Index, 0, len(start))
	for _, n := range start {
		if n != without && !seen[n] {
			seen[n] = true
			queue = append(queue, n)
		}
	}
	closed := g.items(inside)
	for len(queue) > 0 {
		n := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, to := range g.ways[n] {
			if seen[to] || to == without || slices.Contains(closed, to) {
				continue
			}
			seen[to] = true
			queue = append(queue, to)
		}
	}
	return seen
}

// items returns the nodes that open the turns of a body and of all bodies around it.
func (g *Graph) items(container Index) []Index {
	var items []Index
	for p := container; p != None; p = g.nodes[p].Parent {
		items = append(items, g.nodes[p].Item)
	}
	return items
}

// leadsTo reports whether running from could schedule to.
func (g *Graph) leadsTo(from, to Index, order []int) bool {
	if order[to] >= order[from] {
		return order[to] == order[from]
	}
	return g.Reach(from)[to]
}

// Components numbers the strongly connected components of a graph of n nodes (Tarjan, without
// recursion). Successors of a node have a smaller number, or the same one in a cycle.
func Components(n int, edges func(node Index) []Index) []int {
	t := tarjan{edges: edges, low: make([]int, n), num: make([]int, n), component: make([]int, n)}
	for i := range t.component {
		t.component[i] = -1
	}
	for i := range t.num {
		if t.num[i] == 0 {
			t.visit(Index(i))
		}
	}
	return t.component
}

type tarjan struct {
	edges      func(node Index) []Index
	num, low   []int // by node: 1-based number of the visit, the smallest number it leads back to
	component  []int // by node: -1 until it is known
	stack      []Index
	last       int // number of the last visit
	components int
}

// frame is one level of the depth-first search: a node and the edge to follow next.
type frame struct {
	node Index
	edge int
}

func (t *tarjan) visit(root Index) {
	frames := []frame{{node: t.enter(root)}}
	for len(frames) > 0 {
		f := &frames[len(frames)-1]
		if edges := t.edges(f.node); f.edge < len(edges) {
			to := edges[f.edge]
			f.edge++
			if t.num[to] == 0 {
				frames = append(frames, frame{node: t.enter(to)})
			} else if t.component[to] < 0 {
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

func (t *tarjan) enter(n Index) Index {
	t.last++
	t.num[n], t.low[n] = t.last, t.last
	t.stack = append(t.stack, n)
	return n
}

// leave closes the component whose first node is n.
func (t *tarjan) leave(n Index) {
	for {
		top := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		t.component[top] = t.components
		if top == n {
			break
		}
	}
	t.components++
}
