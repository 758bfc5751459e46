package component_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

func TestStringTransformSplit(t *testing.T) {
	tests := []struct {
		name, params, text, want string
	}{
		{"split at every delimiter, empty parts are kept", `"delimiters": [",", ";"]`, `"a,b;;c"`, `["a","b","","c"]`},
		{"the first delimiter in the list wins", `"delimiters": [";", ";;"]`, `"a,b;;c"`, `["a,b","","c"]`},
		{"a longer delimiter can come first", `"delimiters": [";;", ";"]`, `"a;;b;c"`, `["a","b","c"]`},
		{"the comma is the default", `"x": 0`, `"a,b"`, `["a","b"]`},
		{"delimiters are not regular expressions", `"delimiters": ["."]`, `"a.b*c"`, `["a","b*c"]`},
		{"an empty delimiter splits nothing", `"delimiters": [""]`, `"ab"`, `["ab"]`},
		{"null, 0 and an empty list become empty text", `"delimiters": [","]`, `null`, `[""]`},
		{"0 becomes empty text", `"delimiters": [","]`, `0`, `[""]`},
		{"characters are not split", `"delimiters": ["ü"]`, `"aüöü"`, `["a","ö",""]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := one(t, `StringTransform {"method": "split", "split_ref": "begin@t", `+tt.params+`}`,
				`{"t": `+tt.text+`}`)
			require.NoError(t, s.err)
			require.Equal(t, tt.want, s.outputs["X"].Get("result").JSON())
			require.Equal(t, `{}`, s.inputs["X"].JSON())
		})
	}
	s := one(t, `StringTransform {"split_ref": "{begin@t}"}`, `{"t": 5}`)
	require.ErrorContains(t, s.err, "split_ref {begin@t} must be a text, but it is a number")
}

func TestStringTransformMerge(t *testing.T) {
	const inputs = `{"l": [3, null, "x"], "o": {"k": [1]}, "z": 0, "t": true, "n": null, "e": []}`
	tests := []struct {
		name, params, want string
	}{
		{"a list is joined with the first delimiter", `"script": "{begin@l}", "delimiters": ["/", ","]`, `3//x`},
		{"an empty delimiter joins directly", `"script": "{begin@l}", "delimiters": [""]`, `3x`},
		{
			"other values are shown as in a message",
			`"script": "{begin@o} {begin@z} {begin@t} [{begin@n}{begin@e}]"`,
			`{"k": [1]} 0 true []`,
		},
		{
			"jinja sees the joined text",
			`"script": "{% for c in {begin@l} %}{{ c }}.{% endfor %}", "delimiters": ["+"]`,
			`3.+.+.x.`,
		},
		{"jinja works on its own values", `"script": "{% for i in [1,2] %}{{ i }}{begin@z} {% endfor %}"`, `10 20 `},
		{"an empty script gives empty text", `"script": null`, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := one(t, `StringTransform {"method": "merge", `+tt.params+`}`, inputs)
			require.NoError(t, s.err)
			require.Equal(t, tt.want, s.outputs["X"].Get("result").Str())
		})
	}
}

func TestStringTransformAlone(t *testing.T) {
	c, err := engine.Load(registry(t), sketch.Bytes(`begin Begin -> X`, `X StringTransform {"split_ref": "begin@t"}`))
	require.NoError(t, err)
	for _, given := range []string{`{"line": {"value": "a,b"}}`, `{"begin@t": "a,b"}`} {
		out, err := c.Debug(t.Context(), c.State(), "X", value(t, given), engine.Options{})
		require.NoError(t, err)
		require.Equal(t, `["a","b"]`, out.Get("result").JSON())
	}
}

func TestStringTransformIsRefused(t *testing.T) {
	require.Contains(t, refused(t, `begin Begin`, `X StringTransform {"method": "cut"}`), "parameter method")
	require.Contains(t, refused(t, `begin Begin`, `X StringTransform {"delimiters": []}`), "parameter delimiters")
}
