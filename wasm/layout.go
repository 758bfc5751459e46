package main

import (
	"cmp"
	"slices"

	"github.com/easel-canvas/easel/engine"
)

// Sizes of a drawn node and the room around it, in pixels of the page.
const (
	nodeWidth, nodeHeight = 200, 80
	columnGap, rowGap     = 80, 80
	groupPad, groupHead   = 40, 60
)

// place is a node on the plane, relative to the group around it.
type place struct {
	id     string
	x, y   int
	w, h   int
	down   []int
	parent int // index, or -1
	column int
	group  bool
}

// arrange gives every node a place: columns from left to right along the edges, back edges left out; groups are as
// large as their bodies, which are arranged inside them. Equal canvases get equal places.
func arrange(components engine.Value) engine.Value {
	p := plane{index: make(map[string]int, components.Len())}
	for id := range components.Fields() {
		p.index[id] = len(p.places)
		p.places = append(p.places, place{id: id, w: nodeWidth, h: nodeHeight, parent: -1})
	}
	p.link(components)
	p.arrange(-1, 0)
	nodes := engine.NewObject(len(p.places))
	for i := range p.places {
		n := &p.places[i]
		b := engine.NewObject(4).Set("x", engine.Int(int64(n.x))).Set("y", engine.Int(int64(n.y)))
		if n.group {
			b.Set("width", engine.Int(int64(n.w))).Set("height", engine.Int(int64(n.h)))
		}
		nodes.Set(n.id, b.Value())
	}
	return engine.Object("nodes", nodes.Value())
}

type plane struct {
	places []place
	index  map[string]int
}

// link resolves edges and parents; what leads nowhere is left out, and so is a parent inside its own group.
func (p *plane) link(components engine.Value) {
	for id, entry := range components.Fields() {
		n := &p.places[p.index[id]]
		for _, to := range entry.Get("downstream").Elements() {
			if i, ok := p.index[to.Str()]; ok {
				n.down = append(n.down, i)
			}
		}
		if i, ok := p.index[entry.Get("parent_id").Str()]; ok {
			n.parent = i
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

// arrange places the members of a group, inner groups first, and gives the size of the whole.
func (p *plane) arrange(group, depth int) (width, height int) {
	var members []int
	for i := range p.places {
		if p.places[i].parent != group {
			continue
		}
		members = append(members, i)
		if p.places[i].group {
			w, h := p.arrange(i, depth+1)
			p.places[i].w, p.places[i].h = w+2*groupPad, h+groupPad+groupHead
		}
	}
	columns := p.columns(members)
	for _, column := range columns {
		height = max(height, p.heightOf(column))
	}
	left, top := 0, 0
	if depth > 0 {
		left, top = groupPad, groupHead
	}
	x := left
	for _, column := range columns {
		wide, y := 0, top+(height-p.heightOf(column))/2
		for _, i := range column {
			n := &p.places[i]
			n.x, n.y = x, y
			y += n.h + rowGap
			wide = max(wide, n.w)
		}
		x += wide + columnGap
	}
	return max(x-columnGap-left, 0), height
}

func (p *plane) heightOf(column []int) int {
	h := -rowGap
	for _, i := range column {
		h += p.places[i].h + rowGap
	}
	return max(h, 0)
}

// columns sorts members by the longest way to them, and within a column by where they are reached from.
func (p *plane) columns(members []int) [][]int {
	in := make(map[int][]int, len(members)) // who leads to a member, back edges left out
	order := p.forward(members, in)
	var columns [][]int
	for _, i := range order {
		column := 0
		for _, from := range in[i] {
			column = max(column, p.places[from].column+1)
		}
		p.places[i].column = column
		for len(columns) <= column {
			columns = append(columns, nil)
		}
		columns[column] = append(columns[column], i)
	}
	row := map[int]float64{}
	for _, column := range columns {
		slices.Sort(column) // document order decides where nothing else does
		for _, i := range column {
			sum := 0.0
			for _, from := range in[i] {
				sum += row[from]
			}
			row[i] = sum / float64(max(len(in[i]), 1))
		}
		slices.SortStableFunc(column, func(a, b int) int { return cmp.Compare(row[a], row[b]) })
		for at, i := range column {
			row[i] = float64(at) - float64(len(column)-1)/2
		}
	}
	return columns
}

// forward lists the members so that each stands behind those that lead to it, and notes these. Edges that close a
// cycle are passed over.
func (p *plane) forward(members []int, in map[int][]int) []int {
	const entered, left = 1, 2
	mark := map[int]int{}
	var order []int
	type step struct{ node, edge int }
	for _, root := range members {
		if mark[root] != 0 {
			continue
		}
		stack := []step{{root, 0}}
		mark[root] = entered
		for len(stack) > 0 {
			s := &stack[len(stack)-1]
			n := &p.places[s.node]
			if s.edge == len(n.down) {
				mark[s.node] = left
				order = append(order, s.node)
				stack = stack[:len(stack)-1]
				continue
			}
			to := n.down[s.edge]
			s.edge++
			if p.places[to].parent != n.parent || mark[to] == entered {
				continue
			}
			in[to] = append(in[to], s.node)
			if mark[to] == 0 {
				mark[to] = entered
				stack = append(stack, step{to, 0})
			}
		}
	}
	slices.Reverse(order)
	return order
}
