package tools

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestToolsAreWellFormed(t *testing.T) {
	list, err := All()
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, tool := range list {
		require.NotEmpty(t, tool.Component, tool.Name())
		require.False(t, seen[tool.Component], tool.Component)
		seen[tool.Component] = true
	}
	require.Len(t, list, 23)
}
