package template

import (
	"slices"
	"strconv"
	"strings"
)

func filterFirst(r *render, v value, _ *args) value {
	if x, ok := iterate(r, v)(); ok {
		return x
	}
	return undefinedf("there is no first item")
}

func filterLast(r *render, v value, _ *args) value {
	if _, ok := v.(*generator); ok {
		r.fail("a generator has no last item, make it a list")
	}
	if x := pick(collect(r, v), -1); x != nil {
		return x
	}
	return undefinedf("there is no last item")
}

func filterReverse(r *render, v value, _ *args) value {
	if _, ok := asText(v); ok {
		return (&slice{nil, nil, int64(-1)}).of(r, v)
	}
	items := collect(r, v)
	slices.Reverse(items)
	return &generator{items: items}
}

func filterJoin(r *render, v value, a *args) value {
	key, items := getter(r, a.at(1), nil), collect(r, v)
	for i, x := range items {
		items[i] = key(x)
	}
	return joined(r, a.or(0, ""), items)
}

func filterItems(r *render, v value, _ *args) value {
	return &generator{start: func() []value {
		d, ok := v.(*dict)
		if !ok && !isUndefined(v) {
			r.fail("items needs an object, not %s", describe(r, v))
		}
		if !ok {
			return nil
		}
		return d.view(itemsView).items
	}}
}

func filterBatch(r *render, v value, a *args) value {
	n, fill := a.int(r, 0, 1), a.at(1)
	return &generator{start: func() (rows []value) {
		for items := collect(r, v); len(items) > 0; {
			k := min(max(n, 1), len(items))
			row := items[:k:k]
			items = items[k:]
			if !isNone(fill) {
				row = append(row, repeated(r, []value{fill}, n-k)...)
			}
			rows = append(rows, newList(row))
		}
		return rows
	}}
}

func filterSlice(r *render, v value, a *args) value {
	n, fill := a.int(r, 0, 1), a.at(1)
	items := collect(r, v)
	if n <= 0 {
		r.fail("slice needs at least one column")
	}
	return &generator{start: func() (columns []value) {
		size, longer := len(items)/n, len(items)%n
		for i := range n {
			r.spend(1)
			column := slices.Clone(items[i*size+min(i, longer) : (i+1)*size+min(i+1, longer)])
			if !isNone(fill) && i >= longer {
				column = append(column, fill)
			}
			columns = append(columns, newList(column))
		}
		return columns
	}}
}

// getter returns a function that reads an attribute: a name, a dotted path of names and indexes, or
// an index. A missing value is replaced by standard unless that is nil. Without an attribute the
// function returns its argument.
func getter(r *render, attribute, standard value) func(value) value {
	if isNone(attribute) {
		return func(v value) value { return v }
	}
	parts := []value{attribute}
	if s, ok := asText(attribute); ok {
		parts = parts[:0]
		for name := range strings.SplitSeq(s, ".") {
			parts = append(parts, pathKey(name))
		}
	}
	return func(v value) value {
		for _, part := range parts {
			r.spend(1)
			v = item(r, v, part)
			if isUndefined(v) && standard != nil {
				v = standard
			}
		}
		return v
	}
}

// pathKey returns a part of a path as an index, if it is a number, or a name.
func pathKey(name string) value {
	if n, err := strconv.ParseInt(name, 10, 64); err == nil && n >= 0 {
		return n
	}
	return name
}

func filterMap(r *render, v value, a *args) value {
	a = a.copy()
	name := a.shift()
	var attribute, standard value
	if name == nil {
		attribute, standard = a.take("attribute"), a.take("default")
	}
	return lazily(r, v, func(x value) (value, bool) {
		if name != nil {
			return named(r, r.tables.filters, "filter", name).apply(r, x, a.copy()), true
		}
		if attribute == nil || len(a.names) > 0 {
			r.fail("map needs the name of a filter, or attribute=...")
		}
		return getter(r, attribute, standard)(x), true
	})
}

// named returns the filter or test called name.
func named(r *render, table []callable, what string, name value) *callable {
	s, ok := asText(name)
	if !ok {
		r.fail("expected the name of a %s, got %s", what, describe(r, name))
	}
	c := findCallable(table, s)
	if c == nil {
		r.fail("unknown %s %q", what, s)
	}
	return c
}

