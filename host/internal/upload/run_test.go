package upload

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func TestRunFilesAreBoundToTenant(t *testing.T) {
	b := newBox(t)
	stored, err := b.RunFiles(Member("one")).Save(t.Context(), "../a\"b.csv", "csv", []byte("x,y\n"))
	require.NoError(t, err)
	require.Equal(t, "ab.csv", stored.Get("file_name").Text())
	source, err := b.RunFiles(Member("one")).Open(t.Context(), stored)
	require.NoError(t, err)
	require.Equal(t, int64(4), source.Size)
	in, err := source.Open(t.Context())
	require.NoError(t, err)
	data, err := io.ReadAll(in)
	require.NoError(t, err)
	require.NoError(t, in.Close())
	require.Equal(t, "x,y\n", string(data))

	upload, err := b.Put(t.Context(), Member("one"), "a.txt", strings.NewReader("text"))
	require.NoError(t, err)
	_, err = b.RunFiles(Member("one")).Open(t.Context(), upload)
	require.NoError(t, err)
	outside := engine.Object("id", "../one/"+stored.Get("doc_id").Text())
	for _, file := range []engine.Value{upload, stored, engine.Null, outside} {
		_, err := b.RunFiles(Member("two")).Open(t.Context(), file)
		require.ErrorIs(t, err, ErrNotFound)
	}
}
