package files

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/document"
)

func put(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func headed(name, text string) string {
	return "\n -----------------\nFile: " + name + "\nContent as following: \n" + text
}

func TestUploads(t *testing.T) {
	dir := t.TempDir()
	png := "\x89PNG\r\n\x1a\n....."
	for _, c := range []struct{ name, file, content, mime, want string }{
		{"text", "a.txt", "one\r\ntwo", "text/plain", headed("a.txt", "one\ntwo")},
		{"the UTF-8 byte order mark is dropped", "b.md", "\uFEFFhé", "", headed("b.md", "hé")},
		{"UTF-16", "c.txt", "\xff\xfeh\x00i\x00", "text/plain", headed("c.txt", "hi")},
		{"big-endian UTF-16", "d.txt", "\xfe\xff\x00h\x00i", "text/plain", headed("d.txt", "hi")},
		{"an empty file", "e.txt", "", "text/plain", headed("e.txt", "")},
		{"an image detected from its content", "f.dat", png, "image/png", "data:image/png;base64,iVBORw0KGgouLi4uLg=="},
		{"text named .png", "g.png", "text", "text/plain", headed("g.png", "text")},
	} {
		t.Run(c.name, func(t *testing.T) {
			var u Uploads
			descriptor, err := u.Add(put(t, dir, c.file, c.content))
			require.NoError(t, err)
			if c.mime != "" {
				require.Equal(t, c.mime, descriptor.Get("mime_type").Str())
			}
			got, err := u.Read(t.Context(), descriptor)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestUploadsReject(t *testing.T) {
	dir := t.TempDir()
	var u Uploads
	_, err := u.Add(filepath.Join(dir, "missing"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = u.Add(dir)
	require.ErrorContains(t, err, "not a regular file")

	_, err = u.Read(t.Context(), engine.Object("id", put(t, dir, "other.txt", "x")))
	require.ErrorIs(t, err, ErrNotGiven)

	descriptor, err := u.Add(put(t, dir, "x.bin", "\x7fELF\x00\xff"))
	require.NoError(t, err)
	_, err = u.Read(t.Context(), descriptor)
	require.ErrorIs(t, err, document.ErrFormat)

	large := put(t, dir, "large.txt", "")
	require.NoError(t, os.Truncate(large, Largest+1))
	_, err = u.Add(large)
	require.ErrorIs(t, err, ErrTooLarge)

	image := put(t, dir, "large.png", "\x89PNG\r\n\x1a\n")
	require.NoError(t, os.Truncate(image, LargestImage+1))
	descriptor, err = u.Add(image)
	require.NoError(t, err)
	_, err = u.Read(t.Context(), descriptor)
	require.ErrorIs(t, err, ErrTooLarge)
}
