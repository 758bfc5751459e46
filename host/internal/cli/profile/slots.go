package profile

import (
	"cmp"
	"slices"
)

// slots returns the most executions that worked at once.
func (r *run) slots() int {
	type edge struct {
		at float64
		by int
	}
	var edges []edge
	for _, e := range r.all {
		if e.container {
			continue
		}
		for _, a := range e.active() {
			if a.until-a.from > tolerance {
				edges = append(edges, edge{a.from + tolerance, 1}, edge{a.until, -1})
			}
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	now, most := 0, 1
	for _, e := range edges {
		now += e.by
		most = max(most, now)
	}
	return most
}

// simulate returns the duration of the run if each execution starts as soon as its dependencies
// have ended and a slot is free, in order of their start.
func (r *run) simulate(slots int) float64 {
	var waiting, running []*execution
	for _, e := range r.all {
		if !e.container {
			waiting = append(waiting, e)
		}
	}
	slices.SortStableFunc(waiting, func(a, b *execution) int { return cmp.Compare(a.begin, b.begin) })
	ends := map[*execution]float64{}
	now := 0.0
	for len(waiting)+len(running) > 0 {
		waiting = slices.DeleteFunc(waiting, func(e *execution) bool {
			if len(running) >= slots || !e.isReady(ends, now) {
				return false
			}
			ends[e] = now + e.work()
			running = append(running, e)
			return true
		})
		if len(running) == 0 {
			break // a cycle, which events with equal times can show
		}
		now = ends[running[0]]
		for _, e := range running {
			now = min(now, ends[e])
		}
		running = slices.DeleteFunc(running, func(e *execution) bool { return ends[e] <= now })
	}
	return now
}

// isReady reports whether all dependencies of an execution have ended in a simulation.
func (e *execution) isReady(ends map[*execution]float64, now float64) bool {
	return !slices.ContainsFunc(e.deps, func(d *execution) bool { return !d.isOver(ends, now, 0) })
}

// isOver reports whether an execution, or all inside of a container, has ended in a simulation.
func (e *execution) isOver(ends map[*execution]float64, now float64, depth int) bool {
	if !e.container {
		end, started := ends[e]
		return started && end <= now
	}
	if depth > maxDepth {
		return true
	}
	before := slices.Concat(e.inner, e.deps)
	return !slices.ContainsFunc(before, func(d *execution) bool { return !d.isOver(ends, now, depth+1) })
}

// maxDepth bounds the nesting of containers.
const maxDepth = 50
