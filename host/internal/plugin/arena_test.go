package plugin

import (
	"encoding/binary"
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

// TestVariablesCountWithTheirCost has the number of plugin.arena.test.ts.
func TestVariablesCountWithTheirCost(t *testing.T) {
	var s Scratch
	name := make([]byte, 8)
	name[0] = 0xff
	n := 0
	for ; ; n++ {
		binary.LittleEndian.PutUint16(name[6:], uint16(n+1))
		if !s.set(string(name), name) {
			break
		}
	}
	require.Equal(t, 9_363, n)
}

// TestLinesOfStderr has the lines of plugin.arena.test.ts.
func TestLinesOfStderr(t *testing.T) {
	var l stderrLines
	var lines []string
	l.write([]byte("\ufeffa \t\r\n\u00a0\n \r\nb\v\n"), func(line []byte) {
		lines = append(lines, printable(line, maxLogBytes))
	})
	require.Equal(t, []string{"<U+FEFF>a", "\u00a0", "b<U+000B>"}, lines)
}
