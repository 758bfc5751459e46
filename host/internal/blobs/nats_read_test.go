package blobs

import (
	"bytes"
	"io"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/broker"
	"github.com/easel-canvas/easel/host/internal/brokertest"
)

// A file that has lost a piece, or has another one in its place, fails instead of ending early or
// waiting for the piece.
func TestReadingDamagedFiles(t *testing.T) {
	s, err := openNATS(t.Context(), brokertest.Open(t, broker.Config{}))
	require.NoError(t, err)
	data := bytes.Repeat([]byte("0123456789abcdef"), 2*chunkSize/16)
	for _, lost := range []bool{true, false} {
		_, err := s.Put(t.Context(), "a", bytes.NewReader(data))
		require.NoError(t, err)
		r, _, err := s.Open(t.Context(), "a")
		require.NoError(t, err)
		_, err = io.ReadFull(r, make([]byte, chunkSize))
		require.NoError(t, err)
		info, err := s.files.GetInfo(t.Context(), "a")
		require.NoError(t, err)
		require.NoError(t, s.purgeChunks(t.Context(), info))
		want := broker.ErrNotFound
		if !lost {
			want = jetstream.ErrDigestMismatch
			_, err := s.conn.JS.Publish(t.Context(), chunkSubject(info), make([]byte, chunkSize))
			require.NoError(t, err)
		}
		_, err = io.ReadAll(r)
		require.ErrorIs(t, err, want)
		require.NoError(t, r.Close())
	}
}

// Files are read without consumers, which cost the server more than a small file.
func TestReadingMakesNoConsumer(t *testing.T) {
	s, err := openNATS(t.Context(), brokertest.Open(t, broker.Config{}))
	require.NoError(t, err)
	for _, size := range []int{0, 1, chunkSize, chunkSize + 1} {
		data := bytes.Repeat([]byte("x"), size)
		_, err := s.Put(t.Context(), "a", bytes.NewReader(data))
		require.NoError(t, err)
		r, info, err := s.Open(t.Context(), "a")
		require.NoError(t, err)
		require.EqualValues(t, size, info.Size)
		stream, err := s.stream.Info(t.Context())
		require.NoError(t, err)
		require.Zero(t, stream.State.Consumers)
		got, err := io.ReadAll(r)
		require.NoError(t, err)
		require.True(t, bytes.Equal(data, got))
		require.NoError(t, r.Close())
		_, err = r.Read(make([]byte, 1))
		require.Error(t, err)
	}
}
