package engine

import (
	"slices"
	"strings"
)

// orderCheck finds results that depend on the order in which nodes of an eager run end.
type orderCheck struct {
	*validator
	before [][]bool    // by node, made when needed: the nodes that run after it
	spans  []batchSpan // by node

	waiting [][]nodeIndex // by node: nodes that wait for it
}

func newOrderCheck(v *validator) *orderCheck {
	return &orderCheck{validator: v, before: make([][]bool, len(v.nodes)), spans: make([]batchSpan, len(v.nodes))}
}

// checkOrder reports pairs of nodes of an eager canvas of which one writes a value that the other
// reads or writes, and neither waits for the other; nodes that batches run once for each way that
// leads to them; and writes in bodies that run for several elements at once.
func (v *validator) checkOrder() {
	if v.settings.scheduling != Eager && !v.sideBySide {
		return
	}
	o := newOrderCheck(v)
	reached := v.fromStart()
	for i := range v.nodes {
		if n := &v.nodes[i]; reached[i] && n.comp != nil {
			o.checkBeside(n)
			if v.settings.scheduling == Eager {
				o.checkWrites(n, reached)
				o.checkJoin(n)
			}
		}
	}
}

// checkBeside reports a node that writes a variable in a body that runs for several elements at
// once: each reads the variable as it was before the first, and the last element wins.
func (o *orderCheck) checkBeside(n *node) {
	w, ok := n.comp.(Writer)
	if !ok || len(w.Writes()) == 0 {
		return
	}
	for p := n.parent; p != noNode; p = o.nodes[p].parent {
		around := &o.nodes[p]
		if around.container == nil || around.inline {
			continue
		}
		for _, ref := range w.Writes() {
			if i, inside := o.index[ref.Node]; inside && o.graph.Encloses(p, i) {
				continue // each element has its own
			}
			o.add(n, SeverityWarning, CodeOrderDependent, "",
				"it writes {%s} in the body of %q, whose elements run at once: none sees what another wrote, and "+
					"the last element decides; set concurrency to 1, or collect the values as an output",
				ref.Expr, around.id)
		}
	}
}

// checkWrites compares the writes of n with the reads and writes of other nodes.
func (o *orderCheck) checkWrites(n *node, reached []bool) {
	w, ok := n.comp.(Writer)
	if !ok {
		return
	}
	for _, ref := range w.Writes() {
		for i := range o.nodes {
			other := &o.nodes[i]
			// Models and messages read the question and its files without a reference.
			implied := strings.HasPrefix(ref.Expr, "sys.") && other.rank() > 0
			uses := reached[i] && other != n && (implied || other.touches(&ref))
			if !uses || o.ordered(n.index, other.index) {
				continue
			}
			o.add(n, SeverityWarning, CodeOrderDependent, "",
				"it writes {%s}, which %q uses, and neither waits for the other: what %q sees depends on which ends "+
					"first; lead from one to the other, or set scheduling to batch", ref.Expr, other.id, other.id)
		}
	}
}

// touches reports whether a node reads or writes the target of a reference, a part of it or a
// parent of it.
func (n *node) touches(ref *Ref) bool {
	same := func(x *Ref) bool {
		return x.Expr == ref.Expr || strings.HasPrefix(x.Expr, ref.Expr+".") || strings.HasPrefix(ref.Expr, x.Expr+".")
	}
	if slices.ContainsFunc(n.refs, same) {
		return true
	}
	w, ok := n.comp.(Writer)
	if !ok {
		return false
	}
	for _, own := range w.Writes() {
		if same(&own) {
			return true
		}
	}
	return false
}

// ordered reports whether one of two nodes always waits for the other.
func (o *orderCheck) ordered(a, b nodeIndex) bool {
	a, b = o.level(a, b), o.level(b, a)
	return a == b || o.after(a)[b] || o.after(b)[a]
}

// level returns n, or the container around it that is in the same body as other or as a container
// of other.
func (o *orderCheck) level(n, other nodeIndex) nodeIndex {
	for p := o.nodes[n].parent; p != noNode; p = o.nodes[p].parent {
		if p == other || o.graph.Encloses(p, other) {
			break
		}
		n = p
	}
	return n
}

// after returns the nodes that wait for n, or for one that does.
func (o *orderCheck) after(n nodeIndex) []bool {
	if o.before[n] != nil {
		return o.before[n]
	}
	if o.waiting == nil {
		o.waiting = make([][]nodeIndex, len(o.nodes))
		for i := range o.nodes {
			for _, source := range joinGraph(o.Canvas).Sources(nodeIndex(i)) {
				o.waiting[source] = append(o.waiting[source], nodeIndex(i))
			}
		}
	}
	seen, passed := make([]bool, len(o.nodes)), make([]bool, len(o.nodes))
	queue := []nodeIndex{n}
	for len(queue) > 0 {
		from := queue[0]
		queue = queue[1:]
		for _, to := range o.waiting[from] {
			seen[to] = true
			// A node that only refers to from delays others only if it runs.
			if !passed[to] && (o.isSure(to) || slices.Contains(o.waysInto(&o.nodes[to]), from)) {
				passed[to] = true
				queue = append(queue, to)
			}
		}
	}
	o.before[n] = seen
	return seen
}
