package engine

import (
	"errors"
	"fmt"
	"slices"
)

// RAGFlow's editor keeps a canvas as a graph of nodes with forms, and makes the components of it
// when it saves. The files that it exports have only the graph up to version 0.26.0.

// Complete returns the document of a canvas with the components that its graph draws, if it has
// none: those that RAGFlow's editor would make. Documents with components are returned as they are.
// The document may be in a template or an export, under "dsl".
func Complete(reg *Registry, doc Value) (Value, error) {
	doc, problems, err := complete(reg, doc)
	if err == nil && len(problems) > 0 {
		err = problems[0]
	}
	return doc, err
}

// complete is Complete with all problems of a graph. After an error there is no document.
func complete(reg *Registry, doc Value) (_ Value, problems []error, err error) {
	if doc, err = unwrap(doc); err != nil {
		return Null, nil, err
	}
	components := doc.Get("components")
	if components.Len() > 0 && components.Kind() == KindObject {
		return doc, nil, nil
	}
	graph := doc.Get("graph")
	if graph.IsNull() && isGraph(doc) { // exports up to 0.23.1
		graph = Object("nodes", doc.Get("nodes"), "edges", doc.Get("edges"))
		doc = doc.Without("nodes").Without("edges").With("graph", graph)
	}
	switch {
	case components.Kind() != KindObject && !components.IsNull():
		return Null, nil, fmt.Errorf("canvas: components is a %s; expected an object", components.Kind())
	case isGraph(graph):
	case components.IsNull():
		return Null, nil, errors.New(`canvas: no "components" object in the document, and no "graph" with nodes`)
	default:
		return doc, nil, nil
	}
	d := newDrawing(reg, graph)
	doc = doc.With("components", d.components()).With("globals", drawnGlobals(doc))
	return doc, d.problems, nil
}

// isGraph reports whether a value is a graph of RAGFlow's editor with at least one node: other
// products have nodes without data.
func isGraph(v Value) bool {
	for _, n := range v.Get("nodes").Elements() {
		if n.Get("data").Kind() == KindObject {
			return true
		}
	}
	return false
}

// drawnGlobals returns the globals of a document with those that its variables define.
func drawnGlobals(doc Value) Value {
	globals := doc.Get("globals")
	if globals.Kind() != KindObject {
		globals = Object("sys.query", "", "sys.user_id", "", "sys.conversation_turns", 0, "sys.files", List())
	}
	b := NewObject(globals.Len())
	for name, v := range globals.Fields() {
		b.Set(name, v)
	}
	for name, v := range doc.Get("variables").Fields() {
		b.Set("env."+name, v.Get("value"))
	}
	return b.Value()
}

// Handles of RAGFlow's editor, where edges begin and end.
const (
	handleTool     = "tool"        // from an agent to the drawing of its tools
	handleSubagent = "agentBottom" // from an agent to one that it may call
	handleCaller   = "agentTop"    // the other end of that edge
)

// isPicture reports whether a node is only part of the drawing. What an agent's Tool node shows is
// in the form of the agent.
func isPicture(label string) bool {
	return label == "Note" || label == "Tool" || label == "Placeholder"
}

// Bounds of the agents below others. An agent below several is made for each of them.
const (
	maxSubagents     = 1000
	maxSubagentDepth = 20
)

// drawing is a graph of RAGFlow's editor.
type drawing struct {
	registry  *Registry
	nodes     []Value
	at        map[string]int
	edges     map[drawnEdge]bool
	exits     map[string]DrawnEdges // by the node that edges begin at, as targets
	targets   map[string][]Value    // what runs next
	sources   map[string][]Value    // by the node that edges lead to
	below     map[string]bool       // agents that only another agent calls
	subagents int
	problems  []error
}

type drawnEdge struct{ source, target, handle string }