// selector makes a filter that keeps the items for which a test returns keep. Without a test, the
// items themselves are the conditions. With byAttribute, the test applies to an attribute of the
// items.
func selector(byAttribute, keep bool) method {
	return func(r *render, v value, a *args) value {
		a = a.copy()
		attribute := value(nil)
		if byAttribute {
			attribute = a.shift()
		}
		test := a.shift()
		return lazily(r, v, func(x value) (value, bool) {
			if byAttribute && isNone(attribute) {
				r.fail("selectattr and rejectattr need the name of an attribute")
			}
			subject := getter(r, attribute, nil)(x)
			if test != nil {
				subject = named(r, r.tables.tests, "test", test).apply(r, subject, a.copy())
			}
			return x, truth(subject) == keep
		})
	}
}

// sortKey returns a function that makes sort keys: strings in lower case unless caseSensitive.
func sortKey(r *render, attribute value, caseSensitive bool) func(value) value {
	get := getter(r, attribute, nil)
	return func(v value) value {
		v = get(v)
		if s, ok := asText(v); ok && !caseSensitive {
			r.walk(s)
			return lower(s)
		}
		return v
	}
}

func filterGroupby(r *render, v value, a *args) value {
	get := getter(r, a.at(0), a.at(1))
	if isNone(a.at(0)) {
		r.fail("groupby needs the name of an attribute")
	}
	key := sortKey(r, nil, a.truth(2, false))
	by := func(x value) value { return key(get(x)) }
	var groups []value
	var group *list
	var last value
	for _, x := range sorted(r, collect(r, v), by, false) {
		k := by(x)
		if group == nil || !equal(r, k, last) {
			group, last = newList(nil), k
			pair := newTuple(get(x), group)
			pair.names = []string{"grouper", "list"}
			groups = append(groups, pair)
		}
		group.items = append(group.items, x)
	}
	return newList(groups)
}

func filterDictsort(r *render, v value, a *args) value {
	d, ok := v.(*dict)
	if !ok {
		r.needDefined(v)
		r.fail("dictsort needs an object, not %s", describe(r, v))
	}
	by := a.text(r, 1, "key")
	index := map[string]value{"key": int64(0), "value": int64(1)}[by]
	if index == nil {
		r.fail(`dictsort sorts by "key" or "value", not %q`, by)
	}
	key := sortKey(r, index, a.truth(0, false))
	return newList(sorted(r, d.view(itemsView).items, key, a.truth(2, false)))
}

func filterSort(r *render, v value, a *args) value {
	var keys []func(value) value
	if names, ok := asText(a.at(2)); ok {
		for name := range strings.SplitSeq(names, ",") {
			keys = append(keys, sortKey(r, name, a.truth(1, false)))
		}
	} else {
		keys = append(keys, sortKey(r, a.at(2), a.truth(1, false)))
	}
	// A single key is a tuple too: equal elements, such as none and none, then need no order.
	all := func(v value) value {
		t := newTuple()
		for _, key := range keys {
			t.items = append(t.items, key(v))
		}
		return t
	}
	return newList(sorted(r, collect(r, v), all, a.truth(0, false)))
}

// extreme makes a filter that returns the first of the smallest or largest items.
func extreme(sign int) method {
	return func(r *render, v value, a *args) value {
		key := sortKey(r, a.at(1), a.truth(0, false))
		var best, bestKey value
		each(r, v, func(x value) {
			k := key(x)
			if best != nil {
				if c, ok := order(r, k, bestKey); !ok || c != sign {
					return
				}
			}
			best, bestKey = x, k
		})
		if best == nil {
			return undefinedf("there is no item to choose from")
		}
		return best
	}
}

func filterUnique(r *render, v value, a *args) value {
	key := sortKey(r, a.at(1), a.truth(0, false))
	iterate(r, v) // fails for values without elements
	seen := map[value]bool{}
	return lazily(r, v, func(x value) (value, bool) {
		k := hash(r, key(x))
		fresh := !seen[k]
		seen[k] = true
		return x, fresh
	})
}
