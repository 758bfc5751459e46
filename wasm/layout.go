package main

import (
	"math"

	"github.com/easel-canvas/easel/engine"
)

// Default sizes of a drawn node that was not measured, and the room around it, in pixels of the
// page.
const (
	nodeWidth, nodeHeight = 200, 80
	columnGap, rowGap     = 80, 40
	groupPad, groupHead   = 40, 60
	wireRoom              = 30 // height of a row that an edge passes through between nodes
)

// place is a node on the plane, relative to the group around it; or, without an id, the spot where
// an edge passes a column between its ends.
type place struct {
	id     string
	x, y   float64
	w, h   float64
	down   []int
	parent int // index, or -1
	group  bool
	column int
	order  float64 // its preferred position in its column
}

// arrange sets the position of every node: columns from left to right along the edges, back edges
// left out; groups are as large as their bodies, which are arranged inside them. sizes are the
// sizes of drawn nodes, node id -> [width, height]. Equal canvases get equal positions.
func arrange(components, sizes engine.Value) engine.Value {
	p := plane{index: make(map[string]int, components.Len())}
	for id := range components.Fields() {
		n := place{id: id, w: nodeWidth, h: nodeHeight, parent: -1}
		if size := sizes.Get(id); size.Len() == 2 {
			n.w, n.h = length(size, 0, n.w), length(size, 1, n.h)
		}
		p.index[id] = len(p.places)
		p.places = append(p.places, n)
	}
	p.link(components)
	p.group(-1, 0, 0)
	nodes := engine.NewObject(p.nodes)
	for i := range p.places[:p.nodes] {
		n := &p.places[i]
		b := engine.NewObject(4).Set("x", pixels(n.x)).Set("y", pixels(n.y))
		if n.group {
			b.Set("width", pixels(n.w)).Set("height", pixels(n.h))
		}
		nodes.Set(n.id, b.Value())
	}
	return engine.Object("nodes", nodes.Value())
}

// length returns one dimension of an untrusted size; an impossible one counts as not measured.
func length(size engine.Value, at int, otherwise float64) float64 {
	if f, ok := size.At(at).Float(); ok && f > 0 && f < 1e5 {
		return f
	}
	return otherwise
}

func pixels(f float64) engine.Value { return engine.Int(int64(math.Round(f))) }

// plane is the drawing that is arranged. The places of nodes come first, in document order.
type plane struct {
	places []place
	index  map[string]int
	nodes  int
	met    []int // the last predecessor of a node, +1; so that a duplicate edge counts once
}

// link resolves edges and parents; those that lead nowhere are left out, and so is a parent inside
// its own group.
func (p *plane) link(components engine.Value) {
	p.nodes = len(p.places)
	p.met = make([]int, p.nodes)
	for id, entry := range components.Fields() {
		from := p.index[id]
		p.lead(from, entry.Get("downstream"))
		p.targets(from, entry.Get("obj").Get("params"), engine.MaxDepth)
		if i, ok := p.index[entry.Get("parent_id").Str()]; ok {
			p.places[from].parent = i
			p.places[i].group = true
		}
	}
	for i := range p.places {
		for steps, at := 0, p.places[i].parent; at >= 0; at = p.places[at].parent {
			if steps++; steps > len(p.places) {
				p.places[i].parent = -1
				break
			}
		}
	}
}

// targets adds the edges in the params of a branching node or of an error handler, which files
// often have nowhere else.
func (p *plane) targets(from int, v engine.Value, depth int) {
	if depth == 0 {
		return
	}
	for name, value := range v.Fields() {
		switch name {
		case "to", "end_cpn_ids", "exception_goto":
			p.lead(from, value)
		default:
			p.targets(from, value, depth-1)
		}
	}
	for _, value := range v.Elements() {
		p.targets(from, value, depth-1)
	}
}

// lead adds edges to the named nodes, each once.
func (p *plane) lead(from int, names engine.Value) {
	if names.Kind() == engine.KindString {
		names = engine.List(names)
	}
	for _, name := range names.Elements() {
		if to, ok := p.index[name.Str()]; ok && p.met[to] != from+1 {
			p.met[to] = from + 1
			p.places[from].down = append(p.places[from].down, to)
		}
	}
}

// group places the members of a group (-1 is the whole canvas), inner groups first, with the given
// corner, and returns their total size.
func (p *plane) group(group int, left, top float64) (width, height float64) {
	var members []int
	for i := range p.places[:p.nodes] {
		if p.places[i].parent != group {
			continue
		}
		members = append(members, i)
		if p.places[i].group {
			w, h := p.group(i, groupPad, groupHead)
			p.places[i].w, p.places[i].h = w+2*groupPad, h+groupPad+groupHead
		}
	}
	s := p.sheet(members)
	s.sort()
	s.align()
	x := 0.0
	highest, lowest := math.Inf(1), math.Inf(-1)
	for _, column := range s.columns {
		wide := 0.0
		for _, i := range column {
			n := &p.places[i]
			n.x = left + x
			wide = max(wide, n.w)
			if i < p.nodes {
				highest, lowest = min(highest, n.y), max(lowest, n.y+n.h)
			}
		}
		x += wide + columnGap
	}
	for _, i := range members {
		p.places[i].y += top - highest
	}
	return max(x-columnGap, 0), max(lowest-highest, 0)
}
