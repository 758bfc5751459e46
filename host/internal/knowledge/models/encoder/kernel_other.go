//go:build !amd64 && !arm64

package encoder

func vectorKernel() kernel { return portable }
