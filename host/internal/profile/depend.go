package profile

import "slices"

// link finds the dependencies of each execution.
func (r *run) link() {
	for _, e := range r.all {
		if outer := r.outer(e); outer != nil {
			outer.inner = append(outer.inner, e)
		}
	}
	for _, e := range r.all {
		e.deps = r.needs(e)
		if r.inBody(e) {
			continue
		}
		if outer := r.outer(e); outer != nil { // it begins a turn
			e.deps = append(r.needs(outer), r.turnBefore(e, outer)...)
			continue
		}
		if before := r.endedBefore(e, r.all); len(e.deps) == 0 && before != nil {
			e.deps = []*execution{before} // reached by an error handler, or another way without an edge
		}
	}
	for _, e := range r.all {
		e.afterStreams()
	}
}

// outer returns the execution of the container around an execution.
func (r *run) outer(e *execution) *execution {
	parent := r.graph[e.node].Parent
	if parent == "" {
		return nil
	}
	return r.around(parent, e.until)
}

// needs returns the executions of the nodes that a node needs: of each the last that started
// before.
func (r *run) needs(e *execution) []*execution {
	var deps []*execution
	for _, id := range r.graph[e.node].Needs {
		var last *execution
		for _, d := range r.byNode[id] {
			if d != e && d.from <= e.from+tolerance && !within(e, d) && (last == nil || d.from >= last.from) {
				last = d
			}
		}
		if last != nil {
			deps = append(deps, last)
		}
	}
	return deps
}

// within reports whether an execution is one inside of another.
func within(e, container *execution) bool { return slices.Contains(container.inner, e) }

// inBody reports whether an execution depends on one of the same body.
func (r *run) inBody(e *execution) bool {
	outer := r.outer(e)
	return outer != nil && slices.ContainsFunc(e.deps, func(d *execution) bool { return within(d, outer) })
}

// turnBefore returns the last execution that ended in the container before one that begins a turn.
func (r *run) turnBefore(e, outer *execution) []*execution {
	if before := r.endedBefore(e, outer.inner); before != nil {
		return []*execution{before}
	}
	return nil
}

// endedBefore returns the last execution that ended before another one started.
func (r *run) endedBefore(e *execution, among []*execution) *execution {
	var before []*execution
	for _, d := range among {
		if d != e && d.end <= e.from+tolerance && d.from < e.from {
			before = append(before, d)
		}
	}
	return r.last(before)
}

// afterStreams moves the start of an execution's work to the end of its dependencies: a reader of a
// stream starts at the first piece, but only waits for the last one.
func (e *execution) afterStreams() {
	for _, d := range e.deps {
		if d.end > e.begin {
			e.begin = min(d.end, e.end)
		}
	}
}
