package engine

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/easel-canvas/easel/engine/scheduler"
)

// Ids of the first node: of a canvas, and of an ingestion pipeline.
const (
	StartID    = "begin"
	PipelineID = "File"
)

// StartParams returns the params of the first node of a document, null if it has none.
func StartParams(doc Value) Value {
	return doc.Get("components").Get(StartID).Get("obj").Get("params")
}

// Canvas is a loaded document: an immutable plan with its nodes in an array, references bound to it
// and edges as indexes. It may be run by many goroutines at once, each with its own State.
type Canvas struct {
	doc      Value // the document, upgraded; its state parts are only the initial state
	registry *Registry
	nodes    []node
	index    map[string]nodeIndex
	bodies   map[nodeIndex][]nodeIndex // container -> its direct children, in document order
	start    nodeIndex
	graph    *scheduler.Graph
	joined   atomic.Pointer[scheduler.Graph] // see joinGraph
	proved   atomic.Int32                    // see OrderOf: 1 + the index in schedulings, 0 before it is known
	pipeline bool

	sideBySide bool  // a container runs its body for several elements at once
	env        Value // definitions of env variables
	settings   settings
	scratch    sync.Pool
	today      atomic.Pointer[dated]
}

// dated is the text of one second: runs that start within it share it.
type dated struct {
	second int64
	text   Value
}

// date returns sys.date: the local time of day.
func (c *Canvas) date(t time.Time) Value {
	if d := c.today.Load(); d != nil && d.second == t.Unix() {
		return d.text
	}
	d := &dated{t.Unix(), String(t.Format("2006-01-02 15:04:05"))}
	c.today.Store(d)
	return d.text
}

// node is one placed component, compiled. The fields that each execution reads come first, in a few
// cache lines.
type node struct {
	index    nodeIndex
	parent   nodeIndex // container around it, or noNode
	item     nodeIndex // start of the body, for a container, or noNode
	inline   bool      // Run may use the run's own goroutine
	isItem   bool
	asks     bool // a form, or something that needs approval
	suspends bool // it may wait for a person in the middle of its execution
	toolUser bool // it may call tools
	off      bool // it does not run; what follows it does
	orphan   bool // it is in a container that is gone; nothing leads to it
	isExit   bool
	isTool   bool // it is a tool of another node
	brancher bool
	feeds    bool // a Speaker stands downstream

	id        string
	spec      *Spec
	comp      Component
	container Container
	speaker   Speaker
	timeout   time.Duration
	started   []byte     // members of node_started, after its time
	finished  []byte     // members of node_finished between outputs and error
	resets    []Resetter // the component and its tools, as far as they want to know that a run is over
	delay     time.Duration
	retries   int
	facts     Facts // of its events, but for errors

	name     string // display name, "" when the document has none
	short    shortNames
	loose    []string // short names that stay text
	common   Common
	params   Value
	entry    Value       // the node's member of components, as in the document
	down     []nodeIndex // edges
	targets  []nodeIndex // what a Brancher may choose
	gotos    []nodeIndex // where an error leads
	back     Value       // exception_default_value when it counts
	refs     []*Ref
	quoted   []byte // its id as JSON
	form     Form
	tools    []*node  // components bound to it as tools
	lookback Lookback // what it reads of the conversation, without its tools
	declared []slot   // outputs with their values in the document
}

// compile reads the params and probes the component's capabilities. It returns every problem of the
// params; a node with problems must not run.
func (n *node) compile(reg *Registry) []error {
	params := n.params
	setup := &Setup{
		NodeID: n.id, Name: n.name, Kind: n.spec.Name, Params: params,
		Outputs: params.Get("outputs"), Registry: reg, owner: n,
	}
	n.comp = n.spec.New()
	d := decoder{setup: setup}
	d.decode(&n.common, params)
	d.decode(n.comp, params)
	d.settings(n.spec, params)
	n.refs = append(n.refs, d.refs...)
	if init, ok := n.comp.(Initializer); ok && len(d.problems) == 0 {
		d.fail(init.Init(setup))
	}
	if r, ok := n.comp.(Referrer); ok {
		for _, ref := range r.References() {
			n.refs = append(n.refs, &ref)
		}
	}
	n.probe()
	if n.asks || n.suspends {
		d.fail(n.common.checkExpiry(setup))
	}
	n.lookBackNamed()
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
	head := appendNodeHead(nil, n)
	n.started = append(append([]byte{','}, head...), `,"thoughts":`...)
	n.started = append(AppendQuoted(n.started, n.spec.Thoughts), "}}"...)
	n.finished = append(append([]byte("},"), head...), `,"error":`...)
	n.facts = Facts{Node: n.id, Component: n.spec.Name}
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
	n.asks = n.form != nil || n.common.Approval
	_, suspender := n.comp.(Suspender)
	n.toolUser = suspender || len(n.tools) > 0
	n.suspends = n.maySuspend()
	if b, ok := n.comp.(Brancher); ok {
		n.brancher = b.Choices() != nil
	}
	n.speaker, _ = n.comp.(Speaker)
	if kept, ok := n.comp.(Resetter); ok {
		n.resets = append(n.resets, kept)
	}
}

