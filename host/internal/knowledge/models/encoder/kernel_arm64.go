package encoder

import "golang.org/x/sys/cpu"

// multiplyNEON is a [kernel] over the first elements of its slices. The strides count bytes.
//
//go:noescape
func multiplyNEON(depth int, a *float32, aStride int, panel, c *float32, cStride int)

func vectorKernel() kernel {
	if !cpu.ARM64.HasASIMD {
		return portable
	}
	return func(depth int, a []float32, aStride int, panel, c []float32, cStride int) {
		checkBounds(depth, a, aStride, panel, c, cStride)
		multiplyNEON(depth, &a[0], 4*aStride, &panel[0], &c[0], 4*cStride)
	}
}
