package template

import (
	"slices"
	"strings"
)

func filterLength(r *render, v value, _ *args) value { return int64(r.len(v)) }

func filterList(r *render, v value, _ *args) value { return newList(r.collect(v)) }

func filterFirst(r *render, v value, _ *args) value {
	if x, ok := r.iterate(v)(); ok {
		return x
	}
	return &undefined{"there is no first item"}
}

func filterLast(r *render, v value, _ *args) value {
	if _, ok := v.(*generator); ok {
		r.fail("a generator has no last item, make it a list")
	}
	items := r.collect(v)
	if len(items) == 0 {
		return &undefined{"there is no last item"}
	}
	return items[len(items)-1]
}

func filterReverse(r *render, v value, _ *args) value {
	if _, ok := asText(v); ok {
		return r.slice(v, nil, nil, int64(-1))
	}
	items := r.collect(v)
	slices.Reverse(items)
	return &generator{sequence(items)}
}

func filterJoin(r *render, v value, a *args) value {
	separator := a.at(0)
	if separator == nil {
		separator = ""
	}
	items := r.collect(v)
	if key := r.getter(a.at(1), nil); key != nil {
		for i, x := range items {
			items[i] = key(x)
		}
	}
	escape := false
	if r.autoescape {
		for _, x := range append(items[:len(items):len(items)], separator) {
			_, isSafe := x.(safe)
			escape = escape || isSafe
		}
	}
	text := r.str
	if escape {
		text = func(v value) string { return string(r.escape(v)) }
	}
	s := r.joined(text(separator), items, text)
	if escape {
		return safe(s)
	}
	return s
}

// joined is strings.Join within the limits.
func (r *render) joined(separator string, items []value, text func(value) string) string {
	var buf []byte
	for i, x := range items {
		if i > 0 {
			buf = append(buf, separator...)
		}
		buf = append(buf, text(x)...)
		r.spend(len(separator) / 64)
		if len(buf) > r.limits.Output {
			r.reserve(len(buf))
		}
	}
	return r.made(string(buf))
}

func filterBatch(r *render, v value, a *args) value {
	n, fill := a.int(r, 0, 1), a.at(1)
	var next func() (value, bool)
	return &generator{func() (value, bool) {
		if next == nil {
			next = r.iterate(v)
		}
		var row []value
		for {
			x, ok := next()
			if ok {
				row = append(row, x)
			}
			if !ok && len(row) == 0 {
				return nil, false
			}
			if !ok && !isNone(fill) {
				row = append(row, r.copies(fill, n-len(row))...)
			}
			if !ok || len(row) >= n {
				return newList(row), true
			}
		}
	}}
}

// copies is a slice with v n times.
func (r *render) copies(v value, n int) []value {
	if n <= 0 {
		return nil
	}
	return r.repeated([]value{v}, n)
}

func filterSlice(r *render, v value, a *args) value {
	n, fill := a.int(r, 0, 1), a.at(1)
	items := r.collect(v)
	if n <= 0 {
		r.fail("slice needs at least one column")
	}
	i := 0
	return &generator{func() (value, bool) {
		if i >= n {
			return nil, false
		}
		r.spend(1)
		size, longer := len(items)/n, len(items)%n
		start := i*size + min(i, longer)
		end := start + size
		if i < longer {
			end++
		}
		column := slices.Clone(items[start:end])
		if !isNone(fill) && i >= longer {
			column = append(column, fill)
		}
		i++
		return newList(column), true
	}}
}

func filterSum(r *render, v value, a *args) value {
	key := r.getter(a.at(0), nil)
	sum := a.at(1)
	if sum == nil {
		sum = int64(0)
	}
	r.each(v, func(x value) {
		if key != nil {
			x = key(x)
		}
		if _, ok := asText(x); ok {
			r.fail("sum needs numbers, not %s", r.describe(x))
		}
		sum = r.binary("+", sum, x)
	})
	return sum
}

// sortKey prepares values for sorting: texts without regard to case, unless it matters.
func (r *render) sortKey(attribute value, caseSensitive bool) func(value) value {
	get := r.getter(attribute, nil)
	return func(v value) value {
		if get != nil {
			v = get(v)
		}
		if s, ok := asText(v); ok && !caseSensitive {
			r.walk(s)
			return lower(s)
		}
		return v
	}
}

func filterSort(r *render, v value, a *args) value {
	items := r.collect(v)
	caseSensitive := a.truth(r, 1, false)
	attributes := []value{a.at(2)}
	if names, ok := asText(a.at(2)); ok {
		attributes = attributes[:0]
		for _, name := range strings.Split(names, ",") {
			attributes = append(attributes, name)
		}
	}
	var keys []func(value) value
	for _, attribute := range attributes {
		keys = append(keys, r.sortKey(attribute, caseSensitive))
	}
	// One key is a tuple too: what is equal, such as null and null, then needs no order.
	all := func(v value) value {
		t := &tuple{}
		for _, key := range keys {
			t.items = append(t.items, key(v))
		}
		return t
	}
	return newList(r.sorted(items, all, a.truth(r, 0, false)))
}

func filterMin(r *render, v value, a *args) value { return r.extreme(v, a, -1) }

func filterMax(r *render, v value, a *args) value { return r.extreme(v, a, 1) }

// extreme is the first of the smallest or largest items.
func (r *render) extreme(v value, a *args, sign int) value {
	key := r.sortKey(a.at(1), a.truth(r, 0, false))
	var best, bestKey value
	r.each(v, func(x value) {
		k := key(x)
		if best != nil {
			if c, ok := r.order(k, bestKey); !ok || c != sign {
				return
			}
		}
		best, bestKey = x, k
	})
	if best == nil {
		return &undefined{"there is no item to choose from"}
	}
	return best
}

func filterUnique(r *render, v value, a *args) value {
	key := r.sortKey(a.at(1), a.truth(r, 0, false))
	seen := map[value]bool{}
	return r.lazily(v, func(x value) (value, bool) {
		k := r.hash(key(x))
		if seen[k] {
			return nil, false
		}
		seen[k] = true
		return x, true
	})
}
