package tools

import (
	"encoding/json"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	httptool "github.com/easel-canvas/easel/plugins/http"
)

func TestToolsAreWellFormed(t *testing.T) {
	list, err := All()
	require.NoError(t, err)
	var s jsonschema.Schema
	require.NoError(t, json.Unmarshal(httptool.Schema(), &s))
	schema, err := s.Resolve(nil)
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, tool := range list {
		require.NotEmpty(t, tool.Component, tool.Name())
		require.False(t, seen[tool.Component], tool.Component)
		seen[tool.Component] = true
		var spec any
		require.NoError(t, json.Unmarshal(tool.Spec, &spec))
		require.NoError(t, schema.Validate(spec), tool.Name())
	}
	require.Len(t, list, 23)
}

// All tools together are small in the program, which contains the interpreter once and the manifest
// and spec of each; a page loads the module of one tool at a time.
func TestSizeOfAllTools(t *testing.T) {
	const bound = 1_500_000
	list, err := All()
	require.NoError(t, err)
	sum, largest := len(httptool.Interpreter()), 0
	for _, tool := range list {
		section, err := tool.Section()
		require.NoError(t, err)
		module, err := tool.Module()
		require.NoError(t, err)
		sum += len(tool.Manifest) + len(section)
		largest = max(largest, len(module))
	}
	require.LessOrEqual(t, sum, bound)
	require.LessOrEqual(t, largest, bound/len(list)*2, "a page loads little for one tool")
	t.Logf("%d bytes for all tools, %d for the largest module", sum, largest)
}
