package node

import (
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// branchParam begins the name of a param that says where a branch leads.
const branchParam = "goto_"

// brancher is the component of a plugin that chooses what runs next.
type brancher struct{ *component }

// Targets returns the nodes of all branches.
func (b brancher) Targets() []string {
	var ids []string
	for _, branch := range b.manifest.Branches {
		ids = append(ids, b.targets(branch.Name)...)
	}
	return ids
}

// targets are the ids to which a branch leads.
func (n *component) targets(branch string) []string {
	var ids []string
	for _, id := range n.params.Get(branchParam + branch).Elements() {
		ids = append(ids, id.Str())
	}
	return ids
}

// branch continues with what the plugin chose. The manifest may be one of an update whose branches
// the canvas does not know: those lead nowhere.
func (n *component) branch(call *engine.Call, next string) error {
	if next == "" || call.IsTool() {
		return nil
	}
	return call.Next(n.targets(next))
}

// branches are the ways out of a node as editors draw them, one param for each.
func branches(m *contract.Manifest) []engine.Branch {
	var out []engine.Branch
	for _, b := range m.Branches {
		out = append(out, engine.Branch{Param: branchParam + b.Name, Label: b.Label})
	}
	return out
}

// branchNames are the params of the branches.
func branchNames(m *contract.Manifest) []string {
	var names []string
	for _, b := range m.Branches {
		names = append(names, branchParam+b.Name)
	}
	return names
}

// branchSchemas adds the params of the branches to the properties of a form.
func branchSchemas(props *engine.ObjectBuilder, m *contract.Manifest) {
	for _, b := range m.Branches {
		props.Set(branchParam+b.Name, engine.Object("type", "array", "title", b.Label,
			"items", engine.Object("type", "string"), "description", "ids of the nodes that run next when the plugin chooses "+b.Name))
	}
}

// branchWarnings lists branches that lead nowhere, and targets of branches that the plugin lacks.
func (n *component) branchWarnings(m *contract.Manifest) (out []engine.Diagnostic) {
	if len(m.Branches) == 0 || n.isTool {
		return nil
	}
	for _, b := range m.Branches {
		if len(n.targets(b.Name)) == 0 {
			out = append(out, engine.Diagnostic{
				Code: engine.CodeUnknownTarget, Param: branchParam + b.Name,
				Message: "the branch \"" + b.Name + "\" leads nowhere; choosing it ends this path of the run",
			})
		}
	}
	known := branchNames(m)
	for name := range n.params.Fields() {
		if strings.HasPrefix(name, branchParam) && !slices.Contains(known, name) {
			out = append(out, engine.Diagnostic{
				Code: engine.CodeUnknownParam, Param: name,
				Message: "the plugin has no such branch (one of " + strings.Join(known, ", ") + ")",
			})
		}
	}
	return out
}
