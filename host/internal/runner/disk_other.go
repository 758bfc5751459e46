//go:build !unix

package runner

// freeBytes is not known where statfs is missing.
func freeBytes(string) int64 { return -1 }
