package sqlite

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Lists that are joined are what adding their entries one by one makes, and can be added to.
func TestJoinedPostings(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var want, got postings
		offset := 0
		for range 4 {
			var part postings
			at := 0
			for range rng.IntN(6) {
				at += rng.IntN(300)
				count := 1 + rng.IntN(3)
				part.add(at, count)
				want.add(offset+at, count)
				at++
			}
			got.join(&part, offset)
			offset += at + rng.IntN(200)
		}
		got.add(offset, 2)
		want.add(offset, 2)
		require.Equal(t, want, got, "seed %d", seed)
	}
}
