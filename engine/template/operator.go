package template

import (
	"cmp"
	"strings"

	"github.com/easel-canvas/easel/engine/stable"
)

// binary applies an arithmetic operator.
func binary(r *render, op string, a, b value) value {
	if x, y := number(a), number(b); x != nil && y != nil {
		return arithmetic(r, op, x, y)
	}
	r.needDefined(a)
	if _, ok := asText(a); ok && op == "%" {
		return percent(r, a, b)
	}
	r.needDefined(b)
	var v value
	switch op {
	case "+":
		v = concatenate(r, a, b)
	case "*":
		if v = repeat(r, a, b); v == nil {
			v = repeat(r, b, a)
		}
	}
	if v == nil {
		r.fail("cannot apply %q to %s and %s", op, describe(r, a), describe(r, b))
	}
	return v
}

// concatenate returns a+b for strings, lists and tuples, and nil for other values.
func concatenate(r *render, a, b value) value {
	if x, y := sameKind(a, b); x != nil {
		r.spend(x.size() + y.size())
		return &list{items: append(append(make([]value, 0, x.size()+y.size()), x.all()...), y.all()...), kind: x.kind}
	}
	s, okA := asText(a)
	t, okB := asText(b)
	if !okA || !okB {
		return nil
	}
	safeA, safeB := isSafe(a), isSafe(b)
	if safeA != safeB {
		s, t = escape(r, a), escape(r, b)
	}
	r.reserve(len(s) + len(t))
	if safeA || safeB {
		return safe(s + t)
	}
	return s + t
}

// sameKind returns two lists or two tuples, or nil for other values.
func sameKind(a, b value) (x, y *list) {
	x, okX := asSequence(a)
	y, okY := asSequence(b)
	if !okX || !okY || x.kind != y.kind {
		return nil, nil
	}
	return x, y
}

// repeat returns a*b for a string, list or tuple and an integer, and nil for other values.
func repeat(r *render, a, b value) value {
	n := 0
	switch number(b).(type) {
	case int64, digits:
		n = max(0, r.needInt(b))
	default:
		return nil
	}
	if l, ok := asSequence(a); ok {
		return &list{items: repeated(r, l.all(), n), kind: l.kind}
	}
	s, ok := asText(a)
	if !ok {
		return nil
	}
	if r.times(0, n, len(s)); s == "" {
		n = 0
	}
	return like(a, strings.Repeat(s, n))
}

func repeated(r *render, items []value, n int) []value {
	if n <= 0 || len(items) == 0 {
		return nil
	}
	if n > r.limits.Steps/len(items) {
		n = r.limits.Steps
	}
	r.spend(n * len(items))
	out := make([]value, 0, n*len(items))
	for range n {
		out = append(out, items...)
	}
	return out
}

// joined concatenates the string forms of values with a separator. If autoescape is on and one of
// the strings is safe, all are escaped and the result is safe.
func joined(r *render, separator value, items []value) value {
	escaped := r.autoescape && isSafe(separator)
	for _, x := range items {
		escaped = escaped || r.autoescape && isSafe(x)
	}
	text := str
	if escaped {
		text = escape
	}
	s := joinTexts(r, text(r, separator), items, text)
	if escaped {
		return safe(s)
	}
	return s
}

// joinTexts is strings.Join within the limits.
func joinTexts(r *render, separator string, items []value, text func(*render, value) string) string {
	var buf []byte
	for i, x := range items {
		before := cap(buf)
		if i > 0 {
			buf = append(buf, separator...)
		}
		buf = append(buf, text(r, x)...)
		if r.scan(separator); cap(buf) > before {
			r.reserve(len(buf)) // the buffer was copied
		}
	}
	return r.made(string(buf))
}

// compare applies a comparison operator.
func compare(r *render, op string, a, b value) bool {
	switch op {
	case "==", "!=":
		return equal(r, a, b) == (op == "==")
	case "in", "not in":
		return contains(r, b, a) == (op == "in")
	}
	c, ok := order(r, a, b)
	switch op {
	case "<":
		return ok && c < 0
	case "<=":
		return ok && c <= 0
	case ">":
		return ok && c > 0
	}
	return ok && c >= 0
}

