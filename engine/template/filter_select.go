package template

import (
	"strconv"
	"strings"
)

// getter makes a function of an attribute argument: a name, a path of names and places with dots, or a place. It is
// nil when there is no such argument. A missing value becomes standard, if there is one.
func (r *render) getter(attribute, standard value) func(value) value {
	if isNone(attribute) {
		return nil
	}
	parts := []value{attribute}
	if s, ok := asText(attribute); ok {
		parts = parts[:0]
		for _, name := range strings.Split(s, ".") {
			if n, err := strconv.ParseInt(name, 10, 64); err == nil && n >= 0 {
				parts = append(parts, n)
			} else {
				parts = append(parts, name)
			}
		}
	}
	return func(v value) value {
		for _, part := range parts {
			r.spend(1)
			v = r.item(v, part)
			if isUndefined(v) && standard != nil {
				v = standard
			}
		}
		return v
	}
}

func filterMap(r *render, v value, a *args) value {
	if len(a.plain) == 0 {
		return r.mapAttribute(v, a)
	}
	var filter *callable
	a = a.copy()
	name := a.shift()
	return r.lazily(r.orNothing(v), func(x value) (value, bool) {
		if filter == nil {
			filter = r.named(r.tables.filters, "filter", name)
		}
		return filter.apply(r, x, a.copy()), true
	})
}

func (r *render) mapAttribute(v value, a *args) value {
	a = a.copy()
	attribute, standard := a.take("attribute"), a.take("default")
	return r.lazily(r.orNothing(v), func(x value) (value, bool) {
		if attribute == nil || len(a.names) > 0 {
			r.fail(`map needs the name of a filter, or attribute=...`)
		}
		return r.getter(attribute, standard)(x), true
	})
}

// named finds a filter or test whose name is a value.
func (r *render) named(table []callable, what string, name value) *callable {
	s, ok := asText(name)
	if !ok {
		r.fail("expected the name of a %s, got %s", what, r.describe(name))
	}
	c := findCallable(table, s)
	if c == nil {
		r.fail("unknown %s %q", what, s)
	}
	return c
}

func filterSelect(r *render, v value, a *args) value { return r.selected(v, a, false, true) }

func filterReject(r *render, v value, a *args) value { return r.selected(v, a, false, false) }

func filterSelectattr(r *render, v value, a *args) value { return r.selected(v, a, true, true) }

func filterRejectattr(r *render, v value, a *args) value { return r.selected(v, a, true, false) }

// selected keeps the items for which a test says keep; without a test, those that are true or not.
func (r *render) selected(v value, a *args, byAttribute, keep bool) value {
	a = a.copy()
	attribute := value(nil)
	if byAttribute {
		attribute = a.shift()
	}
	testName := a.shift()
	var test *callable
	return r.lazily(r.orNothing(v), func(x value) (value, bool) {
		subject := x
		if byAttribute {
			get := r.getter(attribute, nil)
			if get == nil {
				r.fail("selectattr and rejectattr need the name of an attribute")
			}
			subject = get(x)
		}
		if testName == nil {
			return x, r.truth(subject) == keep
		}
		if test == nil {
			test = r.named(r.tables.tests, "test", testName)
		}
		return x, r.truth(test.apply(r, subject, a.copy())) == keep
	})
}

func filterGroupby(r *render, v value, a *args) value {
	standard := a.at(1)
	get := r.getter(a.at(0), standard)
	if get == nil {
		r.fail("groupby needs the name of an attribute")
	}
	caseSensitive := a.truth(r, 2, false)
	key := r.sortKey(nil, caseSensitive)
	by := func(x value) value { return key(get(x)) }
	var groups []value
	var group *list
	var last value
	for _, x := range r.sorted(r.collect(v), by, false) {
		k := by(x)
		if group == nil || !r.equal(k, last) {
			group, last = newList(nil), k
			groups = append(groups, &tuple{[]value{get(x), group}, []string{"grouper", "list"}})
		}
		group.items = append(group.items, x)
	}
	return newList(groups)
}
