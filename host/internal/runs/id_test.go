package runs

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIDsAreInOrderOfTime(t *testing.T) {
	var list []string
	for range 1000 {
		list = append(list, newID())
	}
	require.True(t, slices.IsSorted(list))
	require.Len(t, slices.Compact(list), 1000)
	require.Regexp(t, "^[0-9a-f]{32}$", list[0])
}