// equal reports whether two values are equal. Only numbers can be equal across types.
func equal(r *render, a, b value) bool {
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
	if identical(a, b) {
		return true
	}
	r.enter()
	defer func() { r.depth-- }()
	switch x := a.(type) {
	case *undefined:
		return isUndefined(b)
	case *list:
		x, y := sameKind(a, b)
		return x != nil && equalItems(r, x.all(), y.all())
	case *dict:
		y, ok := b.(*dict)
		return ok && equalDicts(r, x, y)
	case *span:
		y, ok := b.(*span)
		n := x.size()
		return ok && n == y.size() && (n == 0 || x.start == y.start && (n == 1 || x.step == y.step))
	}
	return false
}

// identical reports whether two values are the same object. A method is a new value on each access.
func identical(a, b value) bool {
	f, isFunction := a.(*function)
	g, isOther := b.(*function)
	if isFunction && isOther {
		return f.callable == g.callable && identical(f.self, g.self)
	}
	return a == b
}

func equalItems(r *render, a, b []value) bool {
	if len(a) != len(b) {
		return false
	}
	for i, x := range a {
		if !equal(r, x, b[i]) {
			return false
		}
	}
	return true
}

func equalDicts(r *render, a, b *dict) bool {
	if a.size() != b.size() {
		return false
	}
	for _, e := range a.all() {
		if v := b.get(r, e.key); v == nil || !equal(r, e.value, v) {
			return false
		}
	}
	return true
}

// order compares two values for < and >, and fails if they have no order. ok is false for NaN.
func order(r *render, a, b value) (c int, ok bool) {
	r.spend(1)
	if x, y := number(a), number(b); x != nil && y != nil {
		return compareNumbers(x, y)
	}
	s, textA := asText(a)
	t, textB := asText(b)
	if textA && textB {
		r.spend(min(len(s), len(t)) / 64)
		return strings.Compare(s, t), true
	}
	if x, y := sameKind(a, b); x != nil {
		return orderItems(r, x.all(), y.all())
	}
	r.needDefined(a)
	r.needDefined(b)
	r.fail("%s and %s have no order", describe(r, a), describe(r, b))
	return 0, false
}

func orderItems(r *render, a, b []value) (c int, ok bool) {
	r.enter()
	defer func() { r.depth-- }()
	for i := range min(len(a), len(b)) {
		if !equal(r, a[i], b[i]) {
			return order(r, a[i], b[i])
		}
	}
	return cmp.Compare(len(a), len(b)), true
}

// contains reports whether needle is in v.
func contains(r *render, v, needle value) bool {
	if d, ok := v.(*dict); ok {
		return d.get(r, needle) != nil
	}
	if s, ok := asText(v); ok {
		sub, ok := asText(needle)
		if !ok {
			r.fail("cannot search for %s in a string", describe(r, needle))
		}
		r.scan(s)
		return strings.Contains(s, sub)
	}
	next := iterate(r, v)
	for x, ok := next(); ok; x, ok = next() {
		if equal(r, x, needle) {
			return true
		}
	}
	return false
}

// keyed is an item and its sort key.
type keyed struct{ key, item value }

// sorted sorts items by key, keeping the order of equal ones.
func sorted(r *render, items []value, key func(value) value, reverse bool) []value {
	list := make([]keyed, len(items))
	for i, x := range items {
		list[i] = keyed{key(x), x}
	}
	r.spend(len(list))
	stable.Sort(list, func(a, b keyed) int {
		if reverse {
			a, b = b, a
		}
		return sortOrder(r, a.key, b.key)
	})
	for i, k := range list {
		items[i] = k.item
	}
	return items
}

// sortOrder is order for sorting: NaN comes before all other numbers.
func sortOrder(r *render, a, b value) int {
	c, _ := order(r, a, b)
	return c
}
