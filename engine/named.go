package engine

// NamedIn lists the objects that the params of nodes and their tools name, in order. It leaves out
// those that only a run finds out, and switched-off nodes.
func NamedIn(c *Canvas) []Named {
	var list []Named
	for i := range c.nodes {
		if n := &c.nodes[i]; !n.off {
			list = n.appendNamed(list, n.id)
		}
	}
	return list
}

func (n *node) appendNamed(list []Named, id string) []Named {
	if namer, ok := n.comp.(Namer); ok {
		for _, name := range namer.Names() {
			name.Node = id
			list = append(list, name)
		}
	}
	for _, tool := range n.tools {
		list = tool.appendNamed(list, id)
	}
	return list
}

// AppendNames adds the values that are names and not references.
func AppendNames(list []Named, of Named, values []Expr) []Named {
	for i := range values {
		v := &values[i]
		bare := v.ref.Node == "" && v.ref.slot == 0 // not a reference without braces either
		if text := v.Literal.Str(); text != "" && len(v.Refs()) == 0 && bare {
			of.Name = text
			list = append(list, of)
		}
	}
	return list
}
