package schema_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/schema"
)

// sample has a field of each type.
var sample = &schema.Object{Name: "Sample", Fields: []schema.Field{
	{Name: "name", Required: true, Trim: true, Least: schema.Bound(1), Most: schema.Bound(5)},
	{Name: "kind", Type: schema.Choice, Values: []string{"me", "team", "all"}, Default: engine.String("me")},
	{Name: "n", Type: schema.Integer, Least: schema.Bound(0), Most: schema.Bound(32), Default: engine.Int(7)},
	{Name: "share", Type: schema.Number, Null: true, Least: schema.Bound(0), Most: schema.Bound(1)},
	{Name: "on", Type: schema.Boolean},
	{Name: "pages", Type: schema.List, Items: &schema.Field{
		Type: schema.List, Items: &schema.Field{Type: schema.Integer},
	}},
	{Name: "any", Type: schema.Map},
	{Name: "part", Type: schema.Model, Object: &schema.Object{Name: "Part", Fields: []schema.Field{
		{Name: "word", Default: engine.String("x"), Least: schema.Bound(2)},
		{Name: "flag", Type: schema.Boolean, Default: engine.Bool(false)},
	}}},
	{Name: "even", Type: schema.Integer, Wrong: "must be even", After: func(v engine.Value) (engine.Value, string) {
		if n, _ := v.Int(); n%2 != 0 {
			return v, "odd"
		}
		return v, ""
	}},
}}

func parse(t *testing.T, text string) engine.Value {
	t.Helper()
	v, err := engine.ParseJSONText(text)
	require.NoError(t, err)
	return v
}

func TestBodyProblems(t *testing.T) {
	long := strings.Repeat("é", 200)
	line := func(field, message, value string) string {
		return "Field: <" + field + "> - Message: <" + message + "> - Value: <" + value + ">"
	}
	const oneOf, integer = "Input should be 'me', 'team' or 'all'", "Input should be a valid integer"
	for body, want := range map[string]string{
		`{}`:                           line("name", "Field required", "{}"),
		`{"name":""}`:                  line("name", "String should have at least 1 character", ""),
		`{"name":" "}`:                 line("name", "String should have at least 1 character", " "),
		`{"name":"` + long + `"}`:      line("name", "String should have at most 5 characters", long[:250]+"..."),
		`{"name":0}`:                   line("name", "Input should be a valid string", "0"),
		`{"name":null}`:                line("name", "Input should be a valid string", "None"),
		`{"name":"a","kind":"ME"}`:     line("kind", oneOf, "ME"),
		`{"name":"a","kind":[]}`:       line("kind", oneOf, "[]"),
		`{"name":"a","n":-1}`:          line("n", "Input should be greater than or equal to 0", "-1"),
		`{"name":"a","n":33}`:          line("n", "Input should be less than or equal to 32", "33"),
		`{"name":"a","n":3.14}`:        line("n", integer, "3.14"),
		`{"name":"a","n":3.0}`:         line("n", integer, "3.0"),
		`{"name":"a","n":"5"}`:         line("n", integer, "5"),
		`{"name":"a","n":true}`:        line("n", integer, "True"),
		`{"name":"a","share":1.1}`:     line("share", "Input should be less than or equal to 1", "1.1"),
		`{"name":"a","share":"x"}`:     line("share", "Input should be a valid number", "x"),
		`{"name":"a","on":"true"}`:     line("on", "Input should be a valid boolean", "true"),
		`{"name":"a","pages":"1"}`:     line("pages", "Input should be a valid list", "1"),
		`{"name":"a","pages":["1"]}`:   line("pages.0", "Input should be a valid list", "1"),
		`{"name":"a","pages":[["b"]]}`: line("pages.0.0", integer, "b"),
		`{"name":"a","any":[]}`:        line("any", "Input should be a valid dictionary", "[]"),
		`{"name":"a","part":7}`:        line("part", "Input should be a valid dictionary or instance of Part", "7"),
		`{"name":"a","part":{"word":"","y":1}}`: line("part.word", "String should have at least 2 characters", "") +
			"\n" + line("part.y", "Extra inputs are not permitted", "1"),
		`{"name":"a","even":3}`:                 line("even", "must be even", "3"),
		`{"name":"a","even":"x"}`:               line("even", "must be even", "x"),
		`{"name":"a","id":{"k":["it's",null]}}`: line("id", "Extra inputs are not permitted", `{'k': ["it's", None]}`),
	} {
		_, err := sample.Body(parse(t, body))
		require.EqualError(t, err, want, body)
	}
}

func TestBodyFillsDefaultsAndKeepsWhatWasGiven(t *testing.T) {
	in, err := sample.Body(parse(t, `{"name":" a ","part":{"flag":true},"share":null}`))
	require.NoError(t, err)
	require.Equal(t, "a", in.Get("name").Str())
	require.Equal(t, `{"word":"x","flag":true}`, in.Get("part").JSON())
	require.Equal(t, `7`, in.Get("n").JSON())
	require.Equal(t, `{"name":"a","share":null,"part":{"flag":true}}`, in.Given.JSON())
	require.True(t, in.Has("share"))
	require.False(t, in.Has("n"))
}

func TestQueryReadsTexts(t *testing.T) {
	in, err := sample.Query(parse(t, `{"name":"a","n":"5","on":"Yes","share":"0.5"}`))
	require.NoError(t, err)
	require.Equal(t, `{"name":"a","n":5,"share":0.5,"on":true}`, in.Given.JSON())
	_, err = sample.Query(parse(t, `{"name":"a","n":"x","on":"3.14"}`))
	require.ErrorContains(t, err, "valid integer, unable to parse string as an integer> - Value: <x>\n")
	require.ErrorContains(t, err, "Input should be a valid boolean, unable to interpret input> - Value: <3.14>")
}

func TestWholeObjectIsCheckedLast(t *testing.T) {
	o := &schema.Object{
		Name: "Pair", Loose: true,
		Fields: []schema.Field{{Name: "a", Null: true}, {Name: "b", Null: true}},
		Check: func(in *schema.Input) string {
			if in.Get("a").IsNull() != in.Get("b").IsNull() {
				return "a and b belong together"
			}
			return ""
		},
	}
	_, err := o.Body(parse(t, `{"a":"x","c":1}`))
	require.EqualError(t, err, "Field: <> - Message: <a and b belong together> - Value: <{'a': 'x', 'c': 1}>")
	_, err = o.Body(parse(t, `{"a":1}`))
	require.EqualError(t, err, "Field: <a> - Message: <Input should be a valid string> - Value: <1>")
}

func TestReprIsPythons(t *testing.T) {
	for text, want := range map[string]string{
		"x": `'x'`, "it's": `"it's"`, `a"b`: `'a"b'`, `it's "b"`: `'it\'s "b"'`,
		"\n!?。；！？\"'": `'\n!?。；！？"\''`, "\x00\u2028": `'\x00\u2028'`, `\`: `'\\'`,
	} {
		require.Equal(t, want, schema.ReprText(text))
	}
	require.Equal(t, `{'a': [1, True, None, 'x']}`, schema.Repr(parse(t, `{"a":[1,true,null,"x"]}`)))
	for text, want := range map[string]string{
		`1`: "int", `1.5`: "float", `"a"`: "str", `[]`: "list", `{}`: "dict", `null`: "NoneType", `true`: "bool",
	} {
		require.Equal(t, want, schema.TypeName(parse(t, text)))
	}
}
