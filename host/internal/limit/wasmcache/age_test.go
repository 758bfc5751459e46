package wasmcache_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/limit/wasmcache"
	"github.com/easel-canvas/easel/plugins/wattest"
)

// age sets the times of all files of a folder back.
func age(t *testing.T, dir string, by time.Duration) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	require.NoError(t, err)
	at := time.Now().Add(-by)
	for _, file := range files {
		require.NoError(t, os.Chtimes(file, at, at))
	}
}

func TestUnusedEntriesAreRemoved(t *testing.T) {
	const day = 24 * time.Hour
	other := wattest.Must(`(module (func (export "answer") (result i32) i32.const 7))`)
	dir := t.TempDir()
	require.Equal(t, 42, answer(t, dir, nil))
	require.Equal(t, 7, answerOf(t, dir, nil, other))
	require.Len(t, entries(t, dir), 2)

	age(t, dir, 29*day)
	_, cache, err := wasmcache.Open(dir, nil)
	require.NoError(t, err)
	require.NoError(t, cache.Close(t.Context()))
	require.Len(t, entries(t, dir), 2, "not old enough")

	require.Equal(t, 42, answer(t, dir, nil))
	used := entries(t, dir)
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	require.NoError(t, err)
	require.Len(t, files, 4)
	old := time.Now().Add(-2 * day)
	for _, file := range files {
		info, err := os.Stat(file)
		require.NoError(t, err)
		if info.ModTime().Before(old) {
			require.NoError(t, os.Chtimes(file, old.Add(-29*day), old.Add(-29*day)))
		}
	}
	require.Equal(t, 42, answer(t, dir, nil))
	require.Len(t, entries(t, dir), 1, "the one that was used stays")
	require.Subset(t, used, entries(t, dir))
	files, err = filepath.Glob(filepath.Join(dir, "*", "*"))
	require.NoError(t, err)
	require.Len(t, files, 2, "its checksum is gone as well")
}

func TestEntriesOfOtherVersionsAreRemoved(t *testing.T) {
	dir := t.TempDir()
	require.Equal(t, 42, answer(t, dir, nil))
	own := entries(t, dir)
	for _, name := range []string{"wazero-v0.1.0-amd64-linux", "of somebody"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name, "file"), []byte("x"), 0o600))
	}
	require.Equal(t, 42, answer(t, dir, nil))
	require.DirExists(t, filepath.Join(dir, "wazero-v0.1.0-amd64-linux"), "a process may be at work with it")
	age(t, dir, 25*time.Hour)
	require.Equal(t, 42, answer(t, dir, nil))
	require.NoDirExists(t, filepath.Join(dir, "wazero-v0.1.0-amd64-linux"))
	require.FileExists(t, filepath.Join(dir, "of somebody", "file"))
	require.Subset(t, entries(t, dir), own)
}

// A new entry of a key replaces the one before, as after an upgrade of the module.
func TestFreshEntryReplacesOthersOfItsKey(t *testing.T) {
	dir := t.TempDir()
	d, cache, err := wasmcache.Open(dir, nil)
	require.NoError(t, err)
	require.NoError(t, cache.Close(t.Context()))
	folder, err := filepath.Glob(filepath.Join(dir, "wazero-*"))
	require.NoError(t, err)
	require.Len(t, folder, 1)
	compile := func(key string, digit rune) string {
		name := filepath.Join(folder[0], strings.Repeat(string(digit), 64))
		require.NoError(t, d.Compile(key, func() error { return os.WriteFile(name, []byte(string(digit)), 0o600) }))
		return name
	}
	first, other := compile("pdfium", '1'), compile("other", '2')
	require.FileExists(t, first)
	second := compile("pdfium", '3')
	require.NoFileExists(t, first)
	require.NoFileExists(t, first+".sha256")
	require.FileExists(t, second)
	require.FileExists(t, other)
}
