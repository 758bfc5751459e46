package profile

import (
	"regexp"
	"slices"

	"github.com/easel-canvas/easel/engine"
)

// Graph holds the dependencies of the nodes of a canvas, by id.
type Graph map[string]Node

// Node is one node: the container around it, and the nodes before it that it may depend on.
type Node struct {
	Parent string   `json:"parent,omitempty"`
	Needs  []string `json:"needs,omitempty"`
}

func (g Graph) isParent(id string) bool {
	for _, n := range g {
		if n.Parent == id {
			return true
		}
	}
	return false
}

// reference matches the node of a reference such as {LLM:Answer@content}.
var reference = regexp.MustCompile(`([A-Za-z0-9_]+(?::[A-Za-z0-9_-]+)?)@`)

// GraphOf reads the graph of a canvas: a node may depend on those with an edge to it, and on those
// whose outputs its params name.
func GraphOf(canvas *engine.Canvas) Graph {
	components := canvas.Document().Get("components")
	g := Graph{}
	for id, c := range components.Fields() {
		n := g[id]
		n.Parent = c.Get("parent_id").Str()
		for _, up := range c.Get("upstream").Elements() {
			n.need(up.Str())
		}
		for _, m := range reference.FindAllStringSubmatch(c.Get("obj").Get("params").JSON(), -1) {
			if m[1] != id && !components.Get(m[1]).IsNull() {
				n.need(m[1])
			}
		}
		g[id] = n
		for _, down := range c.Get("downstream").Elements() {
			next := g[down.Str()]
			next.need(id)
			g[down.Str()] = next
		}
	}
	return g
}

func (n *Node) need(id string) {
	if !slices.Contains(n.Needs, id) {
		n.Needs = append(n.Needs, id)
	}
}
