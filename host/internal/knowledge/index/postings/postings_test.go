package postings

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Joined lists equal lists to which the entries were added one by one, and entries can be added.
func TestJoinedPostings(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var want, got List
		offset := 0
		for range 4 {
			var part List
			at := 0
			for range rng.IntN(6) {
				at += rng.IntN(300)
				count := 1 + rng.IntN(3)
				part.Add(at, count)
				want.Add(offset+at, count)
				at++
			}
			got.Join(&part, offset)
			offset += at + rng.IntN(200)
		}
		got.Add(offset, 2)
		want.Add(offset, 2)
		require.Equal(t, want, got, "seed %d", seed)
	}
}

// Blocks have the entries that are read one by one.
func TestBlocks(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 2))
		var p List
		at := 0
		for range rng.IntN(4 * blockSize) {
			at += rng.IntN(1 << rng.IntN(16))
			p.Add(at, 1+rng.IntN(1<<rng.IntN(10)))
			at++
		}
		requireBlocks(t, p.Data)
	}
	for _, data := range [][]byte{nil, {0xff, 0xff}, {3, 0xff}, {2}, {2, 0xff}, {3, 2, 0x80}, {3, 0x80, 0x80}} {
		requireBlocks(t, data)
	}
}

// requireBlocks compares blocks with entries that are read one by one.
func requireBlocks(t *testing.T, data []byte) {
	t.Helper()
	one := Iterator{Data: data}
	var b Block
	for it := (Iterator{Data: data}); it.NextBlock(&b); {
		for i, local := range b.Locals[:b.Len] {
			require.True(t, one.Next())
			require.Equal(t, int32(min(one.Local, math.MaxInt32)), local)
			require.Equal(t, int32(one.Count), b.Counts[i])
		}
	}
	require.False(t, one.Next())
}

// Damaged postings end early and never run on.
func FuzzPostings(f *testing.F) {
	var p List
	p.Add(3, 1)
	p.Add(1000, 7)
	f.Add(p.Data)
	f.Add([]byte{0xff, 0xff})
	f.Add([]byte{0xfe, 0xff, 0xff, 0xff, 0x0f, 1, 0xfe, 0xff, 0xff, 0xff, 0x0f, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		requireBlocks(t, data)
		n := 0
		for it := (Iterator{Data: data}); it.Next(); {
			if n++; n > len(data) {
				panic("more postings than bytes")
			}
		}
	})
}
