package plugin

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestArenaCountsSmallBlocks has the numbers of plugin.arena.test.ts.
func TestArenaCountsSmallBlocks(t *testing.T) {
	var a arena
	fill := func(n uint64) (blocks int) {
		for a.alloc(n) != 0 {
			blocks++
		}
		return blocks
	}
	require.Equal(t, 932_068, fill(1))
	a.reset()
	require.Equal(t, 63, fill(1<<20))
	a.reset()
	require.NotZero(t, a.alloc(maxKernel))
}
