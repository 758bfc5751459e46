package engine

import (
	"fmt"
	"slices"
	"strings"
)

// Severity says how bad a problem is.
type Severity string

// An error makes some run fail; a warning may be meant.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Problem is something in a canvas that a person should look at.
type Problem struct {
	Node     string // component id, "" for the document
	Name     string // display name
	Param    string // with a path for nested ones: conditions[0].to; "" for the node as a whole
	Text     string // what is wrong
	Severity Severity
}

// String is the problem on one line.
func (p Problem) String() string {
	where := "canvas"
	if p.Node != "" {
		where = p.Node
		if p.Name != "" && p.Name != p.Node {
			where += " (" + p.Name + ")"
		}
	}
	if p.Param != "" {
		where += ", " + p.Param
	}
	return fmt.Sprintf("%s: %s: %s", p.Severity, where, p.Text)
}

// Validate lists every problem of a document at once, also those Load stops at. A document without problems gives
// an empty list.
func Validate(reg *Registry, dsl []byte) []Problem {
	doc, err := ParseJSON(dsl)
	if err == nil {
		doc, err = unwrap(doc)
	}
	if err != nil {
		return []Problem{{Text: err.Error(), Severity: SeverityError}}
	}
	v := validator{reg: reg, doc: upgrade(doc)}
	v.components()
	v.graph()
	return v.problems
}

// Validate lists what is wrong with a canvas that loads.
func (c *Canvas) Validate() []Problem {
	v := validator{reg: c.registry, doc: c.doc}
	v.components()
	v.graph()
	return v.problems
}

type validator struct {
	reg      *Registry
	doc      Value
	nodes    []node
	index    map[string]int32
	problems []Problem
}

func (v *validator) add(n *node, param string, severity Severity, format string, args ...any) {
	p := Problem{Param: param, Text: fmt.Sprintf(format, args...), Severity: severity}
	if n != nil {
		p.Node, p.Name = n.id, n.name
	}
	v.problems = append(v.problems, p)
}

// components compiles every node by itself, so that one bad node does not hide the next.
func (v *validator) components() {
	components := v.doc.Get("components")
	names := displayNames(v.doc.Get("graph"))
	v.index = make(map[string]int32, components.Len())
	v.nodes = make([]node, components.Len())
	i := int32(0)
	for id, entry := range components.Fields() {
		n := &v.nodes[i]
		*n = node{index: i, id: id, name: names[id], entry: entry, parent: -1, item: -1, body: -1}
		v.index[id] = i
		i++
		v.compile(n)
	}
	if _, ok := v.index[startID]; !ok {
		if _, ok := v.index[pipelineID]; !ok {
			v.add(nil, "", SeverityError, `no component "begin": every canvas starts at a node with this id`)
		}
	}
}

func (v *validator) compile(n *node) {
	obj := n.entry.Get("obj")
	spec, err := v.reg.Lookup(obj.Get("component_name").Str())
	if err != nil {
		v.add(n, "component_name", SeverityError, "%v", err)
		return
	}
	n.spec, n.params = spec, obj.Get("params")
	if k := n.params.Kind(); k != KindObject && k != KindNull {
		v.add(n, "params", SeverityError, "is a %s; an object is needed", k)
	}
	problems := n.build(v.reg, true)
	if err := n.checkDownstream(); err != nil {
		problems = append(problems, err)
	}
	for i, err := range problems {
		if p, ok := err.(*ParamError); !ok {
			v.add(n, "", SeverityError, "%v", err)
		} else if !slices.ContainsFunc(problems[:i], func(e error) bool { return e.Error() == err.Error() }) {
			v.add(n, p.Param, SeverityError, "%s", strings.TrimSpace(p.Value+" "+p.Problem))
		}
	}
	if spec.Missing != "" {
		v.add(n, "", SeverityError, "%s does not run here: %s", spec.Name, spec.Missing)
	}
	if w, ok := n.comp.(Warner); ok {
		for _, text := range w.Warnings() {
			v.add(n, "", SeverityWarning, "%s", text)
		}
	}
}

