package engine

import "slices"

// edge is a way from one node to another, or if to is noNode the node by itself.
type edge struct{ from, to nodeIndex }

// choice is a node that takes one of several ways each time it runs, and not twice in one run or in
// one turn of the body around it.
type choice struct {
	node nodeIndex
	ways [][]nodeIndex // what it may name
	runs [][]bool      // by way: the nodes that may run when that is taken
}

// apart reports whether no run, or no turn of a body, takes both edges: they lie behind different
// ways of a choice.
func (o *orderCheck) apart(a, b edge) bool {
	return slices.ContainsFunc(o.eachChoice(), func(c choice) bool {
		p := o.nodes[c.node].parent
		if p != noNode && !(o.graph.Encloses(p, a.from) && o.graph.Encloses(p, b.from)) {
			return false // other turns than those in which c chooses
		}
		for i := range c.ways {
			if c.takes(i, a) && c.takes(i, b) {
				return false
			}
		}
		return true
	})
}

// takes reports whether an edge may be taken when a way is chosen.
func (c *choice) takes(way int, e edge) bool {
	return c.runs[way][e.from] && (e.to == noNode || e.from != c.node || slices.Contains(c.ways[way], e.to))
}

// eachChoice are the choices of the canvas.
func (o *orderCheck) eachChoice() []choice {
	if o.chosen {
		return o.choices
	}
	o.chosen = true
	for i := range o.nodes {
		if c, ok := o.choiceOf(&o.nodes[i]); ok {
			o.choices = append(o.choices, c)
		}
	}
	return o.choices
}

// choiceOf is what a node chooses: a branch, or its error handler in place of its edges.
func (o *orderCheck) choiceOf(n *node) (choice, bool) {
	c := choice{node: n.index, ways: waysOf(o.Canvas, n)}
	start := o.start
	if n.parent != noNode {
		start = o.nodes[n.parent].item
	}
	if len(c.ways) < 2 || start < 0 {
		return c, false
	}
	all := slices.Concat(c.ways...)
	if o.graph.ReachIn(n.parent, noNode, all...)[n.index] {
		return c, false // it may run again and choose otherwise
	}
	beside := o.graph.ReachIn(n.parent, n.index, start)
	for _, way := range c.ways {
		runs := o.graph.ReachIn(n.parent, n.index, way...)
		for i := range runs {
			runs[i] = runs[i] || beside[i]
		}
		runs[n.index] = true
		c.runs = append(c.runs, runs)
	}
	return c, true
}

// waysOf are the lists of nodes of which an execution of n is followed by one: nil where that is
// not known.
func waysOf(c *Canvas, n *node) [][]nodeIndex {
	if n.container != nil || n.isItem || n.isExit {
		return nil // a body is a further way
	}
	var ways [][]nodeIndex
	if !n.brancher {
		ways = append(ways, n.down)
	}
	for _, b := range n.spec.Branches {
		v := n.params.Get(b.Param)
		if b.To == "" {
			ways = append(ways, targetsIn(c, v))
			continue
		}
		for _, x := range v.Elements() {
			ways = append(ways, targetsIn(c, x.Get(b.To)))
		}
		for _, x := range v.Fields() {
			ways = append(ways, targetsIn(c, x.Get(b.To)))
		}
	}
	if n.brancher {
		named := slices.Concat(ways...)
		unnamed := func(to nodeIndex) bool { return !slices.Contains(named, to) }
		if slices.ContainsFunc(n.targets, unnamed) {
			return nil
		}
	}
	if len(n.gotos) > 0 {
		if _, streams := n.comp.(Streamer); streams {
			return nil // its error may come to light after its edges were taken
		}
		ways = append(ways, n.gotos)
	}
	return ways
}

// targetsIn are the nodes that a param names, in a list or alone.
func targetsIn(c *Canvas, v Value) []nodeIndex {
	if v.Kind() == KindString {
		return c.find([]string{v.Str()})
	}
	ids := make([]string, 0, v.Len())
	for _, id := range v.Elements() {
		ids = append(ids, id.Str())
	}
	return c.find(ids)
}
