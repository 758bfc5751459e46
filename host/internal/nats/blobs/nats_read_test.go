package blobs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/testing/brokertest"
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

// A reader may be slower than the timeout of a request: it bounds the read of a piece, not of the
// file.
func TestSlowReaders(t *testing.T) {
	conn := brokertest.Open(t, broker.Config{})
	s, err := openNATS(t.Context(), conn)
	require.NoError(t, err)
	data := bytes.Repeat([]byte("0123456789abcdef"), 40*chunkSize/16)
	_, err = s.Put(t.Context(), "a", bytes.NewReader(data))
	require.NoError(t, err)
	slowly := func(timeout time.Duration) ([]byte, error) {
		js, err := jetstream.New(conn.NATS, jetstream.WithDefaultTimeout(timeout))
		require.NoError(t, err)
		if s.files, err = js.ObjectStore(t.Context(), s.bucket); err != nil {
			return nil, err
		}
		if s.stream, err = js.Stream(t.Context(), s.streamName()); err != nil {
			return nil, err
		}
		r, _, err := s.Open(t.Context(), "a")
		if err != nil {
			return nil, err
		}
		got := make([]byte, chunkSize)
		if _, err = io.ReadFull(r, got); err != nil {
			return nil, errors.Join(err, r.Close())
		}
		time.Sleep(timeout + timeout/2)
		rest, err := io.ReadAll(r)
		return append(got, rest...), errors.Join(err, r.Close())
	}
	for _, s.replicated = range []bool{false, true} {
		timeout := 300 * time.Millisecond
		got, err := slowly(timeout)
		for ; err != nil && timeout < time.Minute; got, err = slowly(timeout) {
			timeout *= 2 // a request on a busy machine took longer
		}
		require.NoError(t, err)
		require.True(t, bytes.Equal(data, got))
	}
}

// laggingStream has the first two messages of a file.
type laggingStream struct{ jetstream.Stream }

func (s laggingStream) GetMsg(
	ctx context.Context, seq uint64, opts ...jetstream.GetMsgOpt,
) (*jetstream.RawStreamMsg, error) {
	m, err := s.Stream.GetMsg(ctx, seq, opts...)
	if err == nil && m.Sequence%5 > 2 {
		return nil, jetstream.ErrMsgNotFound
	}
	return m, err
}

// laggingFiles has no descriptions.
type laggingFiles struct{ jetstream.ObjectStore }

func (laggingFiles) GetInfo(
	context.Context, string, ...jetstream.GetObjectInfoOpt,
) (*jetstream.ObjectInfo, error) {
	return nil, jetstream.ErrObjectNotFound
}

// In a cluster a replica that does not have a file yet may answer. Files are found and read whole
// nevertheless.
func TestReadingFromLaggingReplicas(t *testing.T) {
	s, err := openNATS(t.Context(), brokertest.Open(t, broker.Config{}))
	require.NoError(t, err)
	s.replicated = true
	s.stream, s.files = laggingStream{s.stream}, laggingFiles{s.files}
	for range 3 {
		data := bytes.Repeat([]byte("0123456789abcdef"), 4*chunkSize/16)
		_, err := s.Put(t.Context(), "a", bytes.NewReader(data))
		require.NoError(t, err)
		_, err = s.Stat(t.Context(), "a")
		require.NoError(t, err)
		r, _, err := s.Open(t.Context(), "a")
		require.NoError(t, err)
		got, err := io.ReadAll(r)
		require.NoError(t, errors.Join(err, r.Close()))
		require.True(t, bytes.Equal(data, got))
	}
	stream, err := s.stream.Info(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 5, stream.State.Msgs, "earlier pieces are deleted")
	require.NoError(t, s.Delete(t.Context(), "a"))
	_, _, err = s.Open(t.Context(), "a")
	require.ErrorIs(t, err, broker.ErrNotFound)
	require.ErrorIs(t, s.Delete(t.Context(), "a"), broker.ErrNotFound)
}
