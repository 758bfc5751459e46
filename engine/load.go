package engine

import (
	"errors"
	"fmt"
)

// Load reads a canvas: the DSL itself or a template that wraps it under "dsl". Problems that would
// make every run wrong refuse it, with one error naming component and parameter; see Validate for
// the rest.
func Load(reg *Registry, dsl []byte) (*Canvas, error) {
	doc, err := ParseJSON(dsl)
	if err != nil {
		return nil, err
	}
	return LoadValue(reg, doc)
}

// LoadValue is Load for a parsed document.
func LoadValue(reg *Registry, doc Value) (*Canvas, error) {
	doc, err := Complete(reg, doc)
	if err != nil {
		return nil, err
	}
	c, err := load(reg, doc, func(err error) error { return err })
	if err != nil {
		return nil, err
	}
	return c, nil
}

// load compiles a document. refuse receives each problem that prevents loading; its error ends
// loading, and nil continues, with a canvas that can be inspected but must not run.
func load(reg *Registry, doc Value, refuse func(error) error) (*Canvas, error) {
	doc = upgrade(reg, doc)
	c := &Canvas{doc: doc, registry: reg, env: doc.Get("variables")}
	var err error
	if c.settings, err = readSettings(doc.Get("settings"), refuse); err != nil {
		return nil, err
	}
	if err := c.place(doc.Get("components"), refuse); err != nil {
		return nil, err
	}
	if err := c.link(refuse); err != nil {
		return nil, err
	}
	nameItems(c)
	for i := range c.nodes {
		if c.nodes[i].spec.New == nil {
			continue // its kind is unknown
		}
		problems := c.nodes[i].compile(reg)
		if c.nodes[i].off {
			continue // what it would do does not matter
		}
		for _, err := range problems {
			if err := refuse(err); err != nil {
				return nil, err
			}
		}
	}
	switchOffBodies(c)
	c.dropParents()
	c.bind()
	c.graph, c.sideBySide = c.newGraph(), runsSideBySide(c.nodes)
	if _, err := c.readState(doc); err != nil {
		if err := refuse(err); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// unwrap finds the DSL in a document.
func unwrap(doc Value) (Value, error) {
	if doc.Kind() != KindObject {
		return Null, fmt.Errorf("canvas: the document is a %s; expected an object with components", doc.Kind())
	}
	if dsl := doc.Get("dsl"); doc.find("components") < 0 && !dsl.IsNull() {
		if dsl.Kind() == KindString {
			inner, err := ParseJSONText(dsl.Str())
			if err != nil {
				return Null, fmt.Errorf("canvas: dsl: %w", err)
			}
			dsl = inner
		}
		doc = dsl
	}
	if doc.Kind() != KindObject {
		return Null, fmt.Errorf("canvas: dsl is a %s; expected an object with components", doc.Kind())
	}
	return doc, nil
}

// place makes a node for every component, in document order.
func (c *Canvas) place(components Value, refuse func(error) error) error {
	names := displayNames(c.doc.Get("graph"))
	c.nodes = make([]node, components.Len())
	c.index = make(map[string]nodeIndex, components.Len())
	c.bodies = map[nodeIndex][]nodeIndex{}
	c.start = noNode
	i := nodeIndex(0)
	for id, entry := range components.Fields() {
		n := &c.nodes[i]
		*n = node{index: i, id: id, name: names[id], entry: entry, parent: noNode, item: noNode}
		if err := n.identify(c.registry); err != nil {
			if err := refuse(err); err != nil {
				return err
			}
		}
		n.off = n.isOff()
		c.index[id] = i
		i++
	}
	if start, ok := c.index[StartID]; ok {
		c.start = start
	} else if start, ok := c.index[PipelineID]; ok {
		c.start, c.pipeline = start, true
	} else {
		return refuse(errors.New(`canvas: no component "begin": ` +
			`every canvas starts at a node with this id (pipelines at "File")`))
	}
	return nil
}

// identify finds the kind of a node. A node of an unknown kind has an empty spec.
func (n *node) identify(reg *Registry) error {
	obj := n.entry.Get("obj")
	n.spec, n.params = new(Spec), obj.Get("params")
	kind := obj.Get("component_name")
	if kind.Kind() != KindString {
		return n.paramError("component_name", "", "is missing; expected the name of a component")
	}
	spec, err := reg.Lookup(kind.Str())
	if err != nil {
		return &ParamError{Node: n.id, Name: n.name, Param: "component_name", Problem: err.Error(), Err: err}
	}
	n.spec = spec
	if k := n.params.Kind(); k != KindObject && k != KindNull {
		return n.paramError("params", "", "is a "+k.String()+"; expected an object")
	}
	return nil
}

// paramError returns an error of one parameter of the node.
func (n *node) paramError(param, value, problem string) error {
	return &ParamError{Node: n.id, Name: n.name, Kind: n.spec.Name, Param: param, Value: value, Problem: problem}
}

func quote(s string) string { return string(AppendQuoted(nil, brief(s))) }

// displayNames reads the display names of the nodes.
func displayNames(graph Value) map[string]string {
	nodes := graph.Get("nodes")
	names := make(map[string]string, nodes.Len())
	for _, n := range nodes.Elements() {
		names[n.Get("id").Str()] = n.Get("data").Get("name").Str()
	}
	return names
}

// link resolves edges and parents. An edge to an unknown component leads nowhere, and neither does
// one to a component in a container that is gone, which RAGFlow's editor may leave behind.
func (c *Canvas) link(refuse func(error) error) error {
	for i := range c.nodes {
		n := &c.nodes[i]
		parent := n.entry.Get("parent_id").Str()
		if p, ok := c.index[parent]; ok {
			n.parent = p
		} else {
			n.orphan = parent != ""
		}
	}
	passed := 0
	for i := range c.nodes {
		n := &c.nodes[i]
		if err := n.checkDownstream(); err != nil {
			if err := refuse(err); err != nil {
				return err
			}
		}
		seen := map[nodeIndex]bool{}
		for _, d := range n.entry.Get("downstream").Elements() {
			if to, ok := c.index[d.Str()]; ok {
				n.lead(c, to, seen)
			}
		}
		if passed += len(seen); passed > maxPassed {
			err := n.paramError("downstream", "",
				fmt.Sprintf("leads past components that are switched off: more than %d such edges", maxPassed))
			if err := refuse(err); err != nil {
				return err
			}
			break
		}
	}
	return c.checkNesting(refuse)
}

// checkDownstream refuses edges that are not a list of ids.
func (n *node) checkDownstream() error {
	down := n.entry.Get("downstream")
	if k := down.Kind(); k != KindList && k != KindNull {
		return n.paramError("downstream", brief(down.JSON()), "is a "+k.String()+"; expected a list of ids")
	}
	for _, d := range down.Elements() {
		if k := d.Kind(); k != KindString {
			return n.paramError("downstream", brief(d.JSON()), "is a "+k.String()+"; expected the id of a component")
		}
	}
	return nil
}

// maxNesting bounds the bodies around a component, and so the time of walks from a component
// outwards.
const maxNesting = 100

// checkNesting refuses components that lie in their own body, or too deep.
func (c *Canvas) checkNesting(refuse func(error) error) error {
	above := make([]nodeIndex, len(c.nodes)) // the node, plus one, from which a walk upwards came by
	for i := range c.nodes {
		walk := nodeIndex(i) + 1
		for at := nodeIndex(i); at >= 0 && above[at] == 0; at = c.nodes[at].parent {
			above[at] = walk
			p := c.nodes[at].parent
			if p < 0 || above[p] != walk {
				continue
			}
			n := &c.nodes[at]
			n.parent = noNode
			err := n.paramError("parent_id", quote(c.nodes[p].id), "leads back to the component itself")
			if err := refuse(err); err != nil {
				return err
			}
		}
	}
	for i := range c.nodes {
		n := &c.nodes[i]
		deep := 0
		for p := n.parent; p >= 0 && deep <= maxNesting; p = c.nodes[p].parent {
			deep++
		}
		if deep > maxNesting {
			id := c.nodes[n.parent].id
			n.parent = noNode
			err := n.paramError("parent_id", quote(id), fmt.Sprintf("lies in more than %d bodies", maxNesting))
			if err := refuse(err); err != nil {
				return err
			}
		}
	}
	return nil
}

// nameItems sets the short names of the nodes of each body, those in bodies inside it included.
func nameItems(c *Canvas) {
	all := map[string]string{}
	items := map[nodeIndex]*node{}
	for i := range c.nodes {
		n := &c.nodes[i]
		for name, output := range n.spec.Short {
			all[name] = output
			items[n.parent] = n
		}
	}
	for i := range c.nodes {
		n := &c.nodes[i]
		n.short.outputs = all
		for p := n.parent; p >= 0 && n.short.item == ""; p = c.nodes[p].parent {
			if item := items[p]; item != nil { // else a body in that of the item
				n.short = shortNames{item.id, item.spec.Short}
			}
		}
	}
}

// dropParents lets only containers hold other nodes; Validate lists the other parents.
func (c *Canvas) dropParents() {
	for i := range c.nodes {
		n := &c.nodes[i]
		if n.parent >= 0 && c.nodes[n.parent].container == nil {
			n.parent = noNode
		}
		if n.parent >= 0 {
			c.bodies[n.parent] = append(c.bodies[n.parent], n.index)
		}
	}
}
