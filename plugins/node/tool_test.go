package node

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// The page's twin is compared with the same cases in wasm/js/test/tool.test.ts.
func TestToolInput(t *testing.T) {
	raw, err := os.ReadFile("testdata/tool_input.json")
	require.NoError(t, err)
	doc, err := engine.ParseJSON(raw)
	require.NoError(t, err)
	m, err := contract.ReadManifest(doc.Get("manifest"))
	require.NoError(t, err)
	for _, c := range doc.Get("cases").Elements() {
		t.Run(c.Get("name").Str(), func(t *testing.T) {
			in := NewToolInput(m, c.Get("params"), c.Get("arguments"), "", "MARK")
			require.JSONEq(t, c.Get("want").Get("params").JSON(), in.Params.JSON())
			require.JSONEq(t, c.Get("want").Get("arguments").JSON(), in.Arguments.JSON())
			keys := engine.NewObject(1)
			for name, text := range in.Keys {
				keys.Set(name, engine.String(text))
			}
			require.JSONEq(t, c.Get("want").Get("keys").JSON(), keys.Value().JSON())
		})
	}
}

// Marks of the run do not reach a plugin: each call draws another one.
func TestToolInputHasNoMarksOfTheRun(t *testing.T) {
	m, err := contract.ParseManifest([]byte(`{"abi":1,"name":"t","version":"1.0.0","description":"d","license":"MIT",
		"arguments":{"type":"object","properties":{"query":{"type":"string"}}}}`))
	require.NoError(t, err)
	in := NewToolInput(m, engine.Null, engine.Object("query", "{{secret:A:RUN}}"), "RUN", "MARK")
	require.Equal(t, "{{secret:A}}", in.Arguments.Get("query").Str())
}
