package component_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDataOperations(t *testing.T) {
	const inputs = `{"o": {"b": 2, "a": 1}, "l": [{"a": 1, "b": [3]}, "text", {"a": "x"}], "s": "plain"}`
	tests := []struct{ name, params, want string }{
		{
			"select_keys keeps the order of the object",
			`"operations": "select_keys", "select_keys": ["a", "zz", "b"]`,
			`[{"b":2,"a":1},{"a":1,"b":[3]},{"a":"x"}]`,
		},
		{"remove_keys", `"operations": "remove_keys", "remove_keys": ["a", "zz"]`, `[{"b":2},{"b":[3]},{}]`},
		{
			"rename_keys moves the member to the end",
			`"operations": "rename_keys", "rename_keys": [{"old_key": "b", "new_key": "z"}]`,
			`[{"a":1,"z":2},{"a":1,"z":[3]},{"a":"x"}]`,
		},
		{
			"rename_keys ignores blank and equal names",
			`"operations": "rename_keys", "rename_keys": [{"old_key": "a", "new_key": " "}, ` +
				`{"old_key": "b", "new_key": "b"}]`, `[{"b":2,"a":1},{"a":1,"b":[3]},{"a":"x"}]`,
		},
		{"combine collects repeated keys in lists", `"operations": "combine"`, `{"b":[2,3],"a":[1,1,"x"]}`},
		{
			"filter_values keeps objects that match all rules",
			`"operations": "filter_values", "filter_values": [{"key": "a", "operator": "=", "value": 1}, ` +
				`{"key": "b", "operator": "contains", "value": "3"}]`, `[{"a":1,"b":[3]}]`,
		},
		{
			"filter_values drops objects without the member",
			`"operations": "filter_values", "filter_values": [{"key": "b", "operator": "≠", "value": "zz"}]`,
			`[{"b":2,"a":1},{"a":1,"b":[3]}]`,
		},
		{
			"filter_values accepts references",
			`"operations": "filter_values", "filter_values": [{"key": "a", "operator": "=", "value": "{begin@o.a}"}]`,
			`[{"b":2,"a":1},{"a":1,"b":[3]}]`,
		},
		{
			"filter_values without an operator compares texts",
			`"operations": "filter_values", "filter_values": [{"key": "a", "value": "1"}]`,
			`[{"b":2,"a":1},{"a":1,"b":[3]}]`,
		},
		{
			"filter_values without rules keeps all", `"operations": "filter_values"`,
			`[{"b":2,"a":1},{"a":1,"b":[3]},{"a":"x"}]`,
		},
		{
			"append_or_update sets strings",
			`"operations": "append_or_update", "updates": [{"key": "a", "value": 0}, {"key": "q", "value": "v ` +
				`{sys.query} w"}, {"key": " ", "value": "x"}]`,
			`[{"b":2,"a":"0","q":"v Q w"},{"a":"0","b":[3],"q":"v Q w"},{"a":"0","q":"v Q w"}]`,
		},
		{
			"append_or_update keeps a value that resolves to empty text",
			`"operations": "append_or_update", "updates": [{"key": "q", "value": "{begin@nope}"}]`,
			`[{"b":2,"a":1,"q":"{begin@nope}"},{"a":1,"b":[3],"q":"{begin@nope}"},{"a":"x","q":"{begin@nope}"}]`,
		},
		{"literal_eval keeps text that is not a literal", `"x": 0`, `[{"b":2,"a":1},{"a":1,"b":[3]},{"a":"x"}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := one(t, `DataOperations {"query": ["begin@o", "{begin@l}", "begin@s"], `+tt.params+`}`, inputs)
			require.NoError(t, s.err)
			require.Equal(t, tt.want, s.outputs["X"].Get("result").JSON())
			require.Equal(t, value(t, inputs).JSON(), value(t, `{"o":`+s.inputs["X"].Get("begin@o").JSON()+`,"l":`+
				s.inputs["X"].Get("begin@l").JSON()+`,"s":`+s.inputs["X"].Get("begin@s").JSON()+`}`).JSON())
		})
	}
}

func TestDataOperationsQuery(t *testing.T) {
	s := one(t, `DataOperations {"query": "begin@o", "operations": "combine"}`, `{"o": {"a": 1}}`)
	require.Equal(t, `{"a":1}`, s.outputs["X"].Get("result").JSON(), "one reference may stand alone")
	s = one(t, `DataOperations {"operations": "select_keys"}`, `{}`)
	require.Equal(t, `[]`, s.outputs["X"].Get("result").JSON())
	s = one(t, `DataOperations {"query": ["Nope@x"]}`, `{}`)
	require.ErrorContains(t, s.err, "Can't find variable: 'Nope@x'")
	s = one(t,
		`DataOperations {"query": ["begin@o"], "operations": "append_or_update", "updates": `+
			`[{"key": "a", "value": "{env.nope}"}]}`, `{}`)
	require.ErrorContains(t, s.err, "updates[0]: ")
	require.Contains(t, refused(t, `begin Begin`, `X DataOperations {"operations": "recursive_eval"}`),
		"parameter operations")
}

func TestLiteralEval(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{
			"dict, list, tuple and keywords", `"{'a': [1, (2, None)], \"b\": True, 'c': False}"`,
			`{"a":[1,[2,null]],"b":true,"c":false}`,
		},
		{"a set becomes a list", `"{1, 'x'}"`, `[1,"x"]`},
		{"an empty dict and an empty tuple", `"[{}, ()]"`, `[{},[]]`},
		{"parentheses alone are not a tuple", `"(1)"`, `1`},
		{"a tuple with one element", `"(1,)"`, `[1]`},
		{"a trailing comma", `"[1, 2, ]"`, `[1,2]`},
		{"unquoted names become strings", `"{1: 'a', True: 'b', None: 'c'}"`, `{"1":"a","true":"b","null":"c"}`},
		{"numbers", `"[1, -2, +3, 1.50, .5, 5., 1e3, 00]"`, `[1,-2,3,1.50,0.5,5.0,1000.0,0]`},
		{"adjacent strings are joined", `"'a' \"b\""`, `"ab"`},
		{"escapes", `"'\\n\\x41\\u00e9\\101\\q'"`, `"\nAéA\\q"`},
		{"triple quotes", `"'''it's'''"`, `"it's"`},
		{"a number", `" 42 "`, `42`},
		{"a version is not a number", `"1.2.3"`, `"1.2.3"`},
		{"digits with leading zeros are not a number", `"007"`, `"007"`},
		{"JSON keywords are strings", `"true"`, `"true"`},
		{"Python keywords are values", `"True"`, `true`},
		{"prose in brackets is kept", `"[see above]"`, `"[see above]"`},
		{"a missing bracket is kept", `"[1, 2"`, `"[1, 2"`},
		{"a missing comma is kept", `"[1 2]"`, `"[1 2]"`},
		{"two commas are kept", `"[1,, 2]"`, `"[1,, 2]"`},
		{"a lone comma is kept", `"[,]"`, `"[,]"`},
		{"a list as a key is kept", `"{[1]: 2}"`, `"{[1]: 2}"`},
		{"trailing text is kept", `"{'a': 1} or so"`, `"{'a': 1} or so"`},
		{"an unclosed string is kept", `"'abc"`, `"'abc"`},
		{"inside lists and objects", `[{"k": "[1]"}]`, `[{"k":[1]}]`},
		{"other values are kept", `[1.0, null, true, ""]`, `[1.0,null,true,""]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := one(t, `DataOperations {"query": ["begin@o"]}`, `{"o": {"value": {"x": `+tt.text+`}}}`)
			require.NoError(t, s.err)
			require.Equal(t, `[{"x":`+tt.want+`}]`, s.outputs["X"].Get("result").JSON())
		})
	}
}