func newDrawing(reg *Registry, graph Value) *drawing {
	d := &drawing{
		registry: reg, at: map[string]int{}, edges: map[drawnEdge]bool{}, exits: map[string]DrawnEdges{},
		targets: map[string][]Value{}, sources: map[string][]Value{}, below: map[string]bool{},
	}
	for i, n := range graph.Get("nodes").Elements() {
		id := n.Get("id").Str()
		if id == "" {
			d.problems = append(d.problems, fmt.Errorf("canvas: graph.nodes[%d] has no id", i))
			continue
		}
		if _, ok := d.at[id]; ok {
			d.fail(n, "id", "is the id of two nodes of the graph")
			continue
		}
		d.at[id] = len(d.nodes)
		d.nodes = append(d.nodes, n)
	}
	for _, e := range graph.Get("edges").Elements() {
		if e.Get("targetHandle").Str() == handleCaller {
			d.below[e.Get("target").Str()] = true
		}
	}
	for _, e := range graph.Get("edges").Elements() {
		d.addEdge(drawnEdge{e.Get("source").Str(), e.Get("target").Str(), e.Get("sourceHandle").Str()})
	}
	return d
}

func (d *drawing) fail(n Value, param, problem string) {
	d.problems = append(d.problems, &ParamError{
		Node: n.Get("id").Str(), Name: n.Get("data").Get("name").Str(), Kind: n.Get("data").Get("label").Str(),
		Param: param, Problem: problem,
	})
}

// addEdge adds an edge between components, once. One to no node is kept: Validate lists it.
func (d *drawing) addEdge(e drawnEdge) {
	i, ok := d.at[e.target]
	if d.edges[e] || e.handle == handleTool || ok && isPicture(d.nodes[i].Get("data").Get("label").Str()) {
		return
	}
	d.edges[e] = true
	if d.exits[e.source] == nil {
		d.exits[e.source] = DrawnEdges{}
	}
	d.exits[e.source][e.handle] = append(d.exits[e.source][e.handle], e.target)
	if e.handle != ErrorHandle && !d.below[e.target] {
		d.targets[e.source] = append(d.targets[e.source], String(e.target))
		d.sources[e.target] = append(d.sources[e.target], String(e.source))
	}
}

// components returns the components that the graph draws, in its order.
func (d *drawing) components() Value {
	b := NewObject(len(d.nodes))
	for _, n := range d.nodes {
		id, data := n.Get("id").Str(), n.Get("data")
		if isPicture(data.Get("label").Str()) || d.below[id] {
			continue
		}
		c := NewObject(4)
		c.Set("obj", Object("component_name", data.Get("label"), "params", d.params(n, nil)))
		c.Set("downstream", listOf(d.targets[id])).Set("upstream", listOf(d.sources[id]))
		if parent := n.Get("parentId"); parent.Truthy() {
			c.Set("parent_id", parent)
		}
		b.Set(id, c.Value())
	}
	return b.Value()
}

// params converts the form of a node. callers are the agents above it, if it is one below others.
func (d *drawing) params(n Value, callers []string) Value {
	id, form := n.Get("id").Str(), n.Get("data").Get("form")
	if form.Kind() != KindObject {
		form = Object()
	}
	exits := d.exits[id]
	if to := exits[ErrorHandle]; len(to) > 0 {
		form = form.With("exception_goto", Strings(to...))
	}
	if tools := d.subagentsOf(n, callers); len(tools) > 0 {
		form = form.With("tools", listOf(append(form.Get("tools").Slice(), tools...)))
	}
	spec, err := d.registry.Lookup(n.Get("data").Get("label").Str())
	if err != nil || spec.FromForm == nil {
		return form // identify refuses unknown components
	}
	return spec.FromForm(form, exits)
}

// subagentsOf returns the agents below one as its tools.
func (d *drawing) subagentsOf(n Value, callers []string) (tools []Value) {
	id := n.Get("id").Str()
	callers = append(callers, id)
	for _, to := range d.exits[id][handleSubagent] {
		if d.subagents > maxSubagents {
			return tools // reported
		}
		d.subagents++
		i, ok := d.at[to]
		problem := ""
		switch {
		case !ok:
			problem = "leads to " + quote(to) + ", which is no node of the graph"
		case slices.Contains(callers, to):
			problem = "leads back to the agent itself"
		case len(callers) == maxSubagentDepth:
			problem = fmt.Sprintf("is nested more than %d times", maxSubagentDepth)
		case d.subagents > maxSubagents:
			problem = fmt.Sprintf("is one of more than %d", maxSubagents)
		}
		if problem != "" {
			d.fail(n, "tools", "the edge to a sub-agent "+problem)
			continue
		}
		below := d.nodes[i]
		tools = append(tools, Object(
			"component_name", below.Get("data").Get("label"), "id", to, "name", below.Get("data").Get("name"),
			"params", d.params(below, callers),
		))
	}
	return tools
}
