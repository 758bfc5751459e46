package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/document"
)

func write(t *testing.T, dir, name, text string) string {
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
		{"a mark of UTF-8 is dropped", "b.md", "\uFEFFhé", "", headed("b.md", "hé")},
		{"UTF-16", "c.txt", "\xff\xfeh\x00i\x00", "text/plain", headed("c.txt", "hi")},
		{"UTF-16 of the other order", "d.txt", "\xfe\xff\x00h\x00i", "text/plain", headed("d.txt", "hi")},
		{"an empty file", "e.txt", "", "text/plain", headed("e.txt", "")},
		{"an image by its content", "f.dat", png, "image/png", "data:image/png;base64,iVBORw0KGgouLi4uLg=="},
		{"no image by its name", "g.png", "text", "text/plain", headed("g.png", "text")},
	} {
		t.Run(c.name, func(t *testing.T) {
			var u Uploads
			descriptor, err := u.Add(write(t, dir, c.file, c.content))
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

func TestUploadsRefuse(t *testing.T) {
	dir := t.TempDir()
	var u Uploads
	_, err := u.Add(filepath.Join(dir, "missing"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = u.Add(dir)
	require.ErrorContains(t, err, "no regular file")

	_, err = u.Read(t.Context(), engine.Object("id", write(t, dir, "other.txt", "x")))
	require.ErrorIs(t, err, ErrNotGiven)

	descriptor, err := u.Add(write(t, dir, "x.pdf", "%PDF-1.7\x00\xff"))
	require.NoError(t, err)
	_, err = u.Read(t.Context(), descriptor)
	require.ErrorIs(t, err, document.ErrDamaged)

	large := write(t, dir, "large.txt", "")
	require.NoError(t, os.Truncate(large, Largest+1))
	_, err = u.Add(large)
	require.ErrorIs(t, err, ErrTooLarge)

	image := write(t, dir, "large.png", "\x89PNG\r\n\x1a\n")
	require.NoError(t, os.Truncate(image, LargestImage+1))
	descriptor, err = u.Add(image)
	require.NoError(t, err)
	_, err = u.Read(t.Context(), descriptor)
	require.ErrorIs(t, err, ErrTooLarge)
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "shop/terms.md", "# Shipping\n\nShipping takes three days.\n\n# Returns\n\nReturns are free for thirty days.")
	write(t, dir, "shop/deep/faq.txt", "Gift cards never expire.")
	write(t, dir, "shop/logo.bin", "returns")
	write(t, dir, "other/x.txt", "Returns of another shop.")
	write(t, dir, "top.txt", "Returns at the top.")
	f := Folder{Root: dir}
	for _, c := range []struct {
		name, query string
		datasets    []string
		want        []string
	}{
		{"the passage with its heading", "How long for free returns?", []string{"shop"}, []string{"terms.md: # Returns\nReturns are free for thirty days."}},
		{"files in folders below", "gift cards", []string{"shop"}, []string{"faq.txt: Gift cards never expire."}},
		{"several datasets", "another returns shop", []string{"shop", "other"}, []string{"x.txt: Returns of another shop.", "terms.md: # Returns\nReturns are free for thirty days."}},
		{"files right inside the root", "returns", []string{"."}, []string{"top.txt: Returns at the top."}},
		{"nothing fits", "weather", []string{"shop"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, err := f.Retrieve(t.Context(), &engine.RetrievalQuery{Text: c.query, Datasets: c.datasets, TopN: 3, SimilarityThreshold: 0.2})
			require.NoError(t, err)
			var got []string
			for _, chunk := range found.Chunks {
				got = append(got, chunk.Get("docnm_kwd").Str()+": "+chunk.Get("content_with_weight").Str())
			}
			require.Equal(t, c.want, got)
			require.Equal(t, len(c.want) > 0, len(found.DocAggs) > 0)
		})
	}
}

func TestFolderStaysBelowItsRoot(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "secret/a.txt", "returns")
	write(t, dir, "root/shop/a.txt", "returns")
	for _, dataset := range []string{"../secret", "/etc", "missing", "shop/a.txt"} {
		_, err := Folder{Root: filepath.Join(dir, "root")}.Retrieve(t.Context(), &engine.RetrievalQuery{Text: "returns", Datasets: []string{dataset}})
		require.ErrorContains(t, err, "does not exist")
		require.ErrorContains(t, err, ".,")
	}
}

func TestPassagesStayShort(t *testing.T) {
	text := strings.Repeat(strings.Repeat("word ", 60)+"\n\n", 5)
	require.Len(t, passages(text), 3)
}
