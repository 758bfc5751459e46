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
