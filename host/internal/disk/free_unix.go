//go:build unix

package disk

import "syscall"

// Free is the room left on the disk of a directory in bytes, -1 when unknown.
func Free(dir string) int64 {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return -1
	}
	return int64(s.Bavail) * int64(s.Bsize)
}
