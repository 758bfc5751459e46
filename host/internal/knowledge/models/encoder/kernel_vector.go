//go:build amd64 || arm64

package encoder

// checkBounds panics where a kernel in assembly would reach beyond its slices.
func checkBounds(depth int, a []float32, aStride int, panel, c []float32, cStride int) {
	_ = a[(rowBlock-1)*aStride+depth-1]
	_ = panel[depth*lanes-1]
	_ = c[(rowBlock-1)*cStride+lanes-1]
}
