package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCheckFailsWhenAFileIsNotCurrent(t *testing.T) {
	require.NoError(t, run("../..", true), "the files of the repository")
	root := t.TempDir()
	for name := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
	}
	require.NoError(t, os.CopyFS(filepath.Join(root, filepath.Dir(guestSource)),
		os.DirFS(filepath.Join("../..", filepath.Dir(guestSource)))))
	require.Error(t, run(root, true), "missing files")
	require.NoError(t, run(root, false))
	require.NoError(t, run(root, true))
	for name := range files {
		path := filepath.Join(root, name)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, append(text, '\n'), 0o644))
		require.ErrorContains(t, run(root, true), name+" is not current")
		require.NoError(t, os.WriteFile(path, text, 0o644))
	}
}
