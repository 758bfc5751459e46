package fidelity

// node is an ordered tree.
type node struct {
	kind, text string
	children   []*node
}

// postorder is a tree as a list: its nodes from the leaves up, the first leaf below each, and the
// roots of the subtrees that are compared on their own.
type postorder struct {
	nodes []*node
	first []int
	roots []int
}

func newPostorder(root *node) *postorder {
	p := &postorder{}
	p.add(root)
	last := map[int]int{} // node by the first leaf below it
	for i, f := range p.first {
		last[f] = i
	}
	for i, f := range p.first {
		if last[f] == i {
			p.roots = append(p.roots, i)
		}
	}
	return p
}

func (p *postorder) add(n *node) (first int) {
	first = -1
	for _, c := range n.children {
		if f := p.add(c); first < 0 {
			first = f
		}
	}
	if first < 0 {
		first = len(p.nodes)
	}
	p.nodes, p.first = append(p.nodes, n), append(p.first, first)
	return first
}

// similarity returns 1 minus the edit distance of two trees, as a part of the larger one's nodes.
// Source: K. Zhang and D. Shasha, Simple fast algorithms for the editing distance between trees.
func similarity(one, other *node) float64 {
	a, b := newPostorder(one), newPostorder(other)
	distance := matrix(len(a.nodes), len(b.nodes))
	for _, i := range a.roots {
		for _, k := range b.roots {
			compare(a, b, i, k, distance)
		}
	}
	most := max(len(a.nodes), len(b.nodes))
	return 1 - distance[len(a.nodes)-1][len(b.nodes)-1]/float64(most)
}

// compare fills in the distances of the subtrees of node i of a and node k of b.
func compare(a, b *postorder, i, k int, distance [][]float64) {
	firstA, firstB := a.first[i], b.first[k]
	forest := matrix(i-firstA+2, k-firstB+2)
	for x := range forest[1:] {
		forest[x+1][0] = forest[x][0] + 1
	}
	for y := range forest[0][1:] {
		forest[0][y+1] = forest[0][y] + 1
	}
	for x := firstA; x <= i; x++ {
		for y := firstB; y <= k; y++ {
			fx, fy := x-firstA+1, y-firstB+1
			least := min(forest[fx-1][fy], forest[fx][fy-1]) + 1
			if a.first[x] == firstA && b.first[y] == firstB {
				forest[fx][fy] = min(least, forest[fx-1][fy-1]+cost(a.nodes[x], b.nodes[y]))
				distance[x][y] = forest[fx][fy]
				continue
			}
			forest[fx][fy] = min(least, forest[a.first[x]-firstA][b.first[y]-firstB]+distance[x][y])
		}
	}
}

func matrix(rows, columns int) [][]float64 {
	out := make([][]float64, rows)
	for i := range out {
		out[i] = make([]float64, columns)
	}
	return out
}

// cost returns the cost of making a node another one: 1 for another kind, else by their texts.
func cost(a, b *node) float64 {
	if a.kind != b.kind {
		return 1
	}
	if a.text == b.text {
		return 0
	}
	one, other := []rune(a.text), []rune(b.text)
	return float64(edits(one, other)) / float64(max(len(one), len(other)))
}

// edits returns the number of characters to insert, delete or replace.
func edits(a, b []rune) int {
	row := make([]int, len(b)+1)
	for i := range row {
		row[i] = i
	}
	for i, r := range a {
		diagonal := row[0]
		row[0] = i + 1
		for k, s := range b {
			least := min(row[k], row[k+1]) + 1
			if r == s {
				least = min(least, diagonal)
			} else {
				least = min(least, diagonal+1)
			}
			diagonal, row[k+1] = row[k+1], least
		}
	}
	return row[len(b)]
}
