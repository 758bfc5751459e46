package encoder

import "golang.org/x/sys/cpu"

// multiplyAVX2 is a [kernel] over the first elements of its slices. The strides count bytes.
//
//go:noescape
func multiplyAVX2(depth int, a *float32, aStride int, panel, c *float32, cStride int)

func vectorKernel() kernel {
	if !cpu.X86.HasAVX2 || !cpu.X86.HasFMA {
		return portable
	}
	return func(depth int, a []float32, aStride int, panel, c []float32, cStride int) {
		checkBounds(depth, a, aStride, panel, c, cStride)
		multiplyAVX2(depth, &a[0], 4*aStride, &panel[0], &c[0], 4*cStride)
	}
}
