package patch

import (
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// Diff returns the patch that changes the document before to the document after.
func Diff(before, after engine.Value) []Change {
	var d differ
	d.compare(nil, before, after)
	return d.changes
}

type differ struct{ changes []Change }

// named is an object, or a list whose elements have ids, as names and values in order.
type named struct {
	names  []string
	values map[string]engine.Value
}

func (d *differ) compare(path []Step, before, after engine.Value) {
	if same(before, after) {
		return
	}
	old, okOld := namesOf(before)
	now, okNow := namesOf(after)
	if before.Kind() == after.Kind() && okOld && okNow && sameOrder(old, now) {
		d.members(path, old, now)
		return
	}
	d.changes = append(d.changes, Change{Path: path, Before: before, After: after, At: -1})
}

// members compares named values: removals from the last to the first, then changes, then additions
// in order, so that each position is valid when its change applies.
func (d *differ) members(path []Step, old, now named) {
	to := func(name string) []Step { return append(slices.Clip(path), Step{Name: name}) }
	for at, name := range slices.Backward(old.names) {
		if _, ok := now.values[name]; !ok {
			d.changes = append(d.changes, Change{Path: to(name), Before: old.values[name], Removes: true, At: at})
		}
	}
	for _, name := range old.names {
		if v, ok := now.values[name]; ok {
			d.compare(to(name), old.values[name], v)
		}
	}
	for at, name := range now.names {
		if _, ok := old.values[name]; !ok {
			d.changes = append(d.changes, Change{Path: to(name), After: now.values[name], Adds: true, At: at})
		}
	}
}

func namesOf(v engine.Value) (named, bool) {
	n := named{values: make(map[string]engine.Value, v.Len())}
	for i := range v.Len() {
		name := v.Key(i)
		if v.Kind() == engine.KindList {
			id, ok := v.At(i).Lookup("id")
			if !ok || id.Kind() != engine.KindString || strings.Trim(id.Str(), "0123456789") == "" {
				return n, false
			}
			name = id.Str()
		}
		if _, twice := n.values[name]; twice {
			return n, false
		}
		n.names = append(n.names, name)
		n.values[name] = v.At(i)
	}
	return n, v.Kind() == engine.KindObject || v.Len() > 0
}

// sameOrder reports whether the names that both have are in the same order.
func sameOrder(a, b named) bool {
	common := func(names []string, of named) []string {
		var list []string
		for _, name := range names {
			if _, ok := of.values[name]; ok {
				list = append(list, name)
			}
		}
		return list
	}
	return slices.Equal(common(a.names, b), common(b.names, a))
}
