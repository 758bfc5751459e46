package template

import "unicode"

// testTable lists every test. The signs work only by name, in select and reject.
var testTable = [...]callable{
	{"!=", 1, "other", orderTest("!=")},
	{"<", 1, "other", orderTest("<")},
	{"<=", 1, "other", orderTest("<=")},
	{"==", 1, "other", orderTest("==")},
	{">", 1, "other", orderTest(">")},
	{">=", 1, "other", orderTest(">=")},
	{"boolean", 0, "", func(_ *render, v value, _ *args) value { _, ok := v.(bool); return ok }},
	{"callable", 0, "", func(_ *render, v value, _ *args) value { _, ok := v.(invoker); return ok || isUndefined(v) }},
	{"defined", 0, "", func(_ *render, v value, _ *args) value { return !isUndefined(v) }},
	{"divisibleby", 1, "num", func(r *render, v value, a *args) value { return r.remainder(v, a.at(0)) == 0 }},
	{"eq", 1, "other", orderTest("==")},
	{"equalto", 1, "other", orderTest("==")},
	{"escaped", 0, "", func(_ *render, v value, _ *args) value { _, ok := v.(safe); return ok }},
	{"even", 0, "", func(r *render, v value, _ *args) value { return r.remainder(v, int64(2)) == 0 }},
	{"false", 0, "", func(_ *render, v value, _ *args) value { return v == value(false) }},
	{"filter", 0, "", func(r *render, v value, _ *args) value { return r.knows(r.tables.filters, v) }},
	{"float", 0, "", func(_ *render, v value, _ *args) value { _, ok := v.(float64); return ok }},
	{"ge", 1, "other", orderTest(">=")},
	{"greaterthan", 1, "other", orderTest(">")},
	{"gt", 1, "other", orderTest(">")},
	{"in", 1, "seq", func(r *render, v value, a *args) value { return r.contains(a.at(0), v) }},
	{"integer", 0, "", testInteger},
	{"iterable", 0, "", func(r *render, v value, _ *args) value { return r.elements(v) != nil }},
	{"le", 1, "other", orderTest("<=")},
	{"lessthan", 1, "other", orderTest("<")},
	{"lower", 0, "", func(r *render, v value, _ *args) value { return r.isCase(v, unicode.IsLower) }},
	{"lt", 1, "other", orderTest("<")},
	{"mapping", 0, "", func(_ *render, v value, _ *args) value { _, ok := v.(*dict); return ok }},
	{"ne", 1, "other", orderTest("!=")},
	{"none", 0, "", func(_ *render, v value, _ *args) value { return v == value(none{}) }},
	{"number", 0, "", func(_ *render, v value, _ *args) value { return number(v) != nil }},
	{"odd", 0, "", func(r *render, v value, _ *args) value { return r.remainder(v, int64(2)) == 1 }},
	{"sameas", 1, "other", func(_ *render, v value, a *args) value { return !isUndefined(v) && identical(v, a.at(0)) }},
	{"sequence", 0, "", testSequence},
	{"string", 0, "", func(_ *render, v value, _ *args) value { _, ok := asText(v); return ok }},
	{"test", 0, "", func(r *render, v value, _ *args) value { return r.knows(r.tables.tests, v) }},
	{"true", 0, "", func(_ *render, v value, _ *args) value { return v == value(true) }},
	{"undefined", 0, "", func(_ *render, v value, _ *args) value { return isUndefined(v) }},
	{"upper", 0, "", func(r *render, v value, _ *args) value { return r.isCase(v, unicode.IsUpper) }},
}

//go:noinline
func orderTest(op string) func(*render, value, *args) value {
	return func(r *render, v value, a *args) value { return r.compareBy(op, v, a.at(0)) }
}

// remainder is v modulo n as a float, for comparisons with small numbers.
func (r *render) remainder(v, n value) float64 {
	r.needDefined(v)
	r.needDefined(n)
	x, y := number(v), number(n)
	if x == nil || y == nil {
		r.fail("the test needs numbers, not %s", r.describe(v))
	}
	return toFloat(r.arithmetic("%", x, y))
}

func testInteger(_ *render, v value, _ *args) value {
	switch v.(type) {
	case int64, digits:
		return true
	}
	return false
}

// testSequence holds for what has a length and items.
func testSequence(_ *render, v value, _ *args) value {
	switch v.(type) {
	case string, safe, hollow, *list, *tuple, *dict, *span, *undefined:
		return true
	}
	return false
}

func (r *render) knows(table []callable, name value) bool {
	s, ok := asText(name)
	return ok && findCallable(table, s) != nil
}
