package python

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestContent compares random changes of a file with those of one slice.
func TestContent(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var c content
	var plain []byte
	size := func() int64 { return rng.Int64N(3*blockSize + 2) }
	for range 400 {
		switch rng.IntN(4) {
		case 0:
			n := size()
			c.resize(n)
			if n > int64(len(plain)) {
				plain = append(plain, make([]byte, n-int64(len(plain)))...)
			}
			plain = plain[:n]
		case 1:
			at := rng.Int64N(c.size + 1)
			buf := bytes.Repeat([]byte{byte(rng.IntN(256))}, int(rng.Int64N(c.size-at+1)))
			c.writeAt(buf, at)
			copy(plain[at:], buf)
		default:
			at := rng.Int64N(c.size + 1)
			got, want := make([]byte, size()), make([]byte, blockSize*4)
			n := c.readAt(got, at)
			require.Equal(t, copy(want[:len(got)], plain[at:]), n)
			require.True(t, bytes.Equal(want[:n], got[:n]))
		}
		require.Equal(t, int64(len(plain)), c.size)
		require.True(t, bytes.Equal(plain, c.bytes()))
	}
}

// TestContentGrowsWithoutCopies writes a file piece by piece: it allocates little more than
// it holds.
func TestContentGrowsWithoutCopies(t *testing.T) {
	const size, piece = 32 << 20, 10_000
	text := make([]byte, piece)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var c content
	for c.size < size {
		at := c.size
		c.resize(at + piece)
		c.writeAt(text, at)
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(size+size/8))
}
