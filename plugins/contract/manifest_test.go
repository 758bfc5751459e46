package contract

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func TestOlder(t *testing.T) {
	require.True(t, older("0.4.2", "0.10"))
	require.True(t, older("0.4", "0.4.1"))
	require.False(t, older("0.4.2", "0.4"))
	require.False(t, older("1.0", "0.9.9"))
}

func TestSchemasOfStrangersAreBounded(t *testing.T) {
	manifest := func(outputs string) error {
		const start = `{"abi":1,"name":"a","version":"1.0.0","description":"d","outputs":`
		_, err := ParseManifest([]byte(start + outputs + `}`))
		return err
	}
	nested := strings.Repeat(`{"type":"object","properties":{"a":`, 60) + "{}" + strings.Repeat("}}", 60)
	for name, c := range map[string]struct{ outputs, want string }{
		"an unknown type": {
			`{"type":"object","properties":{"a":{"type":"int"}}}`,
			`outputs.a: type "int": want string, number`,
		},
		"nested too deep": {nested, "nested more than 50 deep"},
		"too many": {
			`{"type":"object","anyOf":[` + strings.Repeat("{},", 3000) + `{}]}`,
			"more than 2000 schemas",
		},
		"too large": {
			`{"type":"object","description":"` + strings.Repeat("x", maxManifest) + `"}`,
			"allowed are 262144",
		},
		"deep beyond JSON": {
			strings.Repeat(`{"additionalProperties":`, 20_000) + "{}" + strings.Repeat("}", 20_000),
			"manifest",
		},
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
}

func TestManifestHoldsNoHiddenCharacters(t *testing.T) {
	for text, ok := range map[string]bool{
		`a line\nand\ta tab, \\u001b is text`: true, `plain`: true,
		`rtl \u202egpj.exe`: false, `zero\u200bwidth`: false, "a\u3164b": false,
		"a\u034fb": false, "a\U000e0100b": false, "\u2764\ufe0f": true,
		`\ufeff`: false, `soft\u00adhyphen`: false, `\u0645\u06cc\u200c\u062e \ud83d\udc69\u200d\ud83d\udd2c`: true,
		`\u001b[2J`: false, `\u009b`: false, `\b`: false,
		`two\nlines\t\r`: true, `\u00e5`: true,
	} {
		_, err := ParseManifest([]byte(`{"abi":1,"name":"a","version":"1.0.0","description":"` + text + `"}`))
		require.Equal(t, ok, err == nil, "%s: %v", text, err)
	}
	const label = `{"abi":1,"name":"a","version":"1.0.0","description":"d","display":{"en":"a\u2066b"}}`
	_, err := ParseManifest([]byte(label))
	require.ErrorContains(t, err, "the character U+2066")
}

// Keys are case-sensitive: another spelling is another key, which readers ignore.
func TestManifestKeysAreCaseSensitive(t *testing.T) {
	_, err := ParseManifest([]byte(`{"abi":1,"Name":"a","version":"1.0.0","description":"d"}`))
	require.ErrorContains(t, err, "name")
	m, err := ParseManifest([]byte(`{"abi":1,"name":"a","NAME":"b","version":"1.0.0","description":"d",
		"Permissions":{"http":{"hosts":["*"],"reason":"r"}},
		"permissions":{"kv":{"bytes":1,"Bytes":999,"reason":"r"}}}`))
	require.NoError(t, err)
	require.Equal(t, "a", m.Name)
	require.Nil(t, m.Permissions.HTTP)
	require.EqualValues(t, 1, m.Permissions.KV.Bytes)
}

func TestVersionsAreBounded(t *testing.T) {
	for version, ok := range map[string]bool{
		"1.0.0": true, "999999999.0.0-rc.1": true, "1000000000.0.0": false, "1.0": false,
		"1.0.0-" + strings.Repeat("a", 58): true, "1.0.0-" + strings.Repeat("a", 59): false,
	} {
		_, err := ParseManifest([]byte(`{"abi":1,"name":"a","version":"` + version + `","description":"d"}`))
		require.Equal(t, ok, err == nil, "%s: %v", version, err)
	}
}

// FuzzManifest reads untrusted manifests. An accepted one is equal after it is written and
// read again, and its permissions satisfy the rules of intersections.
func FuzzManifest(f *testing.F) {
	files, err := filepath.Glob("golden/manifest.*.json")
	require.NoError(f, err)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(f, err)
		g, err := engine.ParseJSON(raw)
		require.NoError(f, err)
		f.Add(g.Get("message").AppendJSON(nil), []byte(`{"a":[1,"x",null]}`))
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
		if v, err := engine.ParseJSON(value); err == nil {
			for _, s := range []*Schema{m.Params, m.Arguments, m.Outputs} {
				if err := s.Check("v", v); err != nil {
					require.NotEmpty(t, err.Error())
				}
			}
		}
	})
}
