package main

import (
	"cmp"
	"slices"

	"github.com/easel-canvas/easel/engine/stable"
)

// sheet arranges the members of one group, without their inner nodes: first columns, then the order
// in each, so that edges cross little, then heights, so that edges are straight where they can be.
// An edge over several columns holds a spot in each that it passes, or it would cross the nodes
// there.
type sheet struct {
	*plane
	columns  [][]int
	from, to map[int][]int // neighbours in the columns before and behind
}

// mostSpots bounds the cost of artificial canvases; edges beyond it are not routed.
const mostSpots = 20_000

// sheet puts the members into columns, each after all its predecessors. Edges that close a cycle
// are ignored.
func (p *plane) sheet(members []int) *sheet {
	s := &sheet{plane: p, from: map[int][]int{}, to: map[int][]int{}}
	in := map[int][]int{}
	for _, i := range p.forward(members, in) {
		column := 0
		for _, from := range in[i] {
			column = max(column, p.places[from].column+1)
		}
		s.put(i, column)
	}
	for _, column := range s.columns {
		stable.Sort(column, cmp.Compare) // document order breaks ties
	}
	for _, i := range members {
		for _, from := range in[i] {
			s.join(from, i)
		}
	}
	return s
}

func (s *sheet) put(i, column int) {
	s.places[i].column = column
	for len(s.columns) <= column {
		s.columns = append(s.columns, nil)
	}
	s.columns[column] = append(s.columns[column], i)
}

// join makes two nodes neighbours, by way of a spot in each column between them.
func (s *sheet) join(from, to int) {
	far := s.places[to].column
	for column := s.places[from].column + 1; column < far; column++ {
		if len(s.places)-s.nodes >= mostSpots {
			return
		}
		spot := len(s.places)
		s.places = append(s.places, place{h: wireRoom, parent: s.places[to].parent})
		s.put(spot, column)
		s.meet(from, spot)
		from = spot
	}
	s.meet(from, to)
}

func (s *sheet) meet(a, b int) {
	s.to[a] = append(s.to[a], b)
	s.from[b] = append(s.from[b], a)
}

// sort orders the columns by the middle of their neighbours, there and back a few times, and keeps
// the best order.
func (s *sheet) sort() {
	s.number()
	best, crossings := s.copy(), s.crossings()
	for pass := 0; pass < 8 && crossings > 0; pass++ {
		s.sweep(pass, s.sortColumn)
		if n := s.crossings(); n < crossings {
			best, crossings = s.copy(), n
		}
	}
	s.columns = best
	s.number()
}

// sweep visits the columns with the neighbours of their positions in the column before: from the
// first on in even passes, from the last on in odd ones.
func (s *sheet) sweep(pass int, visit func(column []int, neighbours map[int][]int)) {
	if pass%2 == 0 {
		for _, column := range s.columns {
			visit(column, s.from)
		}
		return
	}
	for _, column := range slices.Backward(s.columns) {
		visit(column, s.to)
	}
}

func (s *sheet) sortColumn(column []int, neighbours map[int][]int) {
	for at, i := range column {
		s.places[i].y = float64(at) // without a neighbour it stays where it is
		if list := neighbours[i]; len(list) > 0 {
			s.places[i].y = s.mean(list, func(n *place) float64 { return n.order })
		}
	}
	stable.Sort(column, func(a, b int) int { return cmp.Compare(s.places[a].y, s.places[b].y) })
	for at, i := range column {
		s.places[i].order = float64(at)
	}
}

func (s *sheet) number() {
	for _, column := range s.columns {
		for at, i := range column {
			s.places[i].order = float64(at)
		}
	}
}

func (s *sheet) copy() [][]int {
	columns := make([][]int, len(s.columns))
	for i, column := range s.columns {
		columns[i] = slices.Clone(column)
	}
	return columns
}

func (s *sheet) mean(list []int, of func(*place) float64) float64 {
	sum := 0.0
	for _, i := range list {
		sum += of(&s.places[i])
	}
	return sum / float64(len(list))
}

// crossings counts pairs of edges between neighbouring columns that cross.
func (s *sheet) crossings() int {
	count := 0
	for c, column := range s.columns[:max(len(s.columns)-1, 0)] {
		behind := newTally(len(s.columns[c+1]))
		seen := 0
		for _, i := range column {
			for _, to := range s.to[i] { // those that ended lower cross this one
				count += seen - behind.upTo(int(s.places[to].order))
			}
			for _, to := range s.to[i] {
				behind.add(int(s.places[to].order))
				seen++
			}
		}
	}
	return count
}

// tally counts marks up to a position: a Fenwick tree.
type tally []int

func newTally(n int) tally { return make(tally, n+1) }

func (t tally) add(at int) {
	for at++; at < len(t); at += at & -at {
		t[at]++
	}
}

// upTo counts the marks at positions 0 to at.
func (t tally) upTo(at int) (n int) {
	for at++; at > 0; at -= at & -at {
		n += t[at]
	}
	return n
}

// align sets the height of every position: as near as possible to the middle of its neighbours
// without leaving its order.
func (s *sheet) align() {
	for _, column := range s.columns {
		s.settle(column, nil)
	}
	for pass := range 6 {
		s.sweep(pass, s.settle)
	}
}

// block is a run of adjacent places that move together.
type block struct {
	first, last int
	offset      float64 // sum of the preferred positions of its members, each less its distance from the first
	y           float64
}

// settle moves the places of a column to the positions of their neighbours, minimising the sum of
// squared distances. Blocks that would overlap are joined until none do.
func (s *sheet) settle(column []int, neighbours map[int][]int) {
	var blocks []block
	depth := make([]float64, len(column)) // of each place below the first of its column, all packed
	for at, i := range column {
		n := &s.places[i]
		if at > 0 {
			above := &s.places[column[at-1]]
			depth[at] = depth[at-1] + above.h + gapBetween(above, n)
		}
		want := n.y
		switch list := neighbours[i]; {
		case neighbours == nil:
			want = -n.h / 2
		case len(list) > 0:
			want = s.mean(list, func(m *place) float64 { return m.y + m.h/2 }) - n.h/2
		}
		blocks = append(blocks, block{first: at, last: at, offset: want - depth[at], y: want - depth[at]})
		for len(blocks) > 1 {
			b, a := blocks[len(blocks)-1], &blocks[len(blocks)-2]
			if a.y <= b.y {
				break
			}
			a.last, a.offset = b.last, a.offset+b.offset
			a.y = a.offset / float64(a.last-a.first+1)
			blocks = blocks[:len(blocks)-1]
		}
	}
	for _, b := range blocks {
		for at := b.first; at <= b.last; at++ {
			s.places[column[at]].y = b.y + depth[at]
		}
	}
}

// gapBetween returns the room between two places of a column; edges that pass side by side need
// less.
func gapBetween(a, b *place) float64 {
	if a.id == "" && b.id == "" {
		return 0
	}
	return rowGap
}

// forward lists the members so that each follows its predecessors, and records these. Edges that
// close a cycle are skipped.
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
