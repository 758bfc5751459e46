package sqlite

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Runs hold what a plain list holds, however long they are.
func TestIDs(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		step := int64(rng.IntN(2))
		got, more := ids{step: step}, ids{step: step}
		var want []int64
		next := int64(rng.IntN(3))
		add := func(into *ids) {
			for range rng.IntN(12) {
				into.add(next)
				want = append(want, next)
				if rng.IntN(3) == 0 {
					next += int64(rng.IntN(4))
				}
				next += step
			}
		}
		add(&got)
		add(&more)
		got.extend(&more)
		require.Equal(t, len(want), got.count)
		require.Equal(t, append([]int64{}, want...), got.list())
		for i, id := range want {
			require.Equal(t, id, got.at(i))
			if step == 1 {
				require.Equal(t, i, got.find(id))
			}
		}
		if step == 1 {
			for id := int64(-1); id < next+2; id++ {
				if at := got.find(id); at >= 0 {
					require.Equal(t, id, want[at])
				} else {
					require.NotContains(t, want, id)
				}
			}
		}
		if len(want) > 0 {
			require.Equal(t, want[len(want)-1], got.last())
		}
	}
}
