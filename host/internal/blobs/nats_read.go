package blobs

import (
	"context"
	"crypto/sha256"
	"hash"
	"io"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/easel-canvas/easel/host/internal/broker"
)

// Open implements backend. jetstream's ObjectStore.Get creates a consumer for each file, which
// costs more than a small file itself; [pieces] asks for each piece. A replica of a cluster may
// answer such a request before it has the piece, so there the consumer reads from the leader.
func (s *natsFiles) Open(ctx context.Context, name string) (io.ReadCloser, Info, error) {
	if s.conn.Replicas() > 1 {
		return s.openByConsumer(ctx, name)
	}
	info, err := s.files.GetInfo(ctx, name)
	if err != nil {
		return nil, Info{}, broker.Fail(err, "open file %q", name)
	}
	return &pieces{ctx: ctx, stream: s.stream, info: info, hash: sha256.New()}, infoOf(info), nil
}

func (s *natsFiles) openByConsumer(ctx context.Context, name string) (io.ReadCloser, Info, error) {
	result, err := s.files.Get(ctx, name)
	if err != nil {
		return nil, Info{}, broker.Fail(err, "open file %q", name)
	}
	info, err := result.Info()
	if err != nil {
		return nil, Info{}, broker.Fail(err, "open file %q", name)
	}
	return result, infoOf(info), nil
}

// pieces reads a file one piece after the other.
type pieces struct {
	ctx    context.Context // of Open: it ends the reads as well
	stream jetstream.Stream
	info   *jetstream.ObjectInfo
	hash   hash.Hash // of all pieces up to now

	read  uint32 // pieces
	after uint64 // sequence number of the last one
	rest  []byte // of the last one, not yet given to the reader
	err   error  // after the rest
}

// Read implements io.Reader.
func (p *pieces) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		if p.err != nil {
			return 0, p.err
		}
		p.err = p.next()
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// next reads the next piece. After the last one it compares the digest and returns io.EOF.
func (p *pieces) next() error {
	if p.read == p.info.Chunks {
		if p.info.Size > 0 && jetstream.GetObjectDigestValue(p.hash) != p.info.Digest {
			return broker.Fail(jetstream.ErrDigestMismatch, "read file %q", p.info.Name)
		}
		return io.EOF
	}
	m, err := p.stream.GetMsg(p.ctx, p.after+1, jetstream.WithGetMsgSubject(chunkSubject(p.info)))
	if err != nil {
		return broker.Fail(err, "read file %q: piece %d of %d", p.info.Name, p.read+1, p.info.Chunks)
	}
	p.read, p.after, p.rest = p.read+1, m.Sequence, m.Data
	p.hash.Write(m.Data)
	return nil
}

// Close implements io.Closer.
func (p *pieces) Close() error {
	p.rest, p.err = nil, io.ErrClosedPipe
	return nil
}
