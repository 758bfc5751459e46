package node

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// TestSchemaCheck holds the same table as the plugin host's schema.
func TestSchemaCheck(t *testing.T) {
	for _, c := range []struct{ name, schema, value, want string }{
		{"nothing said, everything allowed", `{}`, `{"a":1}`, ""},
		{"no schema at all", `null`, `3`, ""},
		{"a type", `{"type":"string"}`, `1`, "v: want string, got number"},
		{"one of several types", `{"type":["string","null"]}`, `null`, ""},
		{"none of several types", `{"type":["string","null"]}`, `true`, "v: want string or null, got boolean"},
		{"an integer", `{"type":"integer"}`, `1.5`, "v: want integer, got number"},
		{"an integer written with a fraction", `{"type":"integer"}`, `2.0`, ""},
		{"a missing property", `{"type":"object","required":["a"]}`, `{}`, "v.a: missing"},
		{"a nested place", `{"properties":{"a":{"items":{"type":"string"}}}}`, `{"a":["x",2]}`, "v.a[1]: want string, got number"},
		{"a closed object", `{"additionalProperties":false}`, `{"b":1}`, "v.b: not declared"},
		{"an open object", `{"additionalProperties":true}`, `{"b":1}`, ""},
		{"a schema for the rest", `{"additionalProperties":{"type":"string"}}`, `{"b":1}`, "v.b: want string, got number"},
		{"an enumeration", `{"enum":["a","b"]}`, `"c"`, "v: want one of [a b], got c"},
		{"a number of an enumeration", `{"enum":[1,2]}`, `2`, ""},
		{"a constant", `{"const":"a"}`, `"b"`, "v: want a, got b"},
		{"any of", `{"anyOf":[{"type":"string"},{"type":"number"}]}`, `true`, "v: want string, got boolean"},
		{"the second of any", `{"anyOf":[{"type":"string"},{"type":"number"}]}`, `1`, ""},
		{"a range", `{"minimum":1,"maximum":2}`, `3`, "v: 3 is outside the allowed range"},
		{"a length in characters", `{"maxLength":2}`, `"天气好"`, "v: 3 characters, want at most 2"},
		{"a number of items", `{"minItems":1}`, `[]`, "v: 0 items, want at least 1"},
		{"unknown keywords are ignored", `{"$ref":"#","colour":1}`, `{}`, ""},
		{"keywords of the wrong kind are ignored", `{"type":3,"enum":"a","required":1,"properties":[],"minimum":"x","items":2}`, `{"a":[1]}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Schema{parse(t, c.schema)}.Check("v", parse(t, c.value))
			if c.want == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, c.want)
			}
		})
	}
}

func parse(t testing.TB, text string) engine.Value {
	t.Helper()
	v, err := engine.ParseJSONText(text)
	require.NoError(t, err, text)
	return v
}

// FuzzSchema has the schema of a stranger meet any value: it never panics and never loops.
func FuzzSchema(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"type":"object","required":["a"],"properties":{"a":{"items":{"type":["string","null"]}}},"additionalProperties":{"enum":[1]}}`, `{"a":["x",2],"b":1}`},
		{`{"anyOf":[{"const":[]},{"minimum":1,"maxLength":2}]}`, `"abc"`},
		{`[]`, `null`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, schema, value string) {
		s, err := engine.ParseJSONText(schema)
		if err != nil {
			return
		}
		v, err := engine.ParseJSONText(value)
		if err != nil {
			return
		}
		_ = Schema{s}.Check("v", v)
		m, err := ReadManifest(engine.Object("name", "a", "version", "1.0.0", "params", s, "arguments", s, "outputs", s))
		if err != nil {
			return
		}
		shelf := &Shelf{}
		spec := shelf.spec("plugin:a@1", "a@1", m)
		spec.Describe()
		_, _ = m.ReadAnswer(value)
	})
}
