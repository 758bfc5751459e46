package node

import (
	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// Choices returns the nodes of each branch, and nil for a plugin without branches.
func (n *component) Choices() (choices [][]string) {
	if n.manifest == nil {
		return nil
	}
	for _, name := range n.manifest.Params.Branches() {
		choices = append(choices, n.targets(name))
	}
	return choices
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
