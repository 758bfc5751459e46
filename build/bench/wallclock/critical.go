package wallclock

import (
	"regexp"
	"time"

	"github.com/easel-canvas/easel/engine"
)

// made is one call of a model or a tool.
type made struct {
	node       string
	units      float64
	start, end time.Time
}

var reference = regexp.MustCompile(`([A-Za-z]+:[A-Za-z0-9_]+|begin)@`)

// before lists, by node of a canvas, the nodes that it depends on: those that lead to it or that it
// refers to, and the nodes that have to run in bodies.
func before(components engine.Value) map[string][]string {
	list := map[string][]string{}
	for id, c := range components.Fields() {
		for _, to := range c.Get("downstream").Elements() {
			list[to.Str()] = append(list[to.Str()], id)
		}
		params := c.Get("obj").Get("params")
		for _, m := range reference.FindAllStringSubmatch(params.JSON(), -1) {
			list[id] = append(list[id], m[1])
		}
		for _, way := range params.Get("conditions").Elements() {
			for _, to := range way.Get("to").Elements() {
				list[to.Str()] = append(list[to.Str()], id)
			}
		}
		for _, to := range params.Get("end_cpn_ids").Elements() {
			list[to.Str()] = append(list[to.Str()], id)
		}
		for _, way := range params.Get("category_description").Fields() {
			for _, to := range way.Get("to").Elements() {
				list[to.Str()] = append(list[to.Str()], id)
			}
		}
		if parent := c.Get("parent_id").Str(); parent != "" { // each turn follows the last one
			list[id], list[parent] = append(list[id], parent), append(list[parent], id)
		}
	}
	return list
}

// critical returns the longest chain of calls that depend on each other, in units: from the call
// that ended last back to the last one before it that its node depends on, and so on.
func critical(components engine.Value, calls []made) float64 {
	depends := before(components)
	var sum float64
	for at := lastOf(calls, func(*made) bool { return true }); at != nil; {
		sum += at.units
		needed := closure(depends, at.node)
		began := at.start
		at = lastOf(calls, func(c *made) bool { return needed[c.node] && !c.end.After(began) })
	}
	return sum
}

// closure returns a node and all its dependencies.
func closure(depends map[string][]string, node string) map[string]bool {
	all, queue := map[string]bool{node: true}, []string{node}
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		for _, id := range depends[next] {
			if !all[id] {
				all[id] = true
				queue = append(queue, id)
			}
		}
	}
	return all
}

// lastOf returns the call that ended last of the matching ones, or nil.
func lastOf(calls []made, fits func(*made) bool) *made {
	var last *made
	for i := range calls {
		if c := &calls[i]; fits(c) && (last == nil || c.end.After(last.end)) {
			last = c
		}
	}
	return last
}
