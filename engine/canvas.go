package engine

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Start nodes: a canvas begins at begin, an ingestion pipeline at File.
const (
	startID    = "begin"
	pipelineID = "File"
)

// Canvas is a loaded document: an immutable plan with its nodes in an array, references bound to it and edges
// as indexes. It may be run by many goroutines at once, each with its own State.
type Canvas struct {
	doc      Value // the document, upgraded; its state parts are only the initial state
	registry *Registry
	nodes    []node
	index    map[string]int32
	bodies   map[int32][]int32 // container -> its direct children, in document order
	start    int32
	pipeline bool
	env      Value // definitions of env variables
	scratch  sync.Pool
	today    atomic.Pointer[dated]
}

// dated is the text of one second: runs that start within it share it.
type dated struct {
	second int64
	text   Value
}

// date is sys.date: the local time of day.
func (c *Canvas) date(t time.Time) Value {
	if d := c.today.Load(); d != nil && d.second == t.Unix() {
		return d.text
	}
	d := &dated{t.Unix(), String(t.Format("2006-01-02 15:04:05"))}
	c.today.Store(d)
	return d.text
}

// node is one placed component, compiled.
type node struct {
	index  int32
	id     string
	name   string // display name, "" when the document has none
	spec   *Spec
	comp   Component
	common Common
	params Value
	entry  Value // the node's member of components, as in the document

	down    []int32 // edges
	targets []int32 // what a Brancher may choose
	gotos   []int32 // where an error leads
	back    Value   // exception_default_value when it counts
	edges   []int32 // every way out, for what is still possible
	parent  int32   // container around it, or -1
	item    int32   // start of the body, for a container, or -1
	body    int32   // for an item: its container, else -1
	refs    []*Ref
	sources []int32 // nodes its texts refer to, when it waits for them
	cyclic  []bool  // per source: the node itself leads to it
	feeds   bool    // a Speaker stands downstream
	head    []byte  // its id, name and type as events show them
	quoted  []byte  // its id as JSON

	inline    bool // Run may use the run's own goroutine
	container Container
	isItem    bool
	isExit    bool
	form      Form
	brancher  bool
	speaker   Speaker
	resets    []Resetter // the component and its tools, as far as they want to know that a run is over
	timeout   time.Duration
	delay     time.Duration
	retries   int
	declared  []slot // outputs with the values the document gives
}

// Load reads a canvas: the DSL itself or a template that wraps it under "dsl". Problems that would make every
// run wrong refuse it, with one error naming component and parameter; see Validate for the rest.
func Load(reg *Registry, dsl []byte) (*Canvas, error) {
	doc, err := ParseJSON(dsl)
	if err != nil {
		return nil, err
	}
	return LoadValue(reg, doc)
}

// LoadValue is Load for a parsed document.
func LoadValue(reg *Registry, doc Value) (*Canvas, error) {
	doc, err := unwrap(doc)
	if err != nil {
		return nil, err
	}
	doc = upgrade(doc)
	c := &Canvas{doc: doc, registry: reg, env: doc.Get("variables")}
	if err := c.place(doc.Get("components")); err != nil {
		return nil, err
	}
	if err := c.link(); err != nil {
		return nil, err
	}
	for i := range c.nodes {
		if err := c.nodes[i].compile(reg); err != nil {
			return nil, err
		}
	}
	c.bind()
	c.analyse()
	if _, err := c.readState(doc); err != nil {
		return nil, err
	}
	return c, nil
}

