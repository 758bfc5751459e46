package component

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/stable"
)

var listOperationsSpec = engine.Spec{
	Name:  "ListOperations",
	Title: "Edit list", Search: []string{"filter", "sort", "first", "slice", "unique", "排序"},
	Category: engine.CategoryData, Icon: "list",
	Doc:    "Slices, filters or sorts a list, or removes duplicates.",
	New:    func() engine.Component { return new(ListOperations) },
	Inputs: []engine.Field{{Name: "*", Type: "list", Doc: "the list"}},
	Outputs: []engine.Field{
		{Name: "result", Type: "list", Doc: "the new list"},
		{Name: "first", Type: "any", Doc: "its first element; null if it is empty"},
		{Name: "last", Type: "any", Doc: "its last element; null if it is empty"},
	},
	Inline:   true,
	Thoughts: "Transforming a list.",
}

// ListOperations transforms a list into a new list.
//
// In: the list. Out: result, first and last. Values other than lists, and sorting values without an
// order, are errors.
//
// Source: RAGFlow agent/component/list_operations.py at 80a16e71 (behaviour only). Differs: head
// returns the first n and tail the last n elements, topN is an alias of head, and nth exists, all
// as in later versions; elements read as easel writes values into texts.
type ListOperations struct {
	Query      engine.Ref   `json:"query" label:"List" doc:"the list to work on" check:"nonempty"`
	Operations string       `json:"operations" label:"Do" doc:"what is done with the list" options:"topN=First ones (topN)|head=First ones|tail=Last ones|nth=Pick one|filter=Keep matching|sort=Sort|drop_duplicates=Remove doubles" default:"topN"`
	N          engine.Value `json:"n" label:"How many" doc:"number of elements; to pick one its position, from 1, or from -1 at the end" widget:"number" show:"operations=nth,head,tail,topN" default:"0"`
	Strict     bool         `json:"strict" label:"Error outside the list" doc:"a number outside the list is an error" show:"operations=nth,head,tail,topN"`
	SortMethod string       `json:"sort_method" label:"Order" doc:"order of the elements" shape:"asc or desc" widget:"segment" offer:"asc=Rising|desc=Falling" show:"operations=sort" default:"asc"`
	SortBy     string       `json:"sort_by" label:"By" doc:"members to compare, separated by commas; all of them if empty" show:"operations=sort"`
	Filter     ListFilter   `json:"filter" label:"Keep" doc:"elements that the rule fits" widget:"conditions" show:"operations=filter"`

	value engine.Text // of the filter
}

// ListFilter is the test of the operation filter.
type ListFilter struct {
	Operator string       `json:"operator" label:"Comparison" doc:"how an element is compared" ops:"filter" default:"="`
	Value    engine.Value `json:"value" label:"Value" doc:"text to compare the elements with" widget:"value" right:"operator"`
}

// Init compiles the filter.
func (l *ListOperations) Init(s *engine.Setup) error {
	if l.Query.IsZero() {
		return s.Fail("query", engine.Null, "is missing; expected a reference to a list")
	}
	l.Filter.Operator = filterOperators.filter(l.Filter.Operator)
	l.SortMethod = sortMethods.stored(cmp.Or(l.SortMethod, "asc"))
	l.value = s.Text(l.Filter.Value.Text())
	return nil
}

// Warnings reports words that do not exist, of the operation in use.
func (l *ListOperations) Warnings() (list []engine.Diagnostic) {
	switch l.Operations {
	case "filter":
		return wrongOperator(nil, "filter.operator", filterOperators.check("operator", l.Filter.Operator))
	case "sort":
		return wrongOperator(nil, "sort_method", sortMethods.check("sort_method", l.SortMethod))
	}
	return nil
}

// Run sets the new list.
func (l *ListOperations) Run(ctx context.Context, call *engine.Call) error {
	list, err := call.Resolve(ctx, &l.Query)
	if err != nil {
		return err
	}
	if list.Kind() != engine.KindList {
		return fmt.Errorf("query %s must be a list, but it is a %s", l.Query.String(), list.Kind())
	}
	call.In(l.Query.Expr, list)
	result, err := l.apply(ctx, call, list)
	if err != nil {
		return fmt.Errorf("%s: %w", l.Operations, err)
	}
	call.Out("result", result)
	call.Out("first", result.At(0))
	call.Out("last", result.At(result.Len()-1))
	return nil
}

