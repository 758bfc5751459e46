package files

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A file that a run created can be passed to the next run.
func TestMade(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "yet")
	var saved []string
	m := Made{Dir: dir, Saved: func(path string) { saved = append(saved, path) }}
	for _, c := range []struct{ format, extension string }{
		{"markdown", ".md"},
		{"html", ".html"},
		{"docx", ".docx"},
		{"xlsx", ".xlsx"},
		{"pdf", ".pdf"},
	} {
		made, err := m.Convert(t.Context(), c.format, "# Returns\n\n三十天")
		require.NoError(t, err)
		require.Equal(t, c.format, made.Get("format").Str())
		require.Equal(t, c.extension, filepath.Ext(made.Get("file_name").Str()))
		path := saved[len(saved)-1]
		require.Equal(t, filepath.ToSlash(path), made.Get("doc_id").Str())

		var u Uploads
		file, err := u.Add(path)
		require.NoError(t, err)
		text, err := u.Read(t.Context(), file)
		require.NoError(t, err)
		require.Contains(t, text, "Returns")
		require.Contains(t, text, "三十天")
	}
	_, err := m.Convert(t.Context(), "odt", "x")
	require.ErrorContains(t, err, "odt")
	require.Len(t, saved, 5)
}

func TestMadeUnwritableDir(t *testing.T) {
	file := put(t, t.TempDir(), "file", "x")
	_, err := Made{Dir: filepath.Join(file, "dir")}.Convert(t.Context(), "html", "x")
	require.Error(t, err)
	_, err = os.Stat(file)
	require.NoError(t, err)
}
