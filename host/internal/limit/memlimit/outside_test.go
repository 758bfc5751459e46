package memlimit

import (
	"math"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOutside(t *testing.T) {
	before := debug.SetMemoryLimit(1 << 30)
	defer debug.SetMemoryLimit(before)
	one, two := Outside(100<<20), Outside(28<<20)
	require.EqualValues(t, 896<<20, debug.SetMemoryLimit(-1))
	one()
	two()
	require.EqualValues(t, 1<<30, debug.SetMemoryLimit(-1))

	debug.SetMemoryLimit(math.MaxInt64)
	Outside(1 << 20)()
	require.EqualValues(t, math.MaxInt64, debug.SetMemoryLimit(-1), "no limit is set")
}
