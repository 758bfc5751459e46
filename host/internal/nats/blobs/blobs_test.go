package blobs

import (
	"bytes"
	"io"
	"strconv"
	"sync"
	"testing"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/testing/brokertest"
	"github.com/stretchr/testify/require"
)

func TestFiles(t *testing.T) { brokertest.OnBoth(t, testFiles) }

func testFiles(t *testing.T, conn *broker.Conn) {
	s, err := New(t.Context(), conn)
	require.NoError(t, err)
	testStored(t, s)
}

// testStored stores, reads and deletes a file.
func testStored(t *testing.T, s *Store) {
	t.Helper()
	ctx := t.Context()
	data := bytes.Repeat([]byte("0123456789"), 100_000)
	info, err := s.Put(ctx, "tenant/a b.pdf", bytes.NewReader(data))
	require.NoError(t, err)
	require.EqualValues(t, len(data), info.Size)
	_, err = s.Put(ctx, "tenant/a b.pdf", io.MultiReader(bytes.NewReader(data[:10]), errReader{}))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	r, info, err := s.Open(ctx, "tenant/a b.pdf")
	require.NoError(t, err)
	got, err := io.ReadAll(r)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.Equal(t, data, got)
	require.EqualValues(t, len(data), info.Size)
	require.NoError(t, s.Delete(ctx, "tenant/a b.pdf"))
	_, _, err = s.Open(ctx, "tenant/a b.pdf")
	require.ErrorIs(t, err, broker.ErrNotFound)
	_, err = s.Stat(ctx, "none")
	require.ErrorIs(t, err, broker.ErrNotFound)
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// Files that arrive in small pieces, as forms do, are stored in large ones; many at once wait for
// each other.
func TestFilesAtOnce(t *testing.T) {
	s, err := openNATS(t.Context(), brokertest.Open(t, broker.Config{}))
	require.NoError(t, err)
	data := bytes.Repeat([]byte("x"), 8<<20)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			name := strconv.Itoa(i)
			if _, err := s.Put(t.Context(), name, smallReads{bytes.NewReader(data)}); err != nil {
				t.Errorf("put: %v", err)
				return
			}
			r, _, err := s.Open(t.Context(), name)
			if err != nil {
				t.Errorf("open: %v", err)
				return
			}
			got, err := io.ReadAll(r)
			if err != nil || !bytes.Equal(data, got) {
				t.Errorf("%d bytes are read of %d: %v", len(got), len(data), err)
			}
			_ = r.Close() // it was only read
		})
	}
	group.Wait()
	stream, err := s.conn.JS.Stream(t.Context(), "OBJ_"+s.bucket)
	require.NoError(t, err)
	require.EqualValues(t, 8*(len(data)/chunkSize+1), stream.CachedInfo().State.Msgs)
}

// smallReads returns a kilobyte at a time.
type smallReads struct{ r io.Reader }

func (s smallReads) Read(p []byte) (int, error) { return s.r.Read(p[:min(len(p), 1<<10)]) }

// A file that is replaced, and one whose reader fails, leave no pieces behind.
func TestPiecesOfFiles(t *testing.T) {
	s, err := openNATS(t.Context(), brokertest.Open(t, broker.Config{}))
	require.NoError(t, err)
	data := make([]byte, 3*chunkSize)
	for range 2 {
		_, err := s.Put(t.Context(), "a", bytes.NewReader(data))
		require.NoError(t, err)
		_, err = s.Put(t.Context(), "b", io.MultiReader(bytes.NewReader(data), errReader{}))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	}
	stream, err := s.conn.JS.Stream(t.Context(), "OBJ_"+s.bucket)
	require.NoError(t, err)
	require.EqualValues(t, 4, stream.CachedInfo().State.Msgs)
}
