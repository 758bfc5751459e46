package template

import "unicode/utf8"

// sized is a value with a number of elements.
type sized interface{ size() int }

// iterate gives the elements of v one by one: characters of a string, keys of an object. It fails for values
// without elements.
func (r *render) iterate(v value) (next func() (value, bool)) {
	elements := r.elements(v)
	if elements == nil {
		r.fail("%s has no elements to go through", r.describe(v))
	}
	return func() (value, bool) {
		r.spend(1)
		r.enter() // a generator may take from a generator
		x, ok := elements()
		r.depth--
		return x, ok
	}
}

// elements is iterate without counting; nil for values without elements.
func (r *render) elements(v value) func() (value, bool) {
	i := 0
	switch v := v.(type) {
	case *undefined:
		return func() (value, bool) { return nil, false }
	case *list:
		return func() (value, bool) { // the list may grow on the way
			items := v.all()
			if i >= len(items) {
				return nil, false
			}
			i++
			return items[i-1], true
		}
	case *tuple:
		return sequence(v.items)
	case *dict:
		return entrySequence(v, viewKeys)
	case *view:
		return entrySequence(v.of, v.what)
	case *span:
		n := v.size()
		return func() (value, bool) {
			if i >= n {
				return nil, false
			}
			i++
			return v.at(i - 1), true
		}
	case *generator:
		return v.next
	case hollow:
		return sequence(nil)
	}
	if s, ok := asText(v); ok {
		return func() (value, bool) {
			if i >= len(s) {
				return nil, false
			}
			_, n := utf8.DecodeRuneInString(s[i:])
			i += n
			return s[i-n : i], true
		}
	}
	return nil
}

func sequence(items []value) func() (value, bool) {
	i := 0
	return func() (value, bool) {
		if i >= len(items) {
			return nil, false
		}
		i++
		return items[i-1], true
	}
}

// entrySequence goes through the entries an object has at the start.
func entrySequence(d *dict, what viewKind) func() (value, bool) {
	entries := d.all()
	v := &view{d, what}
	i := 0
	return func() (value, bool) {
		if i >= len(entries) {
			return nil, false
		}
		i++
		return v.pick(entries[i-1]), true
	}
}

// each calls do with every element of v.
func (r *render) each(v value, do func(value)) {
	next := r.iterate(v)
	for x, ok := next(); ok; x, ok = next() {
		do(x)
	}
}

// collect gives the elements of v in a slice of its own.
func (r *render) collect(v value) []value {
	var items []value
	if s, ok := v.(sized); ok {
		items = make([]value, 0, min(s.size(), r.steps+1))
	}
	r.each(v, func(x value) {
		r.spend(1)
		items = append(items, x)
	})
	return items
}

// len is the number of elements of v; it fails for values that have none.
func (r *render) len(v value) int {
	switch v := v.(type) {
	case *undefined:
		return 0
	case sized:
		return v.size()
	}
	s, ok := asText(v)
	if !ok {
		r.fail("%s has no length", r.describe(v))
	}
	return r.length(s)
}

// orNothing is v, or an empty list in place of anything that counts as false: map, select and reject find nothing in
// null.
func (r *render) orNothing(v value) value {
	if r.truth(v) {
		return v
	}
	return newList(nil)
}

// lazily makes a generator of a function that is called for every element of v; it may leave elements out.
// Nothing happens before the first element is asked for.
func (r *render) lazily(v value, pick func(value) (value, bool)) value {
	var next func() (value, bool)
	return &generator{func() (value, bool) {
		if next == nil {
			next = r.iterate(v)
		}
		for {
			x, ok := next()
			if !ok {
				return nil, false
			}
			if y, ok := pick(x); ok {
				return y, true
			}
		}
	}}
}
