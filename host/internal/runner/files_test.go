package runner

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFiles(t *testing.T) { onBoth(t, testFiles) }

func testFiles(t *testing.T, cfg Config) {
	l := openTest(t, cfg)
	ctx := t.Context()
	data := bytes.Repeat([]byte("0123456789"), 100_000)
	info, err := l.PutFile(ctx, "tenant/a b.pdf", bytes.NewReader(data))
	require.NoError(t, err)
	require.EqualValues(t, len(data), info.Size)
	_, err = l.PutFile(ctx, "tenant/a b.pdf", io.MultiReader(bytes.NewReader(data[:10]), errReader{}))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	r, info, err := l.OpenFile(ctx, "tenant/a b.pdf")
	require.NoError(t, err)
	got, err := io.ReadAll(r)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.Equal(t, data, got)
	require.EqualValues(t, len(data), info.Size)
	require.NoError(t, l.DeleteFile(ctx, "tenant/a b.pdf"))
	_, _, err = l.OpenFile(ctx, "tenant/a b.pdf")
	require.ErrorIs(t, err, ErrNotFound)
	_, err = l.FileInfo(ctx, "none")
	require.ErrorIs(t, err, ErrNotFound)
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
