//go:build unix

package runner

import "syscall"

// freeBytes is the room left on the disk of a directory, -1 when unknown.
func freeBytes(dir string) int64 {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return -1
	}
	return int64(s.Bavail) * int64(s.Bsize)
}
