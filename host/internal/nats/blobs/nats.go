package blobs

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
)

// natsFiles are files in an object store on JetStream.
type natsFiles struct {
	conn   *broker.Conn
	bucket string
	files  jetstream.ObjectStore
	stream jetstream.Stream // of the bucket
	// replicated is whether several servers have the files. One that lags may answer a request.
	replicated bool
}

// openNATS opens the object store, and creates it at the first use.
func openNATS(ctx context.Context, conn *broker.Conn) (*natsFiles, error) {
	s := &natsFiles{conn: conn, bucket: conn.Name("files"), replicated: conn.Replicas() > 1}
	var err error
	if s.files, err = conn.Bucket(ctx, jetstream.ObjectStoreConfig{Bucket: s.bucket}); err != nil {
		return nil, err
	}
	s.stream, err = broker.Retry(ctx, func(ctx context.Context) (jetstream.Stream, error) {
		return conn.Slow.Stream(ctx, s.streamName())
	})
	return s, broker.Fail(err, "bucket %s", s.bucket)
}

func (s *natsFiles) streamName() string { return "OBJ_" + s.bucket }

// metaSubject returns the subject of the description of a file.
func (s *natsFiles) metaSubject(name string) string {
	return "$O." + s.bucket + ".M." + base64.URLEncoding.EncodeToString([]byte(name))
}

// chunkSize is the number of bytes of a file in one message.
const chunkSize = 128 << 10

// chunks are buffers of pieces: for each small file, a new one would cost more than the file.
var chunks = sync.Pool{New: func() any { return new([chunkSize]byte) }}

// Put implements backend. It writes the format of jetstream's ObjectStore.Put, which sends a
// message for every read with up to 4,000 unacknowledged: small pieces of a form fail as too many,
// large ones are hundreds of megabytes in memory. Here the next piece is read when the previous one
// is stored.
func (s *natsFiles) Put(ctx context.Context, name string, r io.Reader) (Info, error) {
	info, err := s.put(ctx, name, r)
	if err != nil {
		return Info{}, broker.Fail(err, "put file %q", name)
	}
	return infoOf(info), nil
}

func (s *natsFiles) put(ctx context.Context, name string, r io.Reader) (*jetstream.ObjectInfo, error) {
	old, err := s.info(ctx, name)
	if err != nil && !errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil, err
	}
	info := &jetstream.ObjectInfo{
		Bucket: s.bucket, NUID: nuid.Next(),
		ObjectMeta: jetstream.ObjectMeta{Name: name, Opts: &jetstream.ObjectMetaOptions{ChunkSize: chunkSize}},
	}
	if err := s.putChunks(ctx, info, r); err != nil {
		return nil, errors.Join(err, s.purgeChunks(context.WithoutCancel(ctx), info))
	}
	if err := s.publishInfo(ctx, info); err != nil {
		return nil, errors.Join(err, s.purgeChunks(context.WithoutCancel(ctx), info))
	}
	if old != nil {
		// The new file is stored; the pieces of the old one only occupy space.
		_ = s.purgeChunks(ctx, old)
	}
	return info, nil
}

// publishInfo replaces the description of a file.
func (s *natsFiles) publishInfo(ctx context.Context, info *jetstream.ObjectInfo) error {
	text, err := json.Marshal(info)
	if err != nil {
		return err
	}
	meta := nats.NewMsg(s.metaSubject(info.Name))
	meta.Header.Set(jetstream.MsgRollup, jetstream.MsgRollupSubject)
	meta.Data = text
	_, err = s.conn.Slow.PublishMsg(ctx, meta)
	return err
}

// putChunks stores the pieces of a file and completes info.
func (s *natsFiles) putChunks(ctx context.Context, info *jetstream.ObjectInfo, r io.Reader) error {
	buf := chunks.Get().(*[chunkSize]byte) // the pool has nothing else
	defer chunks.Put(buf)                  // a message is copied when it is published
	chunk, hash := buf[:], sha256.New()
	for {
		if err := s.conn.Room(chunkSize); err != nil {
			return err
		}
		n, err := readFull(r, chunk)
		if n > 0 {
			hash.Write(chunk[:n])
			m := nats.NewMsg(chunkSubject(info))
			m.Data = chunk[:n]
			if _, err := s.conn.Slow.PublishMsg(ctx, m); err != nil {
				return err
			}
			info.Size += uint64(n)
			info.Chunks++
		}
		switch {
		case errors.Is(err, io.EOF):
			info.Digest = jetstream.GetObjectDigestValue(hash)
			return nil
		case err != nil:
			return err
		}
	}
}

// readFull fills p, or reads to the end, which is io.EOF. Other than in io.ReadFull,
// io.ErrUnexpectedEOF is r's own.
func readFull(r io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var more int
		more, err = r.Read(p[n:])
		n += more
	}
	return n, err
}

func chunkSubject(info *jetstream.ObjectInfo) string { return "$O." + info.Bucket + ".C." + info.NUID }

// purgeChunks removes the pieces of a file.
func (s *natsFiles) purgeChunks(ctx context.Context, info *jetstream.ObjectInfo) error {
	ctx, done := context.WithTimeout(ctx, broker.Wait)
	defer done()
	return s.stream.Purge(ctx, jetstream.WithPurgeSubject(chunkSubject(info)))
}

// Stat implements backend.
func (s *natsFiles) Stat(ctx context.Context, name string) (Info, error) {
	info, err := s.info(ctx, name)
	if err != nil {
		return Info{}, broker.Fail(err, "file %q", name)
	}
	return infoOf(info), nil
}

// Delete implements backend.
func (s *natsFiles) Delete(ctx context.Context, name string) error {
	return broker.Fail(s.delete(ctx, name), "delete file %q", name)
}

// delete is jetstream's ObjectStore.Delete with the description that s.info returns.
func (s *natsFiles) delete(ctx context.Context, name string) error {
	info, err := s.info(ctx, name)
	if err == nil {
		err = s.conn.RoomToDelete()
	}
	if err != nil {
		return err
	}
	info.Deleted, info.Size, info.Chunks, info.Digest = true, 0, 0, ""
	if err := s.publishInfo(ctx, info); err != nil {
		return err
	}
	return s.purgeChunks(ctx, info)
}

func infoOf(info *jetstream.ObjectInfo) Info {
	return Info{Name: info.Name, Size: info.Size, Digest: info.Digest}
}

// List implements backend.
func (s *natsFiles) List(ctx context.Context) ([]Info, error) {
	list, err := s.files.List(ctx)
	if errors.Is(err, jetstream.ErrNoObjectsFound) {
		return nil, nil
	}
	if err != nil {
		return nil, broker.Fail(err, "list files")
	}
	out := make([]Info, len(list))
	for i, info := range list {
		out[i] = infoOf(info)
	}
	return out, nil
}
