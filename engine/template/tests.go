package template

import "unicode"

// testTable lists all tests. The operators can be used by name in select and reject only.
var testTable = [...]callable{
	{"!=", 1, "other", comparison("!=")},
	{"<", 1, "other", comparison("<")},
	{"<=", 1, "other", comparison("<=")},
	{"==", 1, "other", comparison("==")},
	{">", 1, "other", comparison(">")},
	{">=", 1, "other", comparison(">=")},
	{"boolean", 0, "", is[bool]},
	{"callable", 0, "", func(_ *render, v value, _ *args) value { _, ok := v.(invoker); return ok || isUndefined(v) }},
	{"defined", 0, "", func(_ *render, v value, _ *args) value { return !isUndefined(v) }},
	{"divisibleby", 1, "num", func(r *render, v value, a *args) value { return remainder(r, v, a.at(0)) == 0 }},
	{"eq", 1, "other", comparison("==")},
	{"equalto", 1, "other", comparison("==")},
	{"escaped", 0, "", is[safe]},
	{"even", 0, "", func(r *render, v value, _ *args) value { return remainder(r, v, int64(2)) == 0 }},
	{"false", 0, "", func(_ *render, v value, _ *args) value { return v == value(false) }},
	{"filter", 0, "", func(r *render, v value, _ *args) value { return known(r.tables.filters, v) }},
	{"float", 0, "", is[float64]},
	{"ge", 1, "other", comparison(">=")},
	{"greaterthan", 1, "other", comparison(">")},
	{"gt", 1, "other", comparison(">")},
	{"in", 1, "seq", comparison("in")},
	{"integer", 0, "", func(_ *render, v value, _ *args) value { return typeName(v) == "integer" }},
	{"iterable", 0, "", func(_ *render, v value, _ *args) value { return elements(v) != nil }},
	{"le", 1, "other", comparison("<=")},
	{"lessthan", 1, "other", comparison("<")},
	{"lower", 0, "", caseMethod(unicode.IsLower)},
	{"lt", 1, "other", comparison("<")},
	{"mapping", 0, "", is[*dict]},
	{"ne", 1, "other", comparison("!=")},
	{"none", 0, "", is[none]},
	{"number", 0, "", func(_ *render, v value, _ *args) value { return number(v) != nil }},
	{"odd", 0, "", func(r *render, v value, _ *args) value { return remainder(r, v, int64(2)) == 1 }},
	{"sameas", 1, "other", func(_ *render, v value, a *args) value { return !isUndefined(v) && identical(v, a.at(0)) }},
	{"sequence", 0, "", func(_ *render, v value, _ *args) value {
		switch v.(type) {
		case string, safe, hollow, *dict, *span, *undefined:
			return true
		}
		_, ok := asSequence(v)
		return ok
	}},
	{"string", 0, "", func(_ *render, v value, _ *args) value { _, ok := asText(v); return ok }},
	{"test", 0, "", func(r *render, v value, _ *args) value { return known(r.tables.tests, v) }},
	{"true", 0, "", func(_ *render, v value, _ *args) value { return v == value(true) }},
	{"undefined", 0, "", is[*undefined]},
	{"upper", 0, "", caseMethod(unicode.IsUpper)},
}

// is tests for a type.
func is[T value](_ *render, v value, _ *args) value {
	_, ok := v.(T)
	return ok
}

func comparison(op string) method {
	return func(r *render, v value, a *args) value { return compare(r, op, v, a.at(0)) }
}

// remainder returns v modulo n as a float, to be compared with small numbers.
func remainder(r *render, v, n value) float64 {
	return toFloat(arithmetic(r, "%", needNumber(r, v), needNumber(r, n)))
}

func known(table []callable, name value) bool {
	s, ok := asText(name)
	return ok && findCallable(table, s) != nil
}
