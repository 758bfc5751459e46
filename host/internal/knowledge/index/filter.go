package index

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Filter chooses documents by their metadata.
type Filter struct {
	Conditions []Condition
	Or         bool // one condition is enough
	// Lenient drops the filter when no document fits; it is for conditions that a model made up.
	Lenient bool
}

// Condition compares the values that a key has in a document with a value.
type Condition struct {
	Key, Operator, Value string
}

// Operators returns the operators of conditions.
func Operators() []string {
	return []string{
		"contains", "not contains", "in", "not in", "start with", "end with", "empty", "not empty",
		"=", "≠", ">", "<", "≥", "≤",
	}
}

// otherNames are further names of operators, of clients in use.
var otherNames = map[string]string{
	"==": "=", "is": "=", "!=": "≠", "is not": "≠", "not is": "≠", ">=": "≥", "<=": "≤", "after": ">", "before": "<",
}

// Check reports a condition that cannot be tested.
func (f *Filter) Check() error {
	for i, c := range f.Conditions {
		if !slices.Contains(Operators(), canonical(c.Operator)) {
			return fmt.Errorf("metadata condition %d: unknown operator %q (one of %s)",
				i+1, c.Operator, strings.Join(Operators(), ", "))
		}
	}
	return nil
}

func canonical(op string) string {
	op = strings.ToLower(strings.TrimSpace(op))
	if name, ok := otherNames[op]; ok {
		return name
	}
	return op
}

// Values lists the documents that have each value of a metadata key. The documents of a value are
// in ascending order.
type Values func(key string) (map[string][]int64, error)

// Documents returns the documents that a filter lets through, in ascending order. all is true when
// it restricts nothing. Conditions on keys that no document has are ignored, as in the original.
func (f *Filter) Documents(values Values) (only []int64, all bool, err error) {
	if f == nil || len(f.Conditions) == 0 {
		return nil, true, nil
	}
	if err := f.Check(); err != nil {
		return nil, false, err
	}
	used := false
	for _, c := range f.Conditions {
		of, err := values(c.Key)
		if err != nil {
			return nil, false, err
		}
		if len(of) == 0 {
			continue
		}
		fit := c.documents(of)
		switch {
		case !used:
			only, used = fit, true
		case f.Or:
			only = slices.Compact(slices.Sorted(slices.Values(append(only, fit...))))
		default:
			only = slices.DeleteFunc(only, func(d int64) bool {
				_, found := slices.BinarySearch(fit, d)
				return !found
			})
		}
	}
	return only, len(only) == 0 && f.Lenient, nil
}

// documents returns those with a value that satisfies the condition, in ascending order.
func (c *Condition) documents(of map[string][]int64) []int64 {
	var out []int64
	for value, documents := range of {
		if c.Holds(value) {
			out = append(out, documents...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Holds tests a value of a document, ignoring case. "contains" searches the condition's text in the
// document's value, "in" the document's value in the condition's list, as newer versions of RAGFlow
// do. Check refuses unknown operators.
func (c *Condition) Holds(value string) bool {
	have, want, op := strings.ToLower(value), strings.ToLower(c.Value), canonical(c.Operator)
	switch op {
	case "contains":
		return strings.Contains(have, want)
	case "not contains":
		return !strings.Contains(have, want)
	case "in":
		return strings.Contains(want, have)
	case "not in":
		return !strings.Contains(want, have)
	case "start with":
		return strings.HasPrefix(have, want)
	case "end with":
		return strings.HasSuffix(have, want)
	case "empty":
		return have == ""
	case "not empty":
		return have != ""
	}
	order := strings.Compare(have, want)
	if x, err := strconv.ParseFloat(have, 64); err == nil {
		if y, err := strconv.ParseFloat(want, 64); err == nil {
			order = cmp.Compare(x, y)
		}
	}
	switch op {
	case "=":
		return order == 0
	case "≠":
		return order != 0
	case ">":
		return order > 0
	case "<":
		return order < 0
	case "≥":
		return order >= 0
	case "≤":
		return order <= 0
	}
	return false
}

// MetaValues returns the values of a metadata entry as texts; a list has one for each element.
func MetaValues(v any) []string {
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, e := range v {
			out = append(out, MetaValues(e)...)
		}
		return out
	case []string:
		return v
	}
	text, err := json.Marshal(v)
	if err != nil {
		return []string{fmt.Sprint(v)}
	}
	return []string{string(text)}
}
