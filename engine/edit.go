package engine

import (
	"fmt"
	"iter"
)

// This file serves editors: a canvas that is changed node by node, with the conversation that
// belongs to it.

// Patch returns the canvas with other params for one node: each listed param replaces that of the
// node. Only this node is compiled; the others are shared with the original canvas, which does not
// change. An invalid node is an error as in Load.
func (c *Canvas) Patch(id string, params Value) (*Canvas, error) {
	old, err := c.node(id)
	if err != nil {
		return nil, err
	}
	if k := params.Kind(); k != KindObject {
		return nil, fmt.Errorf("node %q: the params are a %s; expected an object", id, k)
	}
	merged := old.params
	for name, v := range params.Fields() {
		merged = merged.With(name, v)
	}
	entry := old.entry.With("obj", old.entry.Get("obj").With("params", merged))
	n := node{
		index: old.index, id: id, name: old.name, spec: old.spec, entry: entry, params: merged,
		down: old.down, parent: old.parent, item: noNode, short: old.short,
	}
	if problems := n.compile(c.registry); len(problems) > 0 {
		return nil, problems[0]
	}
	p := &Canvas{
		doc:      c.doc.With("components", c.doc.Get("components").With(id, entry)),
		registry: c.registry, index: c.index, bodies: c.bodies, start: c.start, pipeline: c.pipeline, env: c.env,
		settings: c.settings,
		nodes:    make([]node, len(c.nodes)),
	}
	copy(p.nodes, c.nodes)
	p.nodes[n.index] = n
	globals := globalsOf(p.doc)
	p.bindNode(&p.nodes[n.index], &globals)
	p.graph, p.sideBySide = p.newGraph(), runsSideBySide(p.nodes) // a choice may lead elsewhere now
	return p, nil
}

// Adopt returns a copy of a state for this canvas from the canvas that it was patched from. Newly
// declared outputs of a patch get their declared values. It returns ErrState for a state of other
// nodes.
func (c *Canvas) Adopt(st *State) (*State, error) {
	if st == nil || len(st.canvas.nodes) != len(c.nodes) {
		return nil, fmt.Errorf("%w: it belongs to a canvas with other nodes", ErrState)
	}
	for i := range c.nodes {
		if st.canvas.nodes[i].id != c.nodes[i].id {
			return nil, fmt.Errorf("%w: it has no node %q", ErrState, c.nodes[i].id)
		}
	}
	own := st.Clone()
	own.canvas = c
	for i := range c.nodes {
		for _, d := range c.nodes[i].declared {
			if _, ok := own.nodes[i].out(d.name); !ok {
				own.setOut(nodeIndex(i), d.name, d.value)
			}
		}
	}
	return own, nil
}

// Globals returns the variables of the session in order: sys.query, env.city, ...
func (s *State) Globals() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for i, name := range s.globals.keys {
			if !yield(name, s.globals.vals[i]) {
				return
			}
		}
	}
}
