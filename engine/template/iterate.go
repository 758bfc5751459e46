package template

import "unicode/utf8"

// iterator returns the next element; ok is false after the last one.
type iterator = func() (v value, ok bool)

// iterate returns an iterator over v: the characters of a string, the keys of an object. It fails
// for values without elements.
func iterate(r *render, v value) iterator {
	next := elements(v)
	if next == nil {
		r.fail("%s has no elements", describe(r, v))
	}
	return func() (value, bool) {
		r.spend(1)
		r.enter() // a generator may read from another one
		x, ok := next()
		r.depth--
		return x, ok
	}
}

// elements returns iterate without limits. It returns nil for values without elements.
func elements(v value) iterator {
	i, n := -1, 0
	switch v := v.(type) {
	case *undefined, hollow:
		return (&generator{}).next
	case *list:
		return func() (value, bool) { // the list may grow during iteration
			i++
			x := pick(v.all(), i)
			return x, x != nil
		}
	case *dict:
		return elements(v.view(keysView))
	case *span:
		n = v.size()
		return func() (value, bool) {
			if i++; i >= n {
				return nil, false
			}
			return v.at(i), true
		}
	case *generator:
		return v.next
	}
	s, ok := asText(v)
	if !ok {
		return nil
	}
	return func() (value, bool) {
		_, n := utf8.DecodeRuneInString(s)
		c := s[:n]
		s = s[n:]
		return c, n > 0
	}
}

// each calls do for every element of v.
func each(r *render, v value, do func(value)) {
	next := iterate(r, v)
	for x, ok := next(); ok; x, ok = next() {
		do(x)
	}
}

// collect returns the elements of v in a new slice.
func collect(r *render, v value) []value {
	var items []value
	if s, ok := v.(sized); ok {
		items = make([]value, 0, max(0, min(s.size(), r.steps)))
	}
	each(r, v, func(x value) {
		r.spend(1)
		items = append(items, x)
	})
	return items
}

// length returns the number of elements of v and fails for values that have none.
func length(r *render, v value) int {
	switch v := v.(type) {
	case *undefined:
		return 0
	case sized:
		return v.size()
	}
	s, ok := asText(v)
	if !ok {
		r.fail("%s has no length", describe(r, v))
	}
	return r.length(s)
}

// lazily returns a generator of the results of pick, which may skip elements of v. A false v has no
// elements.
func lazily(r *render, v value, pick func(value) (value, bool)) value {
	return &generator{start: func() (items []value) {
		if truth(v) {
			each(r, v, func(x value) {
				if y, ok := pick(x); ok {
					items = append(items, y)
				}
			})
		}
		return items
	}}
}
