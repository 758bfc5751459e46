package component_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestListOperations(t *testing.T) {
	const objects = `[{"b": 2, "a": 1}, {"a": 1, "b": 2.0}, {"a": 0}]`
	tests := []struct {
		name, params, list, want string
	}{
		{"topN gives the first n", `"operations": "topN", "n": 2`, `[3, 1, 2]`, `[3,1]`},
		{"head gives the first n", `"operations": "head", "n": 2`, `[3, 1, 2]`, `[3,1]`},
		{"head beyond the length gives all", `"operations": "head", "n": 9`, `[3, 1]`, `[3,1]`},
		{"head of 0 is empty", `"operations": "head", "n": 0`, `[3, 1]`, `[]`},
		{"head of a negative n is empty", `"operations": "head", "n": -1`, `[3, 1]`, `[]`},
		{"topN is the default and n is 0", `"x": 0`, `[3, 1]`, `[]`},
		{"n may be a string", `"operations": "head", "n": " 2"`, `[3, 1, 2]`, `[3,1]`},
		{"an n that is not a number counts as 0", `"operations": "head", "n": "two"`, `[3, 1, 2]`, `[]`},
		{"tail gives the last n", `"operations": "tail", "n": 2`, `[3, 1, 2]`, `[1,2]`},
		{"tail beyond the length gives all", `"operations": "tail", "n": 5`, `[3, 1, 2]`, `[3,1,2]`},
		{"tail of 0 is empty", `"operations": "tail"`, `[3, 1, 2]`, `[]`},
		{"nth counts from 1", `"operations": "nth", "n": 1`, `[3, 1, 2]`, `[3]`},
		{"nth counts back from -1", `"operations": "nth", "n": -1`, `[3, 1, 2]`, `[2]`},
		{"nth beyond the length is empty", `"operations": "nth", "n": -4`, `[3, 1, 2]`, `[]`},
		{"strict within the list", `"operations": "tail", "n": 2, "strict": true`, `[3, 1, 2]`, `[1,2]`},
		{"strict nth from the end", `"operations": "nth", "n": -3, "strict": true`, `[3, 1, 2]`, `[3]`},
		{"strict as a text", `"operations": "head", "n": 9, "strict": "false"`, `[3, 1]`, `[3,1]`},
		{"strict sort needs no n", `"operations": "sort", "strict": true`, `[3, 1]`, `[1,3]`},
		{"nth 0 is empty", `"operations": "nth", "n": 0`, `[3, 1, 2]`, `[]`},

		{
			"filter compares strings", `"operations": "filter", "filter": {"operator": "=", "value": "3"}`,
			`[3, "3", 30, null]`, `[3,"3"]`,
		},
		{"filter with not equal", `"operations": "filter", "filter": {"operator": "≠", "value": "3"}`, `[3, 1]`, `[1]`},
		{
			"filter with contains", `"operations": "filter", "filter": {"operator": "contains", "value": "\"a\": 1"}`,
			`[{"a": 1}, {"a": 2}]`, `[{"a":1}]`,
		},
		{
			"filter with start with", `"operations": "filter", "filter": {"operator": "start with", "value": "t"}`,
			`[true, "to", "at"]`, `[true,"to"]`,
		},
		{
			"filter with end with", `"operations": "filter", "filter": {"operator": "end with", "value": "0"}`,
			`[10, 1, 1.0]`, `[10,1.0]`,
		},
		{
			"filter value may contain references", `"operations": "filter", "filter": {"value": "{sys.query}"}`,
			`["Q", "{sys.query}"]`, `["Q"]`,
		},
		{"filter value may be a number", `"operations": "filter", "filter": {"value": 3}`, `[3, 4]`, `[3]`},
		{"filter without a value matches null", `"operations": "filter"`, `[null, 0, ""]`, `[null,""]`},
		{
			"filter with a synonym of an operator",
			`"operations": "filter", "filter": {"operator": "Is Not", "value": "3"}`, `[3, 4]`, `[4]`,
		},
		{
			"filter with not contains",
			`"operations": "filter", "filter": {"operator": "not contains", "value": "3"}`, `[3, 4, 30]`, `[4]`,
		},
		{"filter with empty", `"operations": "filter", "filter": {"operator": "empty"}`, `["", 4]`, `[""]`},
		{
			"filter with not empty", `"operations": "filter", "filter": {"operator": "exists"}`, `["", 4]`, `[4]`,
		},

		{"sort numbers by value", `"operations": "sort"`, `[3, 10, 2.5, -1]`, `[-1,2.5,3,10]`},
		{"sort strings by character", `"operations": "sort"`, `["b", "B", "a", "10", "9"]`, `["10","9","B","a","b"]`},
		{"sort descending", `"operations": "sort", "sort_method": "desc"`, `[3, 10, 2]`, `[10,3,2]`},
		{"sort lists by element", `"operations": "sort"`, `[[2, "x"], [1, "y"], [1]]`, `[[1],[1,"y"],[2,"x"]]`},
		{"sort objects by their members", `"operations": "sort"`, objects, `[{"a":0},{"b":2,"a":1},{"a":1,"b":2.0}]`},
		{
			"sort by members, missing ones first", `"operations": "sort", "sort_by": "b, a"`, objects,
			`[{"a":0},{"b":2,"a":1},{"a":1,"b":2.0}]`,
		},
		{
			"sort by members, descending", `"operations": "sort", "sort_by": "a", "sort_method": "desc"`, objects,
			`[{"b":2,"a":1},{"a":1,"b":2.0},{"a":0}]`,
		},
		{"sort of one element compares nothing", `"operations": "sort"`, `[null]`, `[null]`},

		{"duplicates are compared deeply", `"operations": "drop_duplicates"`, objects, `[{"b":2,"a":1},{"a":0}]`},
		{
			"duplicates are compared by value", `"operations": "drop_duplicates"`,
			`[1, 1.0, "1", true, [1], [1.0], null, null]`, `[1,"1",true,[1],null]`,
		},
		{
			"large integers are not rounded",
			`"operations": "drop_duplicates"`, `[12345678901234567890, 12345678901234567891]`,
			`[12345678901234567890,12345678901234567891]`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := one(t, `ListOperations {"query": "begin@l", `+tt.params+`}`, `{"l": `+tt.list+`}`)
			require.NoError(t, s.err)
			require.Equal(t, tt.want, s.outputs["X"].Get("result").JSON())
			result := value(t, tt.want)
			require.Equal(t, result.At(0).JSON(), s.outputs["X"].Get("first").JSON())
			require.Equal(t, result.At(result.Len()-1).JSON(), s.outputs["X"].Get("last").JSON())
			require.Equal(t, value(t, tt.list).JSON(), s.inputs["X"].Get("begin@l").JSON())
		})
	}
}

