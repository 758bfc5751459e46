package postings

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Lists that are joined are what adding their entries one by one makes, and can be added to.
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

// Damaged postings end early and never run on.
func FuzzPostings(f *testing.F) {
	var p List
	p.Add(3, 1)
	p.Add(1000, 7)
	f.Add(p.Data)
	f.Add([]byte{0xff, 0xff})
	f.Fuzz(func(_ *testing.T, data []byte) {
		n := 0
		for it := (Iterator{Data: data}); it.Next(); {
			if n++; n > len(data) {
				panic("more postings than bytes")
			}
		}
	})
}
