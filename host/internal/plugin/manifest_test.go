package plugin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
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

func TestSchemasOfStrangersAreBounded(t *testing.T) {
	manifest := func(outputs string) error {
		_, err := ParseManifest([]byte(`{"abi":1,"name":"a","version":"1.0.0","description":"d","outputs":` + outputs + `}`))
		return err
	}
	nested := strings.Repeat(`{"type":"object","properties":{"a":`, 60) + "{}" + strings.Repeat("}}", 60)
	for name, c := range map[string]struct{ outputs, want string }{
		"an unknown type":    {`{"type":"object","properties":{"a":{"type":"int"}}}`, `outputs.a: type "int": want string, number`},
		"nested too deep":    {nested, "nested more than 50 deep"},
		"too many":           {`{"type":"object","anyOf":[` + strings.Repeat("{},", 3000) + `{}]}`, "more than 2000 schemas"},
		"too large":          {`{"type":"object","description":"` + strings.Repeat("x", maxManifest) + `"}`, "allowed are 262144"},
		"deep beyond JSON":   {strings.Repeat(`{"additionalProperties":`, 20_000) + "{}" + strings.Repeat("}", 20_000), "manifest"},
		"an empty property":  {`{"type":"object","properties":{"a":null},"anyOf":[null],"items":null}`, ""},
		"nothing but a type": {`{"type":"object","additionalProperties":{"type":["string","null"]}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := manifest(c.outputs)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, BadManifest)
			require.ErrorContains(t, err, c.want)
		})
	}
	t.Run("a check has an end", func(t *testing.T) {
		alternatives := strings.Repeat(`{"type":"string"},`, 1500) + `{"type":"boolean"}`
		var s Schema
		require.NoError(t, json.Unmarshal([]byte(`{"items":{"anyOf":[`+alternatives+`]}}`), &s))
		list := make([]any, 1_000_000)
		for i := range list {
			list[i] = true
		}
		require.ErrorContains(t, s.Check("v", list), "too large to be checked")
	})
	t.Run("errors stay short", func(t *testing.T) {
		var s Schema
		require.NoError(t, json.Unmarshal([]byte(`{"enum":["a"]}`), &s))
		require.Less(t, len(s.Check("v", strings.Repeat("ä", 1<<20)).Error()), 1000)
	})
}

func TestManifestHoldsNoControlCharacters(t *testing.T) {
	for text, ok := range map[string]bool{`a line\nand\ta tab, \\u001b is text`: true, `plain`: true, `\u001b[2J`: false, `\u009b`: false, `\b`: false, `two\nlines\t\r`: true, `\u00e5`: true} {
		_, err := ParseManifest([]byte(`{"abi":1,"name":"a","version":"1.0.0","description":"` + text + `"}`))
		require.Equal(t, ok, err == nil, "%s: %v", text, err)
	}
}

// FuzzManifest reads what strangers write. What is accepted says the same when it is written and
// read again, and its permissions obey the laws of cutting.
func FuzzManifest(f *testing.F) {
	files, err := filepath.Glob(filepath.Join(contractDir, "golden/manifest.*.json"))
	require.NoError(f, err)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(f, err)
		var g golden
		require.NoError(f, json.Unmarshal(raw, &g))
		f.Add([]byte(g.Message), []byte(`{"a":[1,"x",null]}`))
	}
	f.Fuzz(func(t *testing.T, raw, value []byte) {
		m, err := ParseManifest(raw)
		if err != nil {
			require.IsType(t, &Error{}, err)
			return
		}
		written, err := json.Marshal(m)
		require.NoError(t, err)
		again, err := ParseManifest(written)
		require.NoError(t, err, string(written))
		twice, err := json.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, string(written), string(twice))
		p := m.Permissions
		require.Empty(t, p.Beyond(p))
		require.Empty(t, p.Cut(p).Beyond(p))
		none := p.Cut(Permissions{})
		require.Nil(t, none.HTTP)
		require.Empty(t, none.Secrets)
		var v any
		if json.Unmarshal(value, &v) == nil {
			for _, s := range []*Schema{m.Params, m.Arguments, m.Outputs} {
				if err := s.Check("v", v); err != nil {
					require.NotEmpty(t, err.Error())
				}
			}
		}
	})
}
