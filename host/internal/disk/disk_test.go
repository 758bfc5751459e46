//go:build linux

package disk

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadOnly(t *testing.T) {
	dir := t.TempDir()
	require.False(t, ReadOnly(dir))
	require.False(t, ReadOnly(dir), "second call")
	require.False(t, ReadOnly(filepath.Join(dir, "missing")), "a missing directory is another error")
	require.Positive(t, Free(dir))
	require.EqualValues(t, -1, Free(filepath.Join(dir, "missing")))

	if os.Getuid() != 0 {
		t.Skip("only root can mount a disk")
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip("this system does not allow mounting: ", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	for range 2 {
		require.NoError(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
		require.True(t, ReadOnly(dir), "with and without an existing probe file")
		require.NoError(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT, ""))
		require.False(t, ReadOnly(dir), "remounted read-write")
	}
}
