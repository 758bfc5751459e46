package plugin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGoldenMessages reads the golden messages of the contract with the types of
// this host.
func TestGoldenMessages(t *testing.T) {
	files, err := filepath.Glob("../../../plugins/contract/golden/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			var g struct {
				Valid   bool
				Message json.RawMessage
			}
			require.NoError(t, json.Unmarshal(raw, &g))
			kind, _, _ := strings.Cut(filepath.Base(file), ".")
			switch kind {
			case "manifest":
				_, err = ParseManifest(g.Message)
			case "output":
				_, err = (&Module{manifest: &Manifest{}}).output(Result{Output: g.Message})
			case "error":
				if e := guestError(g.Message, 1); e.Message == string(g.Message) {
					err = e // taken as text
				}
			case "input":
				var in inputMessage
				err = json.Unmarshal(g.Message, &in)
				if err == nil && in.Call.ID == "" {
					err = InvalidArgument
				}
			case "progress":
				e, _ := readEmission(Progress, g.Message)
				require.LessOrEqual(t, e.Pct, 100.0)
				return
			case "partial":
				_, ok := readEmission(Partial, g.Message)
				require.Equal(t, g.Valid, ok)
				return
			default: // call and answer are played in the tests of the operations
				return
			}
			require.Equal(t, g.Valid, err == nil, "%v", err)
		})
	}
}

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
