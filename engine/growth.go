package engine

import (
	"fmt"
	"slices"
)

// growth writes growing lists, such as the results of an Iteration, only once: a checkpoint holds
// the elements that the log does not have yet.
type growth struct {
	outs    map[nodeIndex][]slot // lists among the outputs of nodes, as the log has them
	globals map[string]Value     // the same of globals
	grown   []grownList          // of the next checkpoint
	rest    []slot               // scratch
}

// grownList is a list of which the log has the first elements.
type grownList struct {
	node  nodeIndex // noNode for a global
	name  string
	value Value
	from  int
}

// global reports whether only new elements of a global have to be written. It remembers the value.
func (g *growth) global(name string, v Value) bool {
	if v.Kind() != KindList {
		delete(g.globals, name)
		return false
	}
	if g.globals == nil {
		g.globals = map[string]Value{}
	}
	old := g.globals[name]
	g.globals[name] = v
	return g.add(noNode, name, v, old)
}

// remaining returns outputs of a node with null for the lists that have only grown. It remembers
// the lists.
func (g *growth) remaining(node nodeIndex, outs []slot) []slot {
	logged := nodeState{outs: g.outs[node]}
	var lists []slot
	g.rest = append(g.rest[:0], outs...)
	for i := range g.rest {
		o := &g.rest[i]
		if o.value.Kind() != KindList {
			continue
		}
		lists = append(lists, *o)
		if old, _ := logged.out(o.name); g.add(node, o.name, o.value, old) {
			o.value = Null
		}
	}
	switch {
	case len(lists) == 0:
		delete(g.outs, node)
	case g.outs == nil:
		g.outs = map[nodeIndex][]slot{node: lists}
	default:
		g.outs[node] = lists
	}
	return g.rest
}

// add notes a list of which the log has the beginning, and reports whether it has.
func (g *growth) add(node nodeIndex, name string, v, old Value) bool {
	if !beginsWith(v, old) {
		return false
	}
	g.grown = append(g.grown, grownList{node, name, v, old.Len()})
	return true
}

// beginsWith reports whether a list begins with the elements of another one, which is not empty.
// Equal elements that were built apart may not count.
func beginsWith(v, old Value) bool {
	n := old.Len()
	if old.Kind() != KindList || n == 0 || v.Len() < n {
		return false
	}
	a, b := v.tree.vals[:n], old.tree.vals
	return &a[0] == &b[0] || slices.Equal(a, b)
}

// take returns the grown lists for a checkpoint: [[node, name, length in the log, new elements]],
// with an empty node for a global.
func (g *growth) take(c *Canvas) Value {
	list := make([]Value, len(g.grown))
	for i, x := range g.grown {
		id := ""
		if x.node != noNode {
			id = c.nodes[x.node].id
		}
		list[i] = List(String(id), String(x.name), Int(int64(x.from)), listOf(x.value.tree.vals[x.from:]))
	}
	clear(g.grown)
	g.grown = g.grown[:0]
	return listOf(list)
}

// regrown is a list of a checkpoint with all its elements.
type regrown struct {
	id, name string
	value    Value
}

// regrow puts lists of a checkpoint together. It must be called before other changes are applied.
func regrow(s *State, lists Value) ([]regrown, error) {
	var out []regrown
	for _, x := range lists.Elements() {
		r := regrown{id: x.At(0).Str(), name: x.At(1).Str()}
		if i, ok := s.canvas.index[r.id]; ok {
			r.value, _ = s.nodes[i].out(r.name)
		} else if r.id == "" {
			r.value, _ = s.globals.get(r.name)
		}
		from, _ := x.At(2).Int()
		if r.value.Kind() != KindList || int64(r.value.Len()) != from {
			return nil, fmt.Errorf("%w: a checkpoint adds to a list %s of %d elements, which it does not follow",
				ErrState, brief(r.id+"@"+r.name), from)
		}
		for _, v := range x.At(3).Elements() {
			r.value = r.value.Append(v)
		}
		out = append(out, r)
	}
	return out, nil
}
