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
	{Name: "pages", Type: schema.List, Items: &schema.Field{Type: schema.List, Items: &schema.Field{Type: schema.Integer}}},
	{Name: "any", Type: schema.Map},
	{Name: "part", Type: schema.Model, Object: &schema.Object{Name: "Part", Fields: []schema.Field{
		{Name: "word", Default: engine.String("x"), Least: schema.Bound(2)}, {Name: "flag", Type: schema.Boolean, Default: engine.Bool(false)},
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
	for body, want := range map[string]string{
		`{}`:                           "Field: <name> - Message: <Field required> - Value: <{}>",
		`{"name":""}`:                  "Field: <name> - Message: <String should have at least 1 character> - Value: <>",
		`{"name":" "}`:                 "Field: <name> - Message: <String should have at least 1 character> - Value: < >",
		`{"name":"` + long + `"}`:      "Field: <name> - Message: <String should have at most 5 characters> - Value: <" + strings.Repeat("é", 125) + "...>",
		`{"name":0}`:                   "Field: <name> - Message: <Input should be a valid string> - Value: <0>",
		`{"name":null}`:                "Field: <name> - Message: <Input should be a valid string> - Value: <None>",
		`{"name":"a","kind":"ME"}`:     "Field: <kind> - Message: <Input should be 'me', 'team' or 'all'> - Value: <ME>",
		`{"name":"a","kind":[]}`:       "Field: <kind> - Message: <Input should be 'me', 'team' or 'all'> - Value: <[]>",
		`{"name":"a","n":-1}`:          "Field: <n> - Message: <Input should be greater than or equal to 0> - Value: <-1>",
		`{"name":"a","n":33}`:          "Field: <n> - Message: <Input should be less than or equal to 32> - Value: <33>",
		`{"name":"a","n":3.14}`:        "Field: <n> - Message: <Input should be a valid integer> - Value: <3.14>",
		`{"name":"a","n":3.0}`:         "Field: <n> - Message: <Input should be a valid integer> - Value: <3.0>",
		`{"name":"a","n":"5"}`:         "Field: <n> - Message: <Input should be a valid integer> - Value: <5>",
		`{"name":"a","n":true}`:        "Field: <n> - Message: <Input should be a valid integer> - Value: <True>",
		`{"name":"a","share":1.1}`:     "Field: <share> - Message: <Input should be less than or equal to 1> - Value: <1.1>",
		`{"name":"a","share":"x"}`:     "Field: <share> - Message: <Input should be a valid number> - Value: <x>",
		`{"name":"a","on":"true"}`:     "Field: <on> - Message: <Input should be a valid boolean> - Value: <true>",
		`{"name":"a","pages":"1"}`:     "Field: <pages> - Message: <Input should be a valid list> - Value: <1>",
		`{"name":"a","pages":["1"]}`:   "Field: <pages.0> - Message: <Input should be a valid list> - Value: <1>",
		`{"name":"a","pages":[["b"]]}`: "Field: <pages.0.0> - Message: <Input should be a valid integer> - Value: <b>",
		`{"name":"a","any":[]}`:        "Field: <any> - Message: <Input should be a valid dictionary> - Value: <[]>",
		`{"name":"a","part":7}`:        "Field: <part> - Message: <Input should be a valid dictionary or instance of Part> - Value: <7>",
		`{"name":"a","part":{"word":"","y":1}}`: "Field: <part.word> - Message: <String should have at least 2 characters> - Value: <>\n" +
			"Field: <part.y> - Message: <Extra inputs are not permitted> - Value: <1>",
		`{"name":"a","even":3}`:   "Field: <even> - Message: <must be even> - Value: <3>",
		`{"name":"a","even":"x"}`: "Field: <even> - Message: <must be even> - Value: <x>",
		`{"name":"a","id":{"k":["it's",null]}}`: "Field: <id> - Message: <Extra inputs are not permitted> - Value: <{'k': [\"it's\", None]}>",
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
	require.EqualError(t, err,
		"Field: <n> - Message: <Input should be a valid integer, unable to parse string as an integer> - Value: <x>\n"+
			"Field: <on> - Message: <Input should be a valid boolean, unable to interpret input> - Value: <3.14>")
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
