//go:build !unix

package disk

// Free returns -1 on systems without statfs.
func Free(string) int64 { return -1 }