func (l *ListOperations) apply(ctx context.Context, call *engine.Call, list engine.Value) (engine.Value, error) {
	n, size := count(l.N), list.Len()
	if err := l.checkRange(n, size); err != nil {
		return engine.Null, err
	}
	switch l.Operations {
	case "tail":
		return stretch(list, size-n, size), nil
	case "nth":
		return nth(list, n), nil
	case "filter":
		if err := filterOperators.check("operator", l.Filter.Operator); err != nil {
			return engine.Null, err
		}
		value, err := call.Render(ctx, &l.value, engine.TextStyle{})
		if err != nil {
			return engine.Null, err
		}
		return keep(list, func(e engine.Value) bool { return textMatches(e.Text(), l.Filter.Operator, value) }), nil
	case "sort":
		if err := sortMethods.check("sort_method", l.SortMethod); err != nil {
			return engine.Null, err
		}
		return sorted(list, l.SortMethod == "desc", memberNames(l.SortBy))
	case "drop_duplicates":
		seen := map[string]bool{}
		return keep(list, func(e engine.Value) bool {
			key := string(appendIdentity(nil, e))
			known := seen[key]
			seen[key] = true
			return !known
		}), nil
	}
	return stretch(list, 0, n), nil
}

// count reads an integer, also from a string; anything else is 0.
func count(v engine.Value) int {
	switch v.Kind() {
	case engine.KindNumber:
		n, _ := v.Int()
		return int(n)
	case engine.KindString:
		n, err := strconv.Atoi(strings.TrimSpace(v.Str()))
		if err == nil {
			return n
		}
	}
	return 0
}

// stretch returns the existing elements from one index up to another.
func stretch(list engine.Value, from, to int) engine.Value {
	var vals []engine.Value
	for i := max(from, 0); i < min(to, list.Len()); i++ {
		vals = append(vals, list.At(i))
	}
	return engine.List(vals...)
}

// checkRange returns an error for an n outside the list, in strict operations that use one.
func (l *ListOperations) checkRange(n, size int) error {
	at := n
	switch l.Operations {
	case "nth":
		at = max(n, -n)
	case "head", "tail", "topN":
	default:
		return nil
	}
	if !l.Strict || at >= 1 && at <= size {
		return nil
	}
	return fmt.Errorf("no element %d in a list of %d; strict requires an n within the list", n, size)
}

// nth returns a list of the n-th element, counted from the end if n is negative.
func nth(list engine.Value, n int) engine.Value {
	at := n - 1
	if n < 0 {
		at = list.Len() + n
	}
	if n == 0 || at < 0 {
		return engine.List()
	}
	return stretch(list, at, at+1)
}

func keep(list engine.Value, wanted func(engine.Value) bool) engine.Value {
	var vals []engine.Value
	for _, e := range list.Elements() {
		if wanted(e) {
			vals = append(vals, e)
		}
	}
	return engine.List(vals...)
}

// filter returns the stored word of the operator of a filter; none means "=". "is" and "is not" are
// words of other components.
func (o operators) filter(word string) string {
	switch word = o.stored(cmp.Or(word, "=")); strings.ToLower(word) {
	case "is":
		return "="
	case "is not":
		return "≠"
	}
	return word
}

// textMatches returns the comparison of filters, with one of filterOperators.
func textMatches(text, operator, value string) bool {
	switch operator {
	case "=":
		return text == value
	case "≠":
		return text != value
	case "contains":
		return strings.Contains(text, value)
	case "not contains":
		return !strings.Contains(text, value)
	case "empty":
		return text == ""
	case "not empty":
		return text != ""
	case "start with":
		return strings.HasPrefix(text, value)
	case "end with":
		return strings.HasSuffix(text, value)
	}
	return false
}

func memberNames(list string) []string {
	var names []string
	for _, name := range strings.Split(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// sorted returns a list in natural order; equal elements keep their order.
func sorted(list engine.Value, down bool, by []string) (engine.Value, error) {
	type entry struct{ key, value engine.Value }
	entries := make([]entry, list.Len())
	for i, e := range list.Elements() {
		entries[i] = entry{sortKey(e, by), e}
	}
	var failed error
	stable.Sort(entries, func(a, b entry) int {
		if down {
			a, b = b, a
		}
		c, err := order(a.key, b.key)
		if err != nil && failed == nil {
			failed = err
		}
		return c
	})
	vals := make([]engine.Value, len(entries))
	for i := range entries {
		vals[i] = entries[i].value
	}
	return engine.List(vals...), failed
}

var (
	_ engine.Component   = (*ListOperations)(nil)
	_ engine.Initializer = (*ListOperations)(nil)
	_ engine.Warner      = (*ListOperations)(nil)
)
