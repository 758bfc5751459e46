//go:build !unix

package disk

// Free returns -1 on systems without statfs.
func Free(string) int64 { return -1 }

// FreeShare returns 1: the free share of a disk is unknown here.
func FreeShare(string) float64 { return 1 }
