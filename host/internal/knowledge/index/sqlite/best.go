package sqlite

import "container/heap"

// best keeps the chunks with the highest scores. Of equal ones it keeps those that came first.
type best struct {
	most int
	heap scoredHeap
}

type scored struct {
	location
	score float32
}

func newBest(most int) *best { return &best{most: most} }

// takes reports whether a chunk with this score would be kept.
func (b *best) takes(score float32) bool { return len(b.heap) < b.most || score > b.heap[0].score }

// least returns the score that a chunk must exceed to be kept; scores are positive.
func (b *best) least() float32 {
	if len(b.heap) < b.most {
		return 0
	}
	return b.heap[0].score
}

func (b *best) add(at location, score float32) {
	if !b.takes(score) {
		return
	}
	if len(b.heap) < b.most {
		heap.Push(&b.heap, scored{at, score})
		return
	}
	b.heap[0] = scored{at, score}
	heap.Fix(&b.heap, 0)
}

func (b *best) locations() []location {
	out := make([]location, len(b.heap))
	for i, s := range b.heap {
		out[i] = s.location
	}
	return out
}

// scoredHeap has the lowest score on top, and of equal ones the last.
type scoredHeap []scored

func (h scoredHeap) Len() int { return len(h) }

func (h scoredHeap) Less(i, j int) bool {
	if h[i].score != h[j].score {
		return h[i].score < h[j].score
	}
	return h[i].compare(h[j].location) > 0
}

func (h scoredHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h *scoredHeap) Push(x any) { *h = append(*h, x.(scored)) }

func (h *scoredHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
