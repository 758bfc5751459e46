package disk

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMkdirAside(t *testing.T) {
	prefix, now := filepath.Join(t.TempDir(), "x-"), time.Date(2026, 11, 27, 1, 2, 3, 0, time.UTC)
	for _, want := range []string{"x-20261127-010203", "x-20261127-010203-2", "x-20261127-010203-3"} {
		dir, err := MkdirAside(prefix, now)
		require.NoError(t, err)
		require.Equal(t, want, filepath.Base(dir))
		require.DirExists(t, dir)
	}
	_, err := MkdirAside(filepath.Join(prefix, "none", "x-"), now)
	require.Error(t, err)
}
