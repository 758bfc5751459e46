package plugin

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSchemaCheck(t *testing.T) {
	for _, c := range []struct{ name, schema, value, want string }{
		{"nothing said, everything allowed", `{}`, `{"a":1}`, ""},
		{"a type", `{"type":"string"}`, `1`, "v: want string, got number"},
		{"one of several types", `{"type":["string","null"]}`, `null`, ""},
		{"an integer", `{"type":"integer"}`, `1.5`, "v: want integer, got number"},
		{"a missing property", `{"type":"object","required":["a"]}`, `{}`, "v.a: missing"},
		{"a nested place", `{"properties":{"a":{"items":{"type":"string"}}}}`, `{"a":["x",2]}`, "v.a[1]: want string, got number"},
		{"a closed object", `{"additionalProperties":false}`, `{"b":1}`, "v.b: not declared"},
		{"a schema for the rest", `{"additionalProperties":{"type":"string"}}`, `{"b":1}`, "v.b: want string, got number"},
		{"an enumeration", `{"enum":["a","b"]}`, `"c"`, "v: want one of [a b], got c"},
		{"a constant", `{"const":"a"}`, `"b"`, "v: want a, got b"},
		{"any of", `{"anyOf":[{"type":"string"},{"type":"number"}]}`, `true`, "v: want string, got boolean"},
		{"a range", `{"minimum":1,"maximum":2}`, `3`, "v: 3 is outside the allowed range"},
		{"a length in characters", `{"maxLength":2}`, `"天气好"`, "v: 3 characters, want at most 2"},
		{"a number of items", `{"minItems":1}`, `[]`, "v: 0 items, want at least 1"},
		{"unknown keywords are ignored", `{"$ref":"#","colour":1}`, `{}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s Schema
			require.NoError(t, json.Unmarshal([]byte(c.schema), &s))
			var v any
			require.NoError(t, json.Unmarshal([]byte(c.value), &v))
			err := s.Check("v", v)
			if c.want == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, c.want)
			}
		})
	}
}

func TestOlder(t *testing.T) {
	require.True(t, older("0.4.2", "0.10"))
	require.True(t, older("0.4", "0.4.1"))
	require.False(t, older("0.4.2", "0.4"))
	require.False(t, older("1.0", "0.9.9"))
}
