package encoder

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// The sums of exact products differ by their order and by rounding once less (FMA).
func TestKernelsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(n int) []float32 {
		out := make([]float32, n)
		for i := range out {
			out[i] = float32(r.NormFloat64()) / 16
		}
		return out
	}
	for _, depth := range []int{1, 2, 3, 4, 5, 7, 63, 64, 129, 512, 1536} {
		for _, extra := range []int{0, 3} {
			aStride, cStride := depth+extra, lanes+extra
			a, panel := random(rowBlock*aStride), random(depth*lanes)
			want := random(rowBlock * cStride)
			got := append([]float32(nil), want...)
			exact := make([]float64, len(want))
			for i := range want {
				exact[i] = float64(want[i])
				if row, column := i/cStride, i%cStride; column < lanes {
					for p := range depth {
						exact[i] += float64(a[row*aStride+p]) * float64(panel[p*lanes+column])
					}
				}
			}
			portable(depth, a, aStride, panel, want, cStride)
			best(depth, a, aStride, panel, got, cStride)
			for i := range want {
				require.InDelta(t, exact[i], want[i], 1e-4, "portable, depth %d, element %d", depth, i)
				require.InDelta(t, want[i], got[i], 1e-4, "depth %d, element %d", depth, i)
			}
		}
	}
}

func TestKernelsStayInBounds(t *testing.T) {
	a, panel, c := make([]float32, 4*8), make([]float32, 8*lanes), make([]float32, 4*lanes)
	best(8, a, 8, panel, c, lanes)
	require.Panics(t, func() { best(8, a[:31], 8, panel, c, lanes) })
	require.Panics(t, func() { best(8, a, 8, panel[:8*lanes-1], c, lanes) })
	require.Panics(t, func() { best(8, a, 8, panel, c[:4*lanes-1], lanes) })
}

func BenchmarkMultiply(b *testing.B) {
	const rows, depth, columns = 64, 512, 1536
	a, c, m := make([]float32, rows*depth), make([]float32, rows*columns), newPacked(nil, depth, columns)
	for i := range a {
		a[i] = float32(i%7) - 3
	}
	for name, k := range map[string]kernel{"vector": best, "portable": portable} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				m.multiply(k, a, depth, rows, c, columns)
			}
			b.ReportMetric(2*rows*depth*columns*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOPS")
		})
	}
}
