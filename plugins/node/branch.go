package node

import (
	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// Targets returns the nodes of all branches, and nil for a plugin without branches.
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

// targets returns the next nodes of a branch.
func (n *component) targets(branch string) []string {
	list := n.params.Get(branch)
	ids := make([]string, list.Len())
	for i := range ids {
		ids[i] = list.At(i).Str()
	}
	return ids
}

// branches describes the branches of a node for editors, one param for each.
func branches(m *contract.Manifest) []engine.Branch {
	var out []engine.Branch
	for _, name := range m.Params.Branches() {
		out = append(out, engine.Branch{Param: name})
	}
	return out
}
