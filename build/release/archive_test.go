package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

var packed = []entry{{"easel_1/easel", 0o755, []byte("program")}, {"easel_1/LICENSE", 0o644, []byte("terms")}}

func TestPackTar(t *testing.T) {
	out, err := packTar(packed)
	require.NoError(t, err)
	again, err := packTar(packed)
	require.NoError(t, err)
	require.Equal(t, out, again)
	plain, err := gzip.NewReader(bytes.NewReader(out))
	require.NoError(t, err)
	r := tar.NewReader(plain)
	for _, want := range packed {
		h, err := r.Next()
		require.NoError(t, err)
		content, err := io.ReadAll(r)
		require.NoError(t, err)
		require.Equal(t, want, entry{h.Name, h.Mode, content})
	}
	_, err = r.Next()
	require.ErrorIs(t, err, io.EOF)
}

func TestPackZip(t *testing.T) {
	out, err := packZip(packed)
	require.NoError(t, err)
	again, err := packZip(packed)
	require.NoError(t, err)
	require.Equal(t, out, again)
	r, err := zip.NewReader(bytes.NewReader(out), int64(len(out)))
	require.NoError(t, err)
	require.Len(t, r.File, len(packed))
	for i, want := range packed {
		f, err := r.File[i].Open()
		require.NoError(t, err)
		content, err := io.ReadAll(f)
		require.NoError(t, err)
		require.Equal(t, want.name, r.File[i].Name)
		require.Equal(t, want.content, content)
	}
}

func TestSums(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"b": "", "a": "abc"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	require.NoError(t, sums(dir))
	text, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	require.NoError(t, err)
	require.Equal(t, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a\n"+
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  b\n", string(text))
}
