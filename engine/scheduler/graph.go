package scheduler

import "slices"

// Index is the position of a node in its graph.
type Index int32

// None is the index of no node.
const None Index = -1

// Node is a node of the scheduler's graph: its successors and its sources.
type Node struct {
	Down    []Index // edges: what runs after it
	Choices []Index // of a node that Chooses: its alternatives to its edges
	OnError []Index // run by its error handler instead of its edges
	Reads   []Index // nodes whose outputs it waits for, as long as they may still come
	Body    []Index // of a container: the nodes whose Parent it is
	Parent  Index   // container around it, or None
	Item    Index   // of a container: the node in its body that opens each turn, or None

	Chooses    bool // names the next nodes instead of its edges
	Container  bool // holds a body
	Opens      bool // opens the turns of the body around it
	Exits      bool // ends the container around it, if that Breaks
	Breaks     bool // of a container: a node that Exits may end it
	Progresses bool // of a container: each turn brings it closer to its end
}

// Graph is the nodes of one canvas, with precomputed properties. It is immutable and may be used by
// many schedulers at once.
type Graph struct {
	nodes []Node
	ways  [][]Index // by node: every node that may be scheduled because it ran
	hot   []vertex
}

// vertex is the data of a node that each step of a run reads. It fills one cache line.
type vertex struct {
	down      []Index
	sources   []source // what it waits for
	parent    Index
	container bool
	exits     bool
	cyclic    bool // one of the sources is cyclic
	diverts   bool // it does not take all of its ways each time it runs, or not at once
}

// source is a node that another one waits for.
type source struct {
	node   Index
	cyclic bool // the waiting node itself leads to it, so whether it may come depends on that node
}

// NewGraph computes the reachability between nodes and the sources of each waiting node. Parents
// must not form a cycle. The graph keeps nodes, which must not change any more.
func NewGraph(nodes []Node) *Graph {
	g := &Graph{nodes: nodes, ways: make([][]Index, len(nodes)), hot: make([]vertex, len(nodes))}
	seen := make([]Index, len(nodes))
	for i := range nodes {
		n := &nodes[i]
		g.ways[i] = g.waysOut(n, seen, Index(i)+1)
		endsTurn := n.Parent != None && len(n.Down) == 0
		g.hot[i] = vertex{
			down: n.Down, parent: n.Parent, container: n.Container, exits: n.Exits,
			diverts: n.Opens || n.Exits || endsTurn || len(n.OnError) > 0,
		}
	}
	order := Components(len(nodes), func(n Index) []Index { return g.ways[n] })
	for i := range nodes {
		g.findSources(Index(i), order)
	}
	return g
}

// findSources lists the sources of a node.
func (g *Graph) findSources(n Index, order []int) {
	v := &g.hot[n]
	for _, read := range g.nodes[n].Reads {
		s := g.awaited(n, read)
		if s == None || slices.ContainsFunc(v.sources, func(x source) bool { return x.node == s }) {
			continue
		}
		cyclic := g.leadsTo(n, s, order)
		v.sources = append(v.sources, source{node: s, cyclic: cyclic})
		v.cyclic = v.cyclic || cyclic
	}
}

// waysOut returns every node that may be scheduled because n ran: edges, choices, error handlers,
// bodies. It sets mark in seen for each of them.
func (g *Graph) waysOut(n *Node, seen []Index, mark Index) []Index {
	var out []Index
	add := func(to ...Index) {
		for _, t := range to {
			if t != None && seen[t] != mark {
				seen[t] = mark
				out = append(out, t)
			}
		}
	}
	if n.Chooses {
		add(n.Choices...)
	} else {
		add(n.Down...)
	}
	if n.Container {
		add(n.Item)
	}
	if n.Parent != None {
		around := &g.nodes[n.Parent]
		ends := n.Opens || n.Exits
		if ends {
			add(around.Down...)
		}
		if len(n.Down) == 0 && !n.Chooses && !n.Opens {
			add(around.Item)
		}
		if ends && len(around.Down) == 0 && around.Parent != None {
			add(g.nodes[around.Parent].Item)
		}
	}
	add(n.OnError...)
	return out
}

// awaited returns the node that a reader of a node has to wait for: the node itself, or the
// container around it if the reader is outside. It is None if there is nothing to wait for: the
// reader itself, or a container around it.
func (g *Graph) awaited(reader, read Index) Index {
	if read == reader || g.Encloses(read, reader) {
		return None
	}
	for {
		p := g.hot[read].parent
		if p == None || g.Encloses(p, reader) {
			return read
		}
		if read = p; read == reader {
			return None
		}
	}
}

// Sources returns the nodes that a node waits for.
func (g *Graph) Sources(n Index) []Index {
	var list []Index
	for _, s := range g.hot[n].sources {
		list = append(list, s.node)
	}
	return list
}

// Encloses reports whether a node is in the body of a container, at any depth.
func (g *Graph) Encloses(container, node Index) bool {
	for p := g.hot[node].parent; p != None; p = g.hot[p].parent {
		if p == container {
			return true
		}
	}
	return false
}

// ClearRan begins a turn of a body in ran: nothing in it, at any depth, has run yet.
func (g *Graph) ClearRan(ran []bool, container Index) {
	for _, n := range g.nodes[container].Body {
		ran[n] = false
		g.ClearRan(ran, n)
	}
}
