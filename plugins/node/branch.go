package node

import (
	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// Targets returns the nodes of all branches, and nil for a plugin that has none.
func (n *component) Targets() []string {
	var names []string
	if n.manifest != nil {
		names = n.manifest.Params.Branches()
	}
	if len(names) == 0 {
		return nil
	}
	ids := []string{}
	for _, name := range names {
		ids = append(ids, n.targets(name)...)
	}
	return ids
}

// targets are the ids to which a branch leads.
func (n *component) targets(branch string) []string {
	list := n.params.Get(branch)
	ids := make([]string, list.Len())
	for i := range ids {
		ids[i] = list.At(i).Str()
	}
	return ids
}

// branches are the ways out of a node as editors draw them, one param for each.
func branches(m *contract.Manifest) []engine.Branch {
	var out []engine.Branch
	for _, name := range m.Params.Branches() {
		out = append(out, engine.Branch{Param: name})
	}
	return out
}