// graph looks at edges, parents, references and what can be reached.
func (v *validator) graph() {
	for i := range v.nodes {
		n := &v.nodes[i]
		for _, d := range n.entry.Get("downstream").Elements() {
			v.edge(n, "downstream", d.Str())
		}
		if p := n.entry.Get("parent_id").Str(); p != "" {
			at, ok := v.index[p]
			switch {
			case !ok:
				v.add(n, "parent_id", SeverityError, "%q is no component of this canvas", p)
			case v.nodes[at].comp != nil && v.nodes[at].container == nil:
				v.add(n, "parent_id", SeverityWarning, "%q holds no other nodes", p)
			default:
				n.parent = at
			}
		}
		if b, ok := n.comp.(Brancher); ok {
			for _, id := range b.Targets() {
				v.edge(n, "to", id)
			}
		}
		for _, id := range gotoIDs(&n.common) {
			v.edge(n, "exception_goto", id)
		}
	}
	v.bodies()
	v.references()
	v.reachable()
}

func (v *validator) edge(n *node, param, to string) {
	at, ok := v.index[to]
	if !ok {
		v.add(n, param, SeverityError, "%q is no component of this canvas", to)
		return
	}
	if !slices.Contains(n.edges, at) {
		n.edges = append(n.edges, at)
	}
}

// bodies checks that every container has a start and every item a container.
func (v *validator) bodies() {
	for i := range v.nodes {
		n := &v.nodes[i]
		if n.isItem && n.parent < 0 {
			v.add(n, "parent_id", SeverityError, "%s stands outside an iteration or loop", n.spec.Name)
		}
		if n.parent >= 0 && n.isItem && v.nodes[n.parent].item < 0 {
			v.nodes[n.parent].item = n.index
		}
	}
	for i := range v.nodes {
		n := &v.nodes[i]
		if n.container == nil {
			continue
		}
		if n.item < 0 {
			v.add(n, "", SeverityError, "it has no start node inside, so its body never runs")
			continue
		}
		n.edges = append(n.edges, n.item)
	}
}

func (v *validator) references() {
	for i := range v.nodes {
		n := &v.nodes[i]
		seen := map[string]bool{}
		for _, r := range n.refs {
			if seen[r.Expr] {
				continue
			}
			seen[r.Expr] = true
			if r.Node != "" {
				v.nodeReference(n, r)
				continue
			}
			if !v.knowsVariable(r.Expr) {
				v.add(n, "", SeverityError, "{%s}: no such variable", r.Expr)
			}
		}
	}
}

// sysVariables are there in every run.
var sysVariables = []string{"query", "user_id", "conversation_turns", "files", "history", "date"}

// knowsVariable reports whether a global exists, or one that the expression is a path into. A text that only
// may be a reference counts as known.
func (v *validator) knowsVariable(expr string) bool {
	prefix, rest, _ := strings.Cut(expr, ".")
	root, _, _ := strings.Cut(rest, ".")
	globals := v.doc.Get("globals")
	if globals.find(expr) >= 0 || globals.find(prefix+"."+root) >= 0 {
		return true
	}
	switch prefix {
	case "sys":
		return slices.Contains(sysVariables, root)
	case "env":
		return v.doc.Get("variables").find(root) >= 0
	}
	return true
}

func (v *validator) nodeReference(n *node, r *Ref) {
	at, ok := v.index[r.Node]
	if !ok {
		if strings.Contains(r.Node, ":") || isReferenceID(r.Node) {
			v.add(n, "", SeverityError, "{%s}: no component %q in this canvas", r.Expr, r.Node)
		}
		return
	}
	target := &v.nodes[at]
	if target.spec == nil || len(target.spec.Outputs) == 0 || r.Output == errorOutput {
		return
	}
	if slices.ContainsFunc(target.spec.Outputs, func(f Field) bool { return f.Name == r.Output || f.Name == "*" }) {
		return
	}
	if target.params.Get("outputs").find(r.Output) >= 0 || strings.HasPrefix(r.Output, "_") {
		return
	}
	v.add(n, "", SeverityWarning, "{%s}: %s has no output %q", r.Expr, r.Node, r.Output)
}

// isReferenceID tells a reference from a text that merely holds an @, such as a mail address or a model id.
func isReferenceID(id string) bool { return strings.EqualFold(id, startID) }

// reachable names nodes that nothing leads to.
func (v *validator) reachable() {
	start, ok := v.index[startID]
	if !ok {
		if start, ok = v.index[pipelineID]; !ok {
			return
		}
	}
	c := Canvas{nodes: v.nodes}
	seen := c.reach([]int32{start}, -1, -1)
	for i, ok := range seen {
		if n := &v.nodes[i]; !ok && n.spec != nil {
			v.add(n, "", SeverityWarning, "nothing leads to it")
		}
	}
}
