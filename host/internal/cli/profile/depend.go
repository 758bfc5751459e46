package profile

import (
	"slices"
	"strconv"
	"strings"
)

// link finds the dependencies of each execution.
func (r *run) link() {
	for _, e := range r.all {
		if e.outer = r.containerOf(e); e.outer != nil {
			e.outer.takeIn(e)
		}
	}
	for _, e := range r.all {
		e.deps = r.needs(e)
		if e.outer != nil && slices.ContainsFunc(e.deps, func(d *execution) bool { return d.outer == e.outer }) {
			continue
		}
		if e.outer != nil { // it begins a turn
			e.deps = append(r.needs(e.outer), r.turnBefore(e)...)
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

// containerOf returns the execution of the container around an execution. If its body runs for
// several elements at once, the path of the container lacks the last index.
func (r *run) containerOf(e *execution) *execution {
	parent := r.graph[e.node].Parent
	if parent == "" {
		return nil
	}
	outer := r.around(parent, e.path, e.until)
	if n := len(e.items); outer == nil && n > 0 {
		outer = r.around(parent, strings.TrimSuffix(e.path, strconv.Itoa(e.items[n-1])+"/"), e.until)
	}
	return outer
}

// takeIn adds an execution to the container around it.
func (e *execution) takeIn(inner *execution) {
	e.inner = append(e.inner, inner)
	if e.ends == nil {
		e.ends = map[string]float64{}
	}
	e.ends[inner.path] = max(e.ends[inner.path], inner.end)
}

// needs returns the executions of the nodes that a node needs: of each the last that started
// before, in the same elements.
func (r *run) needs(e *execution) []*execution {
	var deps []*execution
	for _, id := range r.graph[e.node].Needs {
		var last *execution
		for _, d := range r.byNode[id] {
			same := strings.HasPrefix(e.path, d.path) || strings.HasPrefix(d.path, e.path)
			if d != e && same && d.from <= e.from+tolerance && d.outer != e && (last == nil || d.from >= last.from) {
				last = d
			}
		}
		if last != nil {
			deps = append(deps, last)
		}
	}
	return deps
}

// turnBefore returns the execution that ended last in the container before one that begins a turn.
// Elements that run at once wait for none but those that were done.
func (r *run) turnBefore(e *execution) []*execution {
	var done []*execution
	for _, d := range e.outer.inner {
		if d.path == e.path || e.outer.ends[d.path] <= e.from+tolerance {
			done = append(done, d)
		}
	}
	if before := r.endedBefore(e, done); before != nil {
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
