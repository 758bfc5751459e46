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
