//go:build linux

// Package disktest makes small disks for tests, and fills them.
package disktest

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Mount mounts a memory disk of a size, such as 64m, on a directory until the end of the test. The
// test is skipped where it may not mount.
func Mount(t testing.TB, dir, size string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can mount a disk")
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skip("this system does not allow mounting: ", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
}

// Small returns a directory on a memory disk of a size.
func Small(t testing.TB, size string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	Mount(t, dir, size)
	return dir
}

// Fill writes to the disk of a directory until it is full. free removes what it wrote.
func Fill(t testing.TB, dir string) (free func()) {
	t.Helper()
	return FillTo(t, dir, 0)
}

// FillTo is [Fill] that leaves some bytes.
func FillTo(t testing.TB, dir string, left int64) (free func()) {
	t.Helper()
	name := filepath.Join(dir, "filler")
	f, err := os.Create(name)
	require.NoError(t, err)
	for block := make([]byte, 1<<20); len(block) > 0; {
		if left > 0 && room(t, dir) < left+int64(len(block)) {
			block = block[:len(block)/2]
			continue
		}
		if _, err := f.Write(block); err != nil {
			require.ErrorIs(t, err, syscall.ENOSPC)
			block = block[:len(block)/2]
		}
	}
	require.NoError(t, f.Close())
	return func() { require.NoError(t, os.Remove(name)) }
}

func room(t testing.TB, dir string) int64 {
	t.Helper()
	var s syscall.Statfs_t
	require.NoError(t, syscall.Statfs(dir, &s))
	return int64(s.Bavail) * s.Bsize
}
