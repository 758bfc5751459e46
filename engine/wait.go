package engine

import "slices"

// held is a node that waits for a source its texts refer to.
type held struct {
	node   int32
	source int32 // the first source that is still to come
	cyclic bool  // the node itself leads to a source, so what is possible depends on it
}

// nextBatch takes what can run now: first the nodes that waited, then the newly scheduled ones.
// When nothing else can run, the first waiting node is let go; sources that did not come read as
// empty.
func (r *run) nextBatch() []int32 {
	scheduled := r.next
	batch := r.batch[:0]
	stale := r.reached == nil
	waiting := r.held
	kept := 0
	for i, h := range waiting {
		if stale || h.cyclic || r.st.nodes[h.source].ran {
			h.source = r.missing(h.node)
		}
		if h.source < 0 {
			batch = append(batch, h.node)
			r.heldOut = append(r.heldOut, h.node)
			continue
		}
		if kept != i || waiting[kept].source != h.source {
			waiting[kept] = h
		}
		kept++
	}
	now := waiting[:kept]
	for _, n := range scheduled {
		if s := r.scope(n); s != nil { // a sibling scheduled it in the batch in which it opened: it starts anew after it has ended
			s.again = true
			r.marks[n] = 0
			r.leave(&r.c.nodes[n])
			continue
		}
		if s := r.missing(n); s >= 0 {
			h := held{node: n, source: s, cyclic: slices.Contains(r.c.nodes[n].cyclic, true)}
			now = append(now, h)
			r.heldIn = append(r.heldIn, h)
			r.marks[n] = markHeld
			continue
		}
		batch = append(batch, n)
	}
	if len(batch) == 0 && len(now) > 0 {
		batch = append(batch, now[0].node)
		r.heldOut = append(r.heldOut, now[0].node)
		now = now[1:]
		r.reached = nil
	}
	r.held, r.next, r.batch = now, scheduled[:0], batch
	for _, n := range batch {
		r.marks[n] = 0
	}
	return batch
}

// frontier is everything on its way into a batch.
func (r *run) frontier() []int32 {
	var f []int32
	for n, mark := range r.marks {
		if mark != 0 {
			f = append(f, int32(n))
		}
	}
	return f
}

// missing is the first source of a node that has not run and still may, or -1.
func (r *run) missing(n int32) int32 {
	node := &r.c.nodes[n]
	for i, s := range node.sources {
		if r.st.nodes[s].ran {
			continue
		}
		if r.scope(s) != nil {
			return s // an open container: its end is still to come
		}
		if node.cyclic[i] {
			if r.c.reach(r.frontier(), n, node.parent)[s] {
				return s
			}
			continue
		}
		if r.possible(node.parent)[s] {
			return s
		}
	}
	return -1
}

// possible is what may still run, as seen from a body. It is worked out once and kept while every
// batch takes all its ways, because then nothing that was possible stops being so without having
// run.
func (r *run) possible(body int32) []bool {
	if seen, ok := r.reached[body]; ok {
		return seen
	}
	if r.reached == nil {
		r.reached = map[int32][]bool{}
	}
	seen := r.c.reach(r.frontier(), -1, body)
	r.reached[body] = seen
	return seen
}
