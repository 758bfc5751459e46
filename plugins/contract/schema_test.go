package contract

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func parse(t testing.TB, text string) engine.Value {
	t.Helper()
	v, err := engine.ParseJSONText(text)
	require.NoError(t, err, text)
	return v
}

func schemaOf(t testing.TB, text string) *Schema {
	t.Helper()
	s, err := ReadSchema("v", parse(t, text))
	require.NoError(t, err)
	return s
}

func TestSchemaCheck(t *testing.T) {
	for _, c := range []struct{ name, schema, value, want string }{
		{"an empty schema", `{}`, `{"a":1}`, ""},
		{"not a schema", `null`, `3`, ""},
		{"a type", `{"type":"string"}`, `1`, "v: want string, got number"},
		{"one of several types", `{"type":["string","null"]}`, `null`, ""},
		{"not one of several types", `{"type":["string","null"]}`, `true`, "v: want string or null, got boolean"},
		{"an integer", `{"type":"integer"}`, `1.5`, "v: want integer, got number"},
		{"an integer written with a fraction", `{"type":"integer"}`, `2.0`, ""},
		{"an integer written with an exponent", `{"type":"integer"}`, `1.25e2`, ""},
		{"an integer with 401 digits", `{"type":"integer"}`, `1e400`, ""},
		{"a fraction beyond float64", `{"type":"integer"}`, `9007199254740992.5`, "v: want integer, got number"},
		{"a fraction by its exponent", `{"type":"integer"}`, `12e-1`, "v: want integer, got number"},
		{"an integer by its exponent", `{"type":"integer"}`, `-1200e-2`, ""},
		{"zero with any exponent", `{"type":"integer"}`, `0e-99999999999999999999`, ""},
		{"a missing property", `{"type":"object","required":["a"]}`, `{}`, "v.a: missing"},
		{
			"a nested property", `{"properties":{"a":{"items":{"type":"string"}}}}`, `{"a":["x",2]}`,
			"v.a[1]: want string, got number",
		},
		{"a closed object", `{"additionalProperties":false}`, `{"b":1}`, "v.b: not declared"},
		{"an open object", `{"additionalProperties":true}`, `{"b":1}`, ""},
		{
			"a schema for additional properties", `{"additionalProperties":{"type":"string"}}`, `{"b":1}`,
			"v.b: want string, got number",
		},
		{"an enumeration", `{"enum":["a","b"]}`, `"c"`, "v: want one of [a b], got c"},
		{"an enumeration of objects", `{"enum":[{"a":1}]}`, `2`, `v: want one of [{"a": 1}], got 2`},
		{"a number in an enumeration", `{"enum":[1,2]}`, `2.0`, ""},
		{
			"a number in an enumeration", `{"enum":[9007199254740993]}`, `9007199254740992`,
			"v: want one of [9007199254740993], got 9007199254740992",
		},
		{"const", `{"const":"a"}`, `"b"`, "v: want a, got b"},
		{"const null", `{"const":null}`, `1`, "v: want null, got 1"},
		{"anyOf", `{"anyOf":[{"type":"string"},{"type":"number"}]}`, `true`, "v: want string, got boolean"},
		{"second of anyOf", `{"anyOf":[{"type":"string"},{"type":"number"}]}`, `1`, ""},
		{"range", `{"minimum":1,"maximum":2}`, `3`, "v: 3 is outside the allowed range"},
		{
			"a range beyond float64", `{"maximum":9007199254740992}`, `9007199254740993`,
			"v: 9007199254740993 is outside the allowed range",
		},
		{"length in characters", `{"maxLength":2}`, `"天气好"`, "v: 3 characters, want at most 2"},
		{"a number of items", `{"minItems":1}`, `[]`, "v: 0 items, want at least 1"},
		{"unknown keywords", `{"$ref":"#","colour":1}`, `{}`, ""},
		{"keywords in other case", `{"Type":"string"}`, `1`, ""},
		{"null keywords", `{"type":null,"items":null,"properties":{"a":null},"anyOf":[null]}`, `{"a":1}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := schemaOf(t, c.schema).Check("v", parse(t, c.value))
			if c.want == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, c.want)
			}
		})
	}
}

func TestSchemaRefusesWrongKeywords(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":3}`:                  "v.type: want array, got number",
		`{"type":"int"}`:              `v: type "int": want string, number`,
		`{"enum":"a"}`:                "v.enum: want array, got string",
		`{"required":["a",1]}`:        "v.required[1]: want string, got number",
		`{"properties":[]}`:           "v.properties: want object, got array",
		`{"properties":{"a":true}}`:   "v.a: want object, got boolean",
		`{"items":2}`:                 "v.items: want object, got number",
		`{"minimum":"x"}`:             "v.minimum: want number, got string",
		`{"maxLength":1.5}`:           "v.maxLength: want a whole number, got 1.5",
		`{"minItems":-1}`:             "v.minItems: want a whole number from 0",
		`{"x-easel-ref":"yes"}`:       "v.x-easel-ref: want boolean, got string",
		`{"anyOf":[{},{"items":[]}]}`: "v.anyOf[1].items: want object, got array",
		`[]`:                          "v: want object, got array",
	} {
		_, err := ReadSchema("v", parse(t, schema))
		require.ErrorContains(t, err, want, schema)
	}
}

func TestSchemaPlainForm(t *testing.T) {
	s := schemaOf(t, `{"x-easel-ref":true,"colour":1,"properties":{"b":{"type":["string"],"default":null},"a":{}},
		"type":"object","maximum":1.50,"description":"D","enum":[],"const":null,"additionalProperties":false}`)
	const want = `{"type":"object","description":"D","properties":{"a":{},"b":{"type":"string"}},` +
		`"additionalProperties":false,"const":null,"maximum":1.50,"x-easel-ref":true}`
	require.Equal(t, want, s.Value().JSON())
	again, err := ReadSchema("v", s.Value())
	require.NoError(t, err)
	require.Equal(t, want, again.Value().JSON())
}

func TestSchemaPresent(t *testing.T) {
	s := schemaOf(t, `{"type":"object","required":["r"],"properties":{"r":{"type":"string"},"o":{"type":"string"},
		"n":{"type":["string","null"]},"any":{},
		"list":{"type":"array","items":{"properties":{"o":{"type":"number"}}}}}}`)
	for value, want := range map[string]string{
		`{"r":null,"o":null,"n":null,"any":null,"more":null}`: `{"r":null,"n":null,"any":null,"more":null}`,
		`{"list":[{"o":null,"p":1},{"o":1}],"o":"x"}`:         `{"list":[{"p":1},{"o":1}],"o":"x"}`,
		`{"list":[null],"r":"x"}`:                             `{"list":[null],"r":"x"}`,
		`null`:                                                `null`,
	} {
		v := parse(t, value)
		require.Equal(t, want, s.Present(v).JSON())
		require.Equal(t, value, v.JSON(), "the value itself is not changed")
	}
	require.Equal(t, `{"a":null}`, (*Schema)(nil).Present(parse(t, `{"a":null}`)).JSON())
}

func TestSchemaCheckIsBounded(t *testing.T) {
	t.Run("steps", func(t *testing.T) {
		alternatives := strings.Repeat(`{"type":"string"},`, 1500) + `{"type":"boolean"}`
		list := make([]engine.Value, 1_000_000)
		for i := range list {
			list[i] = engine.Bool(true)
		}
		err := schemaOf(t, `{"items":{"anyOf":[`+alternatives+`]}}`).Check("v", engine.List(list...))
		require.ErrorContains(t, err, "too large to be checked")
	})
	t.Run("errors", func(t *testing.T) {
		err := schemaOf(t, `{"enum":["a"]}`).Check("v", engine.String(strings.Repeat("ä", 1<<20)))
		require.Less(t, len(err.Error()), 1000)
		err = schemaOf(t, `{"additionalProperties":false}`).Check("v", engine.Object(strings.Repeat("ä", 1<<20), 1))
		require.Less(t, len(err.Error()), 1000)
	})
}

// FuzzSchema checks any value with an untrusted schema: it never panics and never loops.
func FuzzSchema(f *testing.F) {
	f.Add(`{"type":"object","required":["a"],"properties":{"a":{"items":{"type":["string","null"]}}},`+
		`"additionalProperties":{"enum":[1]}}`, `{"a":["x",2],"b":1}`)
	f.Add(`{"anyOf":[{"const":[]},{"minimum":1,"maxLength":2}]}`, `"abc"`)
	f.Add(`[]`, `null`)
	f.Fuzz(func(t *testing.T, schema, value string) {
		s, err := engine.ParseJSONText(schema)
		if err != nil {
			return
		}
		v, err := engine.ParseJSONText(value)
		if err != nil {
			return
		}
		read, err := ReadSchema("v", s)
		if err != nil {
			return
		}
		_ = read.Check("v", v)
		again, err := ReadSchema("v", read.Value())
		require.NoError(t, err)
		require.Equal(t, read.Value().JSON(), again.Value().JSON())
		_, _ = (&Manifest{Outputs: read}).ReadAnswer(value)
	})
}
