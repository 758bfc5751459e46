//go:build unix

package disk

import "syscall"

// Free returns the free bytes on the disk of a directory, -1 if unknown.
func Free(dir string) int64 {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return -1
	}
	return int64(s.Bavail) * int64(s.Bsize)
}

// FreeShare returns the share of the disk of a directory that is free, 0 to 1; 1 if unknown.
func FreeShare(dir string) float64 {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil || s.Blocks == 0 {
		return 1
	}
	return float64(s.Bavail) / float64(s.Blocks)
}
