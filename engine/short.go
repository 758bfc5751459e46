package engine

import (
	"slices"
	"strings"
)

// shortNames are the names that texts of a body have for outputs of its item: {item} for
// {IterationItem:A@item}.
type shortNames struct {
	item    string            // id of the item; "" outside of bodies that have such names
	outputs map[string]string // of all items of the canvas, by short name
}

// nameItems tells the nodes of each body the short names of its item.
func (c *Canvas) nameItems() {
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
		if item := items[n.parent]; item != nil && n.parent >= 0 {
			n.short = shortNames{item.id, item.spec.Short}
		}
	}
}

// Text cuts a text of the component into literals and references. In the body of an Iteration the
// short names of its item are references too; elsewhere they are text, which Validate notes.
// Double braces of a template with statements stay its own.
func (s *Setup) Text(text string) Text {
	short := &s.owner.short
	if len(short.outputs) == 0 || strings.Contains(text, "{%") {
		return ParseText(text)
	}
	t := parseText(text, short.outputs)
	for i := range t.refs {
		r := &t.refs[i]
		output := short.outputs[r.Expr]
		switch {
		case output == "":
		case short.item != "":
			r.Node, r.Output = short.item, output
		default:
			s.owner.loose = append(s.owner.loose, r.Expr)
		}
	}
	if len(s.owner.loose) > 0 && short.item == "" {
		return ParseText(text)
	}
	return t
}

// Expr prepares a value of the component that may hold a literal, a reference or a text; see Text.
func (s *Setup) Expr(v Value) Expr { return parseExpr(v, s.Text) }

// checkShortNames warns of short names that are text because of where the node stands.
func (v *validator) checkShortNames(n *node) {
	slices.Sort(n.loose)
	for _, name := range slices.Compact(n.loose) {
		v.add(n, SeverityWarning, CodeBadReference, "",
			"{%s} stays text here: only nodes in the body of an Iteration have it; name the node too, as in {id@%s}",
			name, name)
	}
}
