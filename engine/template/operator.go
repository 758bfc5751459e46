package template

import "strings"

// binary applies an arithmetic operator.
func (r *render) binary(op string, a, b value) value {
	if x, y := number(a), number(b); x != nil && y != nil {
		return r.arithmetic(op, x, y)
	}
	r.needDefined(a)
	if s, ok := asText(a); ok && op == "%" {
		return r.percent(like(a, s), b)
	}
	r.needDefined(b)
	var v value
	switch op {
	case "+":
		v = r.join(a, b)
	case "*":
		if v = r.repeat(a, b); v == nil {
			v = r.repeat(b, a)
		}
	}
	if v == nil {
		r.fail("cannot apply %q to %s and %s", op, r.describe(a), r.describe(b))
	}
	return v
}

// join is a+b for texts, lists and tuples; nil for anything else.
func (r *render) join(a, b value) value {
	switch x := a.(type) {
	case *list:
		if y, ok := b.(*list); ok {
			return newList(r.chain(x.all(), y.all()))
		}
		return nil
	case *tuple:
		if y, ok := b.(*tuple); ok {
			return &tuple{items: r.chain(x.items, y.items)}
		}
		return nil
	}
	s, okA := asText(a)
	t, okB := asText(b)
	if !okA || !okB {
		return nil
	}
	_, safeA := a.(safe)
	_, safeB := b.(safe)
	if safeA != safeB {
		s, t = string(r.escape(a)), string(r.escape(b))
	}
	r.reserve(len(s) + len(t))
	if safeA || safeB {
		return safe(s + t)
	}
	return s + t
}

func (r *render) chain(a, b []value) []value {
	r.spend(len(a) + len(b))
	return append(append(make([]value, 0, len(a)+len(b)), a...), b...)
}

// repeat is a*b for a text, list or tuple a and an integer b; nil for anything else.
func (r *render) repeat(a, b value) value {
	switch number(b).(type) {
	case int64, digits:
	default:
		return nil
	}
	n := max(0, r.needInt(b))
	switch x := a.(type) {
	case *list:
		return newList(r.repeated(x.all(), n))
	case *tuple:
		return &tuple{items: r.repeated(x.items, n)}
	}
	s, ok := asText(a)
	if !ok {
		return nil
	}
	r.times(n, len(s))
	if s == "" {
		return like(a, "")
	}
	return like(a, strings.Repeat(s, n))
}

func (r *render) repeated(items []value, n int) []value {
	if len(items) == 0 {
		return nil
	}
	if n > r.limits.Steps/len(items) {
		r.stop("the render needs more than %d steps", r.limits.Steps)
	}
	r.spend(n * len(items))
	out := make([]value, 0, n*len(items))
	for range n {
		out = append(out, items...)
	}
	return out
}

// compareBy applies a comparison operator.
func (r *render) compareBy(op string, a, b value) bool {
	switch op {
	case "==":
		return r.equal(a, b)
	case "!=":
		return !r.equal(a, b)
	case "in":
		return r.contains(b, a)
	case "not in":
		return !r.contains(b, a)
	}
	c, ok := r.order(a, b)
	switch op {
	case "<":
		return ok && c < 0
	case "<=":
		return ok && c <= 0
	case ">":
		return ok && c > 0
	default:
		return ok && c >= 0
	}
}