// unwrap finds the DSL in a document.
func unwrap(doc Value) (Value, error) {
	if doc.Kind() != KindObject {
		return Null, fmt.Errorf("canvas: the document is a %s; an object with components is needed", doc.Kind())
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
	if doc.Kind() != KindObject || doc.Get("components").Kind() != KindObject {
		return Null, errors.New(`canvas: no "components" object in the document`)
	}
	return doc, nil
}

// place makes a node for every component, in document order.
func (c *Canvas) place(components Value) error {
	names := displayNames(c.doc.Get("graph"))
	c.nodes = make([]node, components.Len())
	c.index = make(map[string]int32, components.Len())
	c.bodies = map[int32][]int32{}
	c.start = -1
	i := int32(0)
	for id, entry := range components.Fields() {
		n := &c.nodes[i]
		*n = node{index: i, id: id, name: names[id], entry: entry, parent: -1, item: -1, body: -1}
		obj := entry.Get("obj")
		kind := obj.Get("component_name")
		if kind.Kind() != KindString {
			return &ParamError{Node: id, Name: n.name, Param: "component_name", Problem: "is missing; the name of a component is needed"}
		}
		spec, err := c.registry.Lookup(kind.Str())
		if err != nil {
			return &ParamError{Node: id, Name: n.name, Problem: err.Error()}
		}
		n.spec, n.params = spec, obj.Get("params")
		if k := n.params.Kind(); k != KindObject && k != KindNull {
			return &ParamError{Node: id, Name: n.name, Kind: spec.Name, Param: "params", Problem: "is a " + k.String() + "; an object is needed"}
		}
		c.index[id] = i
		i++
	}
	if start, ok := c.index[startID]; ok {
		c.start = start
	} else if start, ok := c.index[pipelineID]; ok {
		c.start, c.pipeline = start, true
	} else {
		return errors.New(`canvas: no component "begin": every canvas starts at a node with this id (pipelines at "File")`)
	}
	return nil
}

// displayNames reads the names people gave the nodes.
func displayNames(graph Value) map[string]string {
	nodes := graph.Get("nodes")
	names := make(map[string]string, nodes.Len())
	for _, n := range nodes.Elements() {
		names[n.Get("id").Str()] = n.Get("data").Get("name").Str()
	}
	return names
}

// link resolves edges and parents.
func (c *Canvas) link() error {
	for i := range c.nodes {
		n := &c.nodes[i]
		if err := n.checkDownstream(); err != nil {
			return err
		}
		for _, d := range n.entry.Get("downstream").Elements() {
			to, ok := c.index[d.Str()]
			if !ok {
				return &ParamError{Node: n.id, Name: n.name, Kind: n.spec.Name, Param: "downstream", Value: d.JSON(), Problem: "is no component of this canvas"}
			}
			n.down = append(n.down, to)
		}
		if parent := n.entry.Get("parent_id").Str(); parent != "" {
			p, ok := c.index[parent]
			if !ok {
				return &ParamError{Node: n.id, Name: n.name, Kind: n.spec.Name, Param: "parent_id", Value: quote(parent), Problem: "is no component of this canvas"}
			}
			n.parent = p
			c.bodies[p] = append(c.bodies[p], int32(i))
		}
	}
	return c.checkNesting()
}

// checkDownstream refuses edges that are no list.
func (n *node) checkDownstream() error {
	down := n.entry.Get("downstream")
	if k := down.Kind(); k != KindList && k != KindNull {
		return &ParamError{Node: n.id, Name: n.name, Kind: n.spec.Name, Param: "downstream", Value: shorten(down.JSON(), 120), Problem: "is a " + k.String() + "; a list of ids is needed"}
	}
	return nil
}

// checkNesting refuses containers that hold themselves.
func (c *Canvas) checkNesting() error {
	for i := range c.nodes {
		depth := 0
		for p := c.nodes[i].parent; p >= 0; p = c.nodes[p].parent {
			if depth++; depth > len(c.nodes) {
				n := &c.nodes[i]
				return &ParamError{Node: n.id, Name: n.name, Kind: n.spec.Name, Param: "parent_id", Problem: "leads back to the component itself"}
			}
		}
	}
	return nil
}

func quote(s string) string { return string(AppendQuoted(nil, shorten(s, 120))) }

// compile reads the params and asks the component what it can do.
func (n *node) compile(reg *Registry) error {
	if problems := n.build(reg, false); len(problems) > 0 {
		return problems[0]
	}
	return nil
}

// build is compile that, with all, goes on after a problem to find the others.
func (n *node) build(reg *Registry, all bool) []error {
	params := n.params
	setup := &Setup{
		NodeID: n.id, Name: n.name, Kind: n.spec.Name, Params: params,
		Outputs: params.Get("outputs"), Registry: reg, owner: n,
	}
	n.comp = n.spec.New()
	d := decoder{setup: setup, all: all}
	err := d.decode(&n.common, params)
	if err == nil {
		err = d.decode(n.comp, params)
	}
	n.refs = append(n.refs, d.refs...)
	if init, ok := n.comp.(Initializer); ok && err == nil && len(d.problems) == 0 {
		err = init.Init(setup)
	}
	if err = d.failed(err); err != nil {
		return []error{err}
	}
	if r, ok := n.comp.(Referrer); ok {
		for _, ref := range r.References() {
			n.refs = append(n.refs, &ref)
		}
	}
	n.probe()
	n.retries = n.common.MaxRetries
	n.delay = time.Duration(n.common.DelayAfterError * float64(time.Second))
	n.timeout = n.spec.Timeout
	for name, out := range params.Get("outputs").Fields() {
		v := out
		if out.Kind() == KindObject {
			v = out.Get("value")
		}
		n.declared = append(n.declared, slot{name, v})
	}
	n.head = appendNodeHead(nil, n)
	n.quoted = AppendQuoted(nil, n.id)
	return d.problems
}

// probe notes which of the small interfaces the component has.
func (n *node) probe() {
	n.inline = n.spec.Inline
	if i, ok := n.comp.(Inliner); ok {
		n.inline = i.Inline()
	}
	n.container, _ = n.comp.(Container)
	_, n.isItem = n.comp.(Item)
	_, n.isExit = n.comp.(Exit)
	n.form, _ = n.comp.(Form)
	_, n.brancher = n.comp.(Brancher)
	n.speaker, _ = n.comp.(Speaker)
	if kept, ok := n.comp.(Resetter); ok {
		n.resets = append(n.resets, kept)
	}
}

// bind points references and targets at nodes. What does not exist stays unbound: Validate lists it, and it is
// an error of the node that uses it.
func (c *Canvas) bind() {
	globals := newBucket(c.doc.Get("globals"))
	for i := range c.nodes {
		c.bindNode(&c.nodes[i], &globals)
	}
}

func (c *Canvas) bindNode(n *node, globals *bucket) {
	for _, r := range n.refs {
		if at, ok := c.index[r.Node]; ok && r.Node != "" {
			r.slot = at + 1
		} else if r.Node == "" {
			r.slot = int32(globals.find(r.Expr)) + 1
		}
	}
	if b, ok := n.comp.(Brancher); ok {
		n.targets = c.find(b.Targets())
	}
	c.bindHandler(n)
	if n.container != nil {
		n.item = c.startOf(n.index)
	}
	if n.isItem && n.parent >= 0 {
		n.body = n.parent
	}
	for _, d := range n.down {
		if _, speaks := c.nodes[d].comp.(Speaker); speaks {
			n.feeds = true
		}
	}
}

// bindHandler reads what an error of the node leads to; the method decides, stale settings do not count.
func (c *Canvas) bindHandler(n *node) {
	switch n.common.ExceptionMethod {
	case "goto":
		n.gotos = c.find(gotoIDs(&n.common))
	case "comment":
		if v := n.common.ExceptionDefault; v.Truthy() {
			n.back = v
		}
	}
}

// gotoIDs are the nodes the document names for errors: a list, or one id alone.
func gotoIDs(c *Common) []string {
	if c.ExceptionMethod != "goto" {
		return nil
	}
	var ids []string
	for _, id := range c.ExceptionGoto.Elements() {
		ids = append(ids, id.Str())
	}
	if id := c.ExceptionGoto.Str(); id != "" {
		ids = append(ids, id)
	}
	return ids
}

// find is the nodes of these ids; what does not exist is left out.
func (c *Canvas) find(ids []string) []int32 {
	var found []int32
	for _, id := range ids {
		if i, ok := c.index[id]; ok {
			found = append(found, i)
		}
	}
	return found
}

// startOf is the first item in a container's body.
func (c *Canvas) startOf(container int32) int32 {
	for _, i := range c.bodies[container] {
		if _, ok := c.nodes[i].comp.(Item); ok {
			return i
		}
	}
	return -1
}

// Registry is where the canvas's components come from.
func (c *Canvas) Registry() *Registry { return c.registry }

// Document is the document the canvas was loaded from, upgraded.
func (c *Canvas) Document() Value { return c.doc }

// IsPipeline reports whether the canvas is an ingestion pipeline.
func (c *Canvas) IsPipeline() bool { return c.pipeline }

// Nodes is the ids of all nodes, in document order.
func (c *Canvas) Nodes() []string {
	ids := make([]string, len(c.nodes))
	for i := range c.nodes {
		ids[i] = c.nodes[i].id
	}
	return ids
}

// node is the node of an id that a caller gave.
func (c *Canvas) node(id string) (*node, error) {
	i, ok := c.index[id]
	if !ok {
		return nil, fmt.Errorf("%w: no node %q in this canvas", ErrRef, id)
	}
	return &c.nodes[i], nil
}

// Component is the compiled component of a node and its Spec; nil when there is no such node.
func (c *Canvas) Component(id string) (Component, *Spec) {
	i, ok := c.index[id]
	if !ok {
		return nil, nil
	}
	return c.nodes[i].comp, c.nodes[i].spec
}
