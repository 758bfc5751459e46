package knowledge

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/document"
)

// failingReader fails with an error that a test chooses, and counts how often it is asked.
type failingReader struct {
	fakeReader
	err   atomic.Pointer[error]
	reads atomic.Int32
}

func (r *failingReader) Read(context.Context, document.Source) (string, error) {
	r.reads.Add(1)
	if err := r.err.Load(); err != nil {
		return "", *err
	}
	return "apple", nil
}

// look opens a folder, indexes it once, and closes it.
func look(t *testing.T, root, index string, r Reader) {
	t.Helper()
	b, err := Open(t.Context(), Config{Root: root, Index: index, Reader: r, Poll: -1, Wait: patience, Log: quiet})
	require.NoError(t, err)
	require.NoError(t, b.await(t.Context()))
	require.NoError(t, b.Close())
}

// A document that cannot be read is read again when its content changes, not when it is touched and
// not at a start.
func TestFailedDocumentIsReadOnce(t *testing.T) {
	root, index := folder(t, "a/x.pdf", "broken"), filepath.Join(t.TempDir(), "i.db")
	r := &failingReader{}
	damaged := error(document.ErrDamaged)
	r.err.Store(&damaged)
	look(t, root, index, r)
	look(t, root, index, r)
	require.EqualValues(t, 1, r.reads.Load(), "the index remembers it over a start")

	file := filepath.Join(root, "a", "x.pdf")
	later := time.Now().Add(time.Hour)
	require.NoError(t, os.Chtimes(file, later, later))
	look(t, root, index, r)
	require.EqualValues(t, 1, r.reads.Load(), "the content is the same")

	r.err.Store(nil)
	write(t, root, "a/x.pdf", "mended")
	look(t, root, index, r)
	require.EqualValues(t, 2, r.reads.Load())
	b := open(t, Config{Root: root, Index: index, Reader: r, Poll: -1})
	require.Equal(t, []string{"a/x.pdf: apple"}, ask(t, b, "apple", "a"))
}

// A document that could not be read for now is read at the next look.
func TestBusyDocumentIsReadAgain(t *testing.T) {
	root, index := folder(t, "a/x.pdf", "x"), filepath.Join(t.TempDir(), "i.db")
	r := &failingReader{}
	busy := error(document.ErrBusy)
	r.err.Store(&busy)
	look(t, root, index, r)
	r.err.Store(nil)
	look(t, root, index, r)
	require.EqualValues(t, 2, r.reads.Load())
	b := open(t, Config{Root: root, Index: index, Reader: r, Poll: -1})
	require.Equal(t, []string{"a/x.pdf: apple"}, ask(t, b, "apple", "a"))
}

// What another version could not read is read by this one.
func TestFailureOfAnotherVersion(t *testing.T) {
	f, ok := document.FailureOf(document.ErrDamaged)
	require.True(t, ok)
	e := indexed{failure: f}
	require.False(t, e.again(true))
	e.failure.Version++
	require.True(t, e.again(false))
	require.ErrorIs(t, f.Err(), document.ErrDamaged)
	_, ok = document.FailureOf(errors.New("disk"))
	require.False(t, ok)
}
