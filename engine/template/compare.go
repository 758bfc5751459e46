package template

import (
	"cmp"
	"math"
	"strings"
)

// equal reports whether two values are equal. Values of different kinds are not, except numbers among each other.
func (r *render) equal(a, b value) bool {
	r.spend(1)
	if x, y := number(a), number(b); x != nil && y != nil {
		c, ok := compareNumbers(x, y)
		return ok && c == 0
	}
	if s, ok := asText(a); ok {
		t, ok := asText(b)
		if ok && len(s) == len(t) {
			r.scan(s)
		}
		return ok && s == t
	}
	r.enter()
	defer func() { r.depth-- }()
	switch x := a.(type) {
	case none:
		_, ok := b.(none)
		return ok
	case *undefined:
		return isUndefined(b)
	case *list:
		y, ok := b.(*list)
		return ok && (x == y || r.equalItems(x.all(), y.all()))
	case *tuple:
		y, ok := b.(*tuple)
		return ok && (x == y || r.equalItems(x.items, y.items))
	case *dict:
		y, ok := b.(*dict)
		return ok && (x == y || r.equalDicts(x, y))
	case *span:
		y, ok := b.(*span)
		return ok && x.equal(y)
	}
	return identical(a, b)
}

// identical reports whether two values are the same one.
func identical(a, b value) bool {
	switch a.(type) {
	case int64, float64, bool, none, string, safe, hollow, *undefined, *list, *tuple, *dict, *span, *view, *generator, digits,
		*namespace, *loop, *macroValue, *cycler, *joiner:
		return a == b
	}
	f, ok := a.(*function)
	g, ok2 := b.(*function)
	return ok && ok2 && f.callable == g.callable && (f.self == nil && g.self == nil || identical(f.self, g.self))
}

func (r *render) equalItems(a, b []value) bool {
	if len(a) != len(b) {
		return false
	}
	for i, x := range a {
		if !r.equal(x, b[i]) {
			return false
		}
	}
	return true
}

func (r *render) equalDicts(a, b *dict) bool {
	if a.size() != b.size() {
		return false
	}
	for _, e := range a.all() {
		v := b.get(r, e.key)
		if v == nil || !r.equal(e.value, v) {
			return false
		}
	}
	return true
}

// compareNumbers orders two numbers exactly; ok is false when one is not a number, NaN.
func compareNumbers(a, b value) (c int, ok bool) {
	x, floatX := a.(float64)
	y, floatY := b.(float64)
	switch {
	case floatX && math.IsNaN(x) || floatY && math.IsNaN(y):
		return 0, false
	case floatX && floatY:
		return cmp.Compare(x, y), true
	case floatX:
		c, ok = compareNumbers(b, a)
		return -c, ok
	case floatY:
		return compareToFloat(a, y), true
	}
	return compareIntegers(a, b), true
}

// compareToFloat compares an integer with a float: first with its whole part, then with what is left of it.
func compareToFloat(n value, f float64) int {
	if math.IsInf(f, 0) {
		return cmp.Compare(0, f)
	}
	whole := math.Trunc(f)
	if c := compareIntegers(n, fromFloat(whole)); c != 0 {
		return c
	}
	return cmp.Compare(0, f-whole)
}

// order compares two values for < and >; it fails when they have no order. ok is false for NaN.
func (r *render) order(a, b value) (c int, ok bool) {
	r.spend(1)
	if x, y := number(a), number(b); x != nil && y != nil {
		return compareNumbers(x, y)
	}
	if s, isText := asText(a); isText {
		if t, isText := asText(b); isText {
			r.spend(min(len(s), len(t)) / 64)
			return strings.Compare(s, t), true
		}
	}
	switch x := a.(type) {
	case *list:
		if y, isList := b.(*list); isList {
			return r.orderItems(x.all(), y.all())
		}
	case *tuple:
		if y, isTuple := b.(*tuple); isTuple {
			return r.orderItems(x.items, y.items)
		}
	}
	r.needDefined(a)
	r.needDefined(b)
	r.fail("%s and %s have no order", r.describe(a), r.describe(b))
	return 0, false
}

func (r *render) orderItems(a, b []value) (c int, ok bool) {
	r.enter()
	defer func() { r.depth-- }()
	for i := range min(len(a), len(b)) {
		if !r.equal(a[i], b[i]) {
			return r.order(a[i], b[i])
		}
	}
	return cmp.Compare(len(a), len(b)), true
}

// contains reports whether needle is in v.
func (r *render) contains(v, needle value) bool {
	switch v := v.(type) {
	case string, safe, hollow:
		s, _ := asText(v)
		sub, ok := asText(needle)
		if !ok {
			r.fail("cannot look for %s in a string", r.describe(needle))
		}
		r.scan(s)
		return strings.Contains(s, sub)
	case *dict:
		return v.get(r, needle) != nil
	}
	next := r.iterate(v)
	for x, ok := next(); ok; x, ok = next() {
		if r.equal(x, needle) {
			return true
		}
	}
	return false
}
