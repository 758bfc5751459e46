package cli

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host"
)

// TestKnowledgeBase fills a dataset from files, searches it, archives it and restores it.
func TestKnowledgeBase(t *testing.T) {
	data, files := t.TempDir(), t.TempDir()
	h, err := host.New(context.WithoutCancel(t.Context()), host.Config{Dir: data})
	require.NoError(t, err)
	code, _, errs := easel(t, "kb", "list", "--data", data)
	require.NotZero(t, code)
	require.Contains(t, errs, "stop the host that uses")
	require.NoError(t, h.Close())

	require.NoError(t, os.WriteFile(filepath.Join(files, "shoes.md"),
		[]byte("# Shoes\n\nShoes can be returned within thirty days.\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(files, "broken.pdf"), []byte("%PDF-1.4 nothing"), 0o600))
	kb := func(want int, args ...string) string {
		t.Helper()
		code, out, errs := easel(t, append(append([]string{"kb"}, args...), "--data", data)...)
		require.Equal(t, want, code, "%s%s", out, errs)
		return out + errs
	}
	require.Contains(t, kb(0, "create", "handbook"), "name: handbook")
	said := kb(1, "add", "handbook", files)
	require.Contains(t, said, "shoes.md: 1 chunks")
	require.Contains(t, said, "broken.pdf: ")
	require.Contains(t, said, "1 of 2 failed")
	require.Contains(t, kb(0, "add", "handbook", filepath.Join(files, "shoes.md")), "shoes.md: unchanged")
	require.Contains(t, kb(0, "status", "handbook"), "failed")
	require.Contains(t, kb(0, "search", "handbook", "returned shoes"), "thirty days")
	require.Contains(t, kb(0, "list"), "handbook")
	kb(0, "rm", "handbook", "broken.pdf")

	// A backup contains documents, chunks and manual edits; the index of the target is not used,
	// although it has the same number of changes.
	saved, old := filepath.Join(files, "backup.zip"), filepath.Join(t.TempDir(), "index.db")
	code, _, errs = easel(t, "backup", saved, "--data", data)
	require.Zero(t, code, errs)
	kb(0, "rm", "handbook", "shoes.md")
	require.NoError(t, os.WriteFile(filepath.Join(files, "hats.md"), []byte("Hats cannot be returned.\n"), 0o600))
	kb(0, "add", "handbook", filepath.Join(files, "hats.md"))
	require.NoError(t, os.Rename(filepath.Join(data, "index.db"), old))
	code, _, errs = easel(t, "restore", saved, "--data", data, "--replace")
	require.Zero(t, code, errs)
	require.NoError(t, os.Rename(old, filepath.Join(data, "index.db")))
	found := kb(0, "search", "handbook", "returned")
	require.Contains(t, found, "thirty days")
	require.NotContains(t, found, "Hats")

	archive := filepath.Join(files, "handbook.zip")
	kb(0, "export", "handbook", archive)
	kb(0, "rm", "handbook")
	require.NotContains(t, kb(0, "list"), "handbook")
	require.Contains(t, kb(0, "import", archive, "--name", "again"), "shoes.md: 1 chunks")
	require.Contains(t, kb(0, "search", "again", "returned shoes"), "thirty days")
	require.Contains(t, kb(2, "search", "handbook", "x"), `no dataset "handbook"`)
}
