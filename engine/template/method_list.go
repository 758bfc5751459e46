package template

import "slices"

// listMethods lists the methods of lists. Those that change the list return none.
var listMethods = [...]callable{
	{"append", 1, "object", changing(func(_ *render, items []value, a *args) []value {
		return append(items, a.at(0))
	})},
	{"clear", 0, "", changing(func(*render, []value, *args) []value { return nil })},
	{"copy", 0, "", func(r *render, v value, _ *args) value { return newList(collect(r, v)) }},
	{"count", 1, "value", methodItemCount},
	{"extend", 1, "iterable", changing(func(r *render, items []value, a *args) []value {
		return append(items, collect(r, a.at(0))...)
	})},
	{"index", 1, "value start stop", methodItemIndex},
	{"insert", 2, "index object", changing(func(r *render, items []value, a *args) []value {
		r.spend(len(items) / 8)
		i := a.int(r, 0, 0)
		if i < 0 {
			i += len(items)
		}
		return slices.Insert(items, min(max(i, 0), len(items)), a.at(1))
	})},
	{"pop", 0, "index", func(r *render, v value, a *args) value {
		l := v.(*list)
		i := fromEnd(a.int(r, 0, -1), l.size())
		if i < 0 {
			r.fail("pop finds no item at this place of %d items", l.size())
		}
		r.spend((l.size() - i) / 8)
		x := l.all()[i]
		l.items = slices.Delete(l.items, i, i+1)
		return x
	}},
	{"remove", 1, "value", changing(func(r *render, items []value, a *args) []value {
		i := slices.IndexFunc(items, func(x value) bool { return equal(r, x, a.at(0)) })
		if i < 0 {
			r.fail("remove does not find the item")
		}
		return slices.Delete(items, i, i+1)
	})},
	{"reverse", 0, "", changing(func(r *render, items []value, _ *args) []value {
		r.spend(len(items))
		slices.Reverse(items)
		return items
	})},
	{"sort", 0, "key reverse", changing(func(r *render, items []value, a *args) []value {
		if !isNone(a.at(0)) {
			r.fail(`sort takes no key here, use the filter "sort" with an attribute`)
		}
		return sorted(r, slices.Clone(items), func(x value) value { return x }, a.truth(1, false))
	})},
}

// changing makes a method that replaces the items of its list.
func changing(change func(r *render, items []value, a *args) []value) method {
	return func(r *render, v value, a *args) value {
		l := v.(*list)
		l.items = change(r, l.all(), a)
		return none{}
	}
}

// tupleMethods lists the methods of tuples and ranges.
var tupleMethods = [...]callable{
	{"count", 1, "value", methodItemCount},
	{"index", 1, "value start stop", methodItemIndex},
}

func methodItemCount(r *render, v value, a *args) value {
	n := int64(0)
	each(r, v, func(x value) {
		if equal(r, x, a.at(0)) {
			n++
		}
	})
	return n
}

func methodItemIndex(r *render, v value, a *args) value {
	items := collect(r, v)
	b := (&slice{a.at(1), a.at(2), nil}).bounds(r, len(items))
	for i := b.start; i < b.stop; i++ {
		if equal(r, items[i], a.at(0)) {
			return int64(i)
		}
	}
	r.fail("index does not find the item")
	return nil
}
