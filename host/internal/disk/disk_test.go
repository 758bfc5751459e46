//go:build linux

package disk

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/testing/disktest"
)

func TestReadOnly(t *testing.T) {
	dir := t.TempDir()
	require.False(t, ReadOnly(dir))
	require.False(t, ReadOnly(dir), "second call")
	require.False(t, ReadOnly(filepath.Join(dir, "missing")), "a missing directory is another error")
	require.Positive(t, Free(dir))
	require.EqualValues(t, -1, Free(filepath.Join(dir, "missing")))

	disktest.Mount(t, dir, "1m")
	for range 2 {
		require.NoError(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
		require.True(t, ReadOnly(dir), "with and without an existing probe file")
		require.NoError(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT, ""))
		require.False(t, ReadOnly(dir), "remounted read-write")
	}
}