// lookBackNamed requires the whole history if the params of the node name it, or a plugin may when
// it runs.
func (n *node) lookBackNamed() {
	if strings.HasPrefix(n.spec.Name, PluginPrefix) || mentions(n.params, historyVariable) {
		n.lookback.Turns = AllTurns
	}
}

// mentions reports whether a string of v, or a key, contains text.
func mentions(v Value, text string) bool {
	switch v.Kind() {
	case KindString:
		return strings.Contains(v.Str(), text)
	case KindList:
		for _, x := range v.Elements() {
			if mentions(x, text) {
				return true
			}
		}
	case KindObject:
		for k, x := range v.Fields() {
			if strings.Contains(k, text) || mentions(x, text) {
				return true
			}
		}
	}
	return false
}

// bind resolves references and targets to nodes. Names that do not exist stay unbound: Validate
// lists them, and they are an error of the node that uses them.
func (c *Canvas) bind() {
	globals := globalsOf(c.doc)
	for i := range c.nodes {
		c.bindNode(&c.nodes[i], &globals)
	}
}

func (c *Canvas) bindNode(n *node, globals *bucket) {
	for _, r := range n.refs {
		if at, ok := c.index[r.Node]; ok && r.Node != "" {
			r.slot = int32(at) + 1
		} else if r.Node == "" {
			r.slot = int32(globals.find(r.Expr)) + 1
		}
	}
	if b, ok := n.comp.(Brancher); ok {
		n.targets = c.find(slices.Concat(b.Choices()...))
	}
	n.gotos = c.find(n.common.ErrorTargets())
	n.back = n.common.ErrorDefault()
	if n.container != nil {
		n.item = c.startOf(n.index)
	}
	for _, d := range n.down {
		if _, speaks := c.nodes[d].comp.(Speaker); speaks {
			n.feeds = true
		}
	}
}

// find returns the nodes of these ids; unknown ids are left out.
func (c *Canvas) find(ids []string) []nodeIndex {
	var found []nodeIndex
	for _, id := range ids {
		if i, ok := c.index[id]; ok {
			found = append(found, through(c, i)...)
		}
	}
	return found
}

// startOf returns the first item in a container's body.
func (c *Canvas) startOf(container nodeIndex) nodeIndex {
	for _, i := range c.bodies[container] {
		if _, ok := c.nodes[i].comp.(Item); ok {
			return i
		}
	}
	return noNode
}

// Registry returns the registry of the canvas's components.
func (c *Canvas) Registry() *Registry { return c.registry }

// Document returns the document the canvas was loaded from, upgraded.
func (c *Canvas) Document() Value { return c.doc }

// IsPipeline reports whether the canvas is an ingestion pipeline.
func (c *Canvas) IsPipeline() bool { return c.pipeline }

// Nodes returns the ids of all nodes, in document order.
func (c *Canvas) Nodes() []string {
	ids := make([]string, len(c.nodes))
	for i := range c.nodes {
		ids[i] = c.nodes[i].id
	}
	return ids
}

// node returns the node with an id.
func (c *Canvas) node(id string) (*node, error) {
	i, ok := c.index[id]
	if !ok {
		return nil, fmt.Errorf("%w: no node %q in this canvas", ErrRef, id)
	}
	return &c.nodes[i], nil
}

// isInside reports whether a node is in the body of another one.
func isInside(c *Canvas, id string) bool {
	i, ok := c.index[id]
	return ok && c.nodes[i].parent != noNode
}

// Component returns the compiled component of a node and its Spec; nil if there is no such node.
func (c *Canvas) Component(id string) (Component, *Spec) {
	i, ok := c.index[id]
	if !ok {
		return nil, nil
	}
	return c.nodes[i].comp, c.nodes[i].spec
}
