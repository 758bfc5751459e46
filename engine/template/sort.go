package template

import (
	"cmp"
	"math"
)

// keyed is an item together with what it is sorted by.
type keyed struct{ key, item value }

// sorted sorts items by key, keeping the order of equal ones.
func (r *render) sorted(items []value, key func(value) value, reverse bool) []value {
	list := make([]keyed, len(items))
	for i, x := range items {
		list[i] = keyed{key(x), x}
	}
	r.sort(list, func(a, b value) bool {
		if reverse {
			a, b = b, a
		}
		return r.less(a, b)
	})
	for i, k := range list {
		items[i] = k.item
	}
	return items
}

// less orders for sorting: what is not a number comes before all numbers.
func (r *render) less(a, b value) bool {
	c, ok := r.order(a, b)
	if !ok {
		c = cmp.Compare(sortPlace(a), sortPlace(b))
	}
	return c < 0
}

func sortPlace(v value) int {
	if f, ok := v.(float64); ok && math.IsNaN(f) {
		return 0
	}
	return 1
}

// sort is a stable merge sort by key.
func (r *render) sort(list []keyed, less func(a, b value) bool) {
	r.spend(len(list))
	from, to := list, make([]keyed, len(list))
	for width := 1; width < len(list); width *= 2 {
		for start := 0; start < len(list); start += 2 * width {
			middle, end := min(start+width, len(list)), min(start+2*width, len(list))
			merge(to[start:start], from[start:middle], from[middle:end], less)
		}
		from, to = to, from
	}
	copy(list, from)
}

// merge appends two sorted lists to out, in order; equal items of a come first.
func merge(out, a, b []keyed, less func(a, b value) bool) {
	for len(a) > 0 && len(b) > 0 {
		if less(b[0].key, a[0].key) {
			out, b = append(out, b[0]), b[1:]
		} else {
			out, a = append(out, a[0]), a[1:]
		}
	}
	_ = append(append(out, a...), b...)
}

// sortedEntries gives the entries of an object in the order of less.
func (r *render) sortedEntries(d *dict, less func(a, b value) bool) []entry {
	list := make([]keyed, d.size())
	for i, e := range d.all() {
		list[i] = keyed{e.key, e.value}
	}
	r.sort(list, less)
	entries := make([]entry, len(list))
	for i, k := range list {
		entries[i] = entry{k.key, k.item}
	}
	return entries
}
