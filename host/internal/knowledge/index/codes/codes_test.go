package codes

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func unitVectors(n, dims int) [][]float32 {
	rng := rand.New(rand.NewPCG(1, 2))
	out := make([][]float32, n)
	for i := range out {
		if i%7 == 3 {
			continue // a chunk without
		}
		v, sum := make([]float32, dims), 0.0
		for k := range v {
			v[k] = float32(rng.NormFloat64() + 0.5)
			sum += float64(v[k] * v[k])
		}
		for k := range v {
			v[k] /= float32(math.Sqrt(sum))
		}
		out[i] = v
	}
	return out
}

// Estimates are near the cosines, for any number of dimensions, and survive encoding.
func TestEstimate(t *testing.T) {
	for _, dims := range []int{1, 7, 12, 384} {
		vectors := unitVectors(60, dims)
		groups, err := Decode(Append(nil, Encode(vectors, dims)), dims, len(vectors))
		require.NoError(t, err)
		require.Len(t, groups, 1)
		q := NewQuery(vectors[0])
		seen := map[int]bool{}
		q.Estimate(&groups[0], func(local int, similarity float32) {
			seen[local] = true
			require.NotNil(t, vectors[local])
			if dims == 384 {
				require.InDelta(t, Dot(vectors[0], vectors[local]), similarity, 0.15, local)
			}
		})
		for i, v := range vectors {
			require.Equal(t, v != nil, seen[i], i)
		}
		require.InDelta(t, Dot(vectors[0], vectors[1]), DotEncoded(vectors[0], AppendVector(nil, vectors[1])), 1e-6)
	}
	require.Nil(t, Encode(make([][]float32, 3), 8))
}

// Chunks that are left out have no codes, and the others keep theirs.
func TestKeep(t *testing.T) {
	const dims = 16
	vectors := unitVectors(20, dims)
	g := Encode(vectors, dims)[0]
	g.First = 100
	kept := g.Keep(dims, func(local int) bool { return local%2 == 0 })
	require.Equal(t, 10, kept.Len())
	q := NewQuery(vectors[1])
	want := map[int]float32{}
	q.Estimate(&g, func(local int, similarity float32) { want[local] = similarity })
	q.Estimate(&kept, func(local int, similarity float32) { require.Equal(t, want[100+2*local], similarity) })
}

// Damaged data is refused, whatever it is.
func FuzzDecode(f *testing.F) {
	const dims, chunks = 12, 30
	f.Add(Append(nil, Encode(unitVectors(chunks, dims), dims)))
	f.Add([]byte{0, 200, 200, 200, 200, 200, 200, 200, 200, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		groups, err := Decode(data, dims, chunks)
		if err != nil {
			require.ErrorIs(t, err, ErrDamaged)
			return
		}
		q := NewQuery(make([]float32, dims))
		for i := range groups {
			q.Estimate(&groups[i], func(local int, _ float32) { require.Less(t, local, chunks) })
		}
	})
}