func TestListOperationsErrors(t *testing.T) {
	tests := []struct{ name, params, list, want string }{
		{"not a list", `"operations": "sort"`, `"text"`, "query {begin@l} must be a list, but it is a string"},
		{"mixed types cannot be sorted", `"operations": "sort"`, `[1, "a"]`, "sort: a "},
		{"booleans are not numbers", `"operations": "sort"`, `[1, true]`, "have no order"},
		{"nulls cannot be sorted", `"operations": "sort"`, `[null, null]`, "have no order"},
		{"object members of mixed types", `"operations": "sort"`, `[{"a": 1}, {"a": "x"}]`, "have no order"},
		{
			"strict nth beyond the length",
			`"operations": "nth", "n": 4, "strict": true`, `[1, 2]`, "nth: no element 4 in a list of 2",
		},
		{"strict nth 0", `"operations": "nth", "n": 0, "strict": true`, `[1]`, "nth: no element 0 in a list of 1"},
		{"strict head", `"operations": "head", "n": 3, "strict": true`, `[1, 2]`, "head: no element 3 in a list of 2"},
		{"strict tail", `"operations": "tail", "n": 0, "strict": "true"`, `[1]`, "tail: no element 0 in a list of 1"},
		{"strict topN", `"operations": "topN", "n": -1, "strict": "True"`, `[1]`, "topN: no element -1 in a list of 1"},
		{"strict and no number", `"operations": "head", "n": "x", "strict": true`, `[1]`, "head: no element 0 in"},
		{
			"unknown operator", `"operations": "filter", "filter": {"operator": "zz"}`, `[1]`,
			`filter: operator "zz" is not supported; use =, ≠, contains,`,
		},
		{
			"unknown sort method", `"operations": "sort", "sort_method": "down"`, `[1]`,
			`sort: sort_method "down" is not supported; use asc or desc`,
		},
		{
			"unknown reference in the filter", `"operations": "filter", "filter": {"value": "{env.nope}"}`, `[1]`,
			"Can't find variable: 'env.nope'",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := one(t, `ListOperations {"query": "begin@l", `+tt.params+`}`, `{"l": `+tt.list+`}`)
			require.ErrorContains(t, s.err, tt.want)
		})
	}
	require.Contains(t, refused(t, `begin Begin`, `X ListOperations {"query": "sys.files", "operations": "shuffle"}`),
		"parameter operations")
	require.Contains(t, refused(t, `begin Begin`, `X ListOperations`), "parameter query")
}
