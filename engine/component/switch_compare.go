package component

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// switchCompare evaluates one comparison of a Switch. Searching in strings ignores case, comparing
// does not; a number is compared with a numeric string on the right as a number; values of
// different types are neither equal nor ordered.
func switchCompare(left engine.Value, operator string, right engine.Value) (bool, error) {
	switch operator {
	case "contains":
		return switchContains(left, right), nil
	case "not contains":
		return !switchContains(left, right), nil
	case "start with":
		return bothTexts(left, right) && strings.HasPrefix(strings.ToLower(left.Str()), strings.ToLower(right.Str())),
			nil
	case "end with":
		return bothTexts(left, right) && strings.HasSuffix(strings.ToLower(left.Str()), strings.ToLower(right.Str())),
			nil
	case "empty":
		return !left.Truthy(), nil
	case "not empty":
		return left.Truthy(), nil
	case "=":
		return switchEqual(left, right), nil
	case "≠":
		return !switchEqual(left, right), nil
	case "in":
		return isOneOf(left, right), nil
	case "not in":
		return !isOneOf(left, right), nil
	}
	holds, known := orderings[operator]
	if !known {
		return false, switchOperators.check("operator", operator)
	}
	order, ordered := switchOrder(left, right)
	return ordered && holds(order), nil
}

// orderings report for -1, 0 or 1 whether an operator holds.
var orderings = map[string]func(order int) bool{
	">": func(o int) bool { return o > 0 },
	"<": func(o int) bool { return o < 0 },
	"≥": func(o int) bool { return o >= 0 },
	"≤": func(o int) bool { return o <= 0 },
}

func bothTexts(a, b engine.Value) bool {
	return a.Kind() == engine.KindString && b.Kind() == engine.KindString
}

// switchContains searches for a substring, also in an object's text, or for an element of a list.
func switchContains(left, right engine.Value) bool {
	if left.Kind() == engine.KindList {
		for _, e := range left.Elements() {
			if switchEqual(e, right) || bothTexts(e, right) && strings.EqualFold(e.Str(), right.Str()) {
				return true
			}
		}
		return false
	}
	if left.Kind() == engine.KindObject {
		left = engine.String(left.Text())
	}
	return bothTexts(left, right) && strings.Contains(strings.ToLower(left.Str()), strings.ToLower(right.Str()))
}

// isOneOf reports whether a value equals one of a list, or of the values that commas separate in a
// string. Case is ignored.
func isOneOf(left, right engine.Value) bool {
	if right.Kind() == engine.KindString {
		var parts []string
		for _, part := range strings.Split(right.Str(), ",") {
			parts = append(parts, strings.TrimSpace(part))
		}
		right = engine.Strings(parts...)
	}
	for _, e := range right.Elements() {
		if switchEqual(left, e) || bothTexts(left, e) && strings.EqualFold(left.Str(), e.Str()) {
			return true
		}
	}
	return false
}

func switchEqual(left, right engine.Value) bool {
	if left.Kind() == engine.KindNumber {
		n, ok := readNumber(right)
		return ok && engine.CompareNumbers(left, n) == 0
	}
	return engine.Equal(left, right)
}

// switchOrder compares two numbers, including numeric strings, or else two strings.
func switchOrder(left, right engine.Value) (order int, ordered bool) {
	x, numberX := readNumber(left)
	y, numberY := readNumber(right)
	switch {
	case numberX && numberY:
		return engine.CompareNumbers(x, y), true
	case bothTexts(left, right):
		return cmp.Compare(left.Str(), right.Str()), true
	}
	return 0, false
}

// readNumber returns a number, or the value of a numeric string.
func readNumber(v engine.Value) (engine.Value, bool) {
	switch v.Kind() {
	case engine.KindNumber:
		return v, true
	case engine.KindString:
		s := strings.TrimSpace(v.Str())
		if n, ok := engine.ParseNumber(s); ok {
			return n, true
		}
		if strings.ContainsAny(s, "xXpP_") {
			return engine.Null, false
		}
		f, err := strconv.ParseFloat(s, 64)
		n := engine.Float(f)
		return n, err == nil && !n.IsNull()
	}
	return engine.Null, false
}
