package disk

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReplaceLeavesOneFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state.json")
	for _, content := range []string{"first", "second"} {
		require.NoError(t, Replace(path, []byte(content)))
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, content, string(got))
	}
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, list, 1, "no temporary file stays")
}

// A target that cannot be replaced stays as it is, and the temporary file is removed.
func TestReplaceCleansUpAfterAnError(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "full")
	require.NoError(t, os.MkdirAll(filepath.Join(path, "entry"), 0o700))
	require.Error(t, Replace(path, []byte("x")))
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Error(t, Replace(filepath.Join(dir, "missing", "file"), nil))
}
