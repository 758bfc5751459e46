package contract

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func entryManifest(t *testing.T, entry, outputs string) *Manifest {
	t.Helper()
	m, err := ParseManifest([]byte(`{"abi":1,"name":"a","version":"1.0.0","description":"d",
		"outputs":{"type":"object","properties":` + outputs + `},"entry":` + entry + `}`))
	require.NoError(t, err)
	return m
}

func parsed(t *testing.T, text string) engine.Value {
	t.Helper()
	v, err := engine.ParseJSONText(text)
	require.NoError(t, err)
	return v
}

func TestEntryInput(t *testing.T) {
	for _, c := range []struct{ form, params, arguments, want, fails string }{
		{"text", `{"input":"set"}`, `null`, "set", ""},
		{"text", `{"input":"set"}`, `{"input":"by a model"}`, "by a model", ""},
		{"text", `{}`, `null`, "", ""},
		{"text", `{"input":7}`, `null`, "", "input: want string, got number"},
		{"json", `{"a":1,"b":2}`, `{"b":9007199254740993}`, `{"a":1,"b":9007199254740993}`, ""},
		{"json", `{}`, `null`, `{}`, ""},
		{"bytes", `{"input":"/wA="}`, `null`, "\xff\x00", ""},
		{"bytes", `{"input":"words!"}`, `null`, "", "input: want bytes in base64"},
	} {
		m := entryManifest(t, `{"export":"run","input":"`+c.form+`"}`, `{}`)
		require.Equal(t, "run", m.Export())
		got, err := m.Message(CallInfo{}, parsed(t, c.params), parsed(t, c.arguments))
		if c.fails != "" {
			require.ErrorContains(t, err, c.fails)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, string(got))
	}
}

func TestEntryOutput(t *testing.T) {
	const one, several = `{"output":{}}`, `{"count":{"type":"integer"},"vowels":{"type":"string"}}`
	for _, c := range []struct{ form, outputs, raw, want, fails string }{
		{"text", one, "pl\"ain", `{"output":"pl\"ain"}`, ""},
		{"text", one, "bad \xff", `{"output":"bad �"}`, ""},
		{"bytes", one, "\xff\x00", `{"output":"/wA="}`, ""},
		{"json", one, ` {"count": 3}`, `{"output":{"count":3}}`, ""},
		{"json", one, `[1]`, `{"output":[1]}`, ""},
		{"json", several, `{"count":3,"vowels":"aeiou"}`, `{"count":3,"vowels":"aeiou"}`, ""},
		{"json", several, `{"count":"three"}`, "", "outputs.count: want integer"},
		{"json", several, `{"count":3},"artifacts":[]`, "", "output is not the JSON"},
		{"json", one, ``, "", "output is not the JSON"},
	} {
		m := entryManifest(t, `{"export":"run","output":"`+c.form+`"}`, c.outputs)
		got, err := m.ReadOutput([]byte(c.raw))
		if c.fails != "" {
			require.ErrorContains(t, err, c.fails)
			continue
		}
		require.NoError(t, err, c.raw)
		require.JSONEq(t, c.want, got.Outputs.JSON())
	}
}

func TestEntryIsChecked(t *testing.T) {
	for entry, want := range map[string]string{
		`{"export":""}`:            `entry.export "": want the name of an exported function`,
		`{"export":"_initialize"}`: `entry.export "_initialize"`,
		`{"export":"_start","input":"mcp","tool":"now"}`: "" +
			"entry: a command takes and returns text, json or bytes, not mcp",
		`{"export":"_start","output":"mcp"}`:   "entry: a command takes and returns text, json or bytes, not mcp",
		`{"export":"_start"},"state":"run"`:    `state "run": a command has no state between calls`,
		`{"export":"_start"},"state":"tenant"`: `state "tenant": a command has no state between calls`,
		`{"export":"run","input":"xml"}`:       `entry.input "xml": want text, json, bytes`,
		`{"export":"run","output":"xml"}`:      `entry.output "xml": want text, json, bytes`,
		`"run"`:                                "entry: want object, got string",
		`{"export":"run"},"params":{"type":"object","properties":{"a":{"type":"array","x-easel-branch":true}}}`: "" +
			"entry: a plugin with branches needs easel_invoke",
	} {
		const head = `{"abi":1,"name":"a","version":"1.0.0","description":"d","entry":`
		_, err := ParseManifest([]byte(head + entry + `}`))
		require.ErrorIs(t, err, BadManifest)
		require.ErrorContains(t, err, want)
	}
	require.True(t, entryManifest(t, `{"export":"_start","input":"json"}`, `{}`).Command())
	require.False(t, entryManifest(t, `{"export":"run"}`, `{}`).Command())
}
