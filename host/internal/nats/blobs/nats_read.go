package blobs

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"hash"
	"io"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
)

// Open implements backend. jetstream's ObjectStore.Get creates a consumer for each file, which
// costs more than a small file itself, and ends after the timeout of one request, however large the
// file or slow its reader is; [pieces] requests each piece.
func (s *natsFiles) Open(ctx context.Context, name string) (io.ReadCloser, Info, error) {
	info, err := s.info(ctx, name)
	if err != nil {
		return nil, Info{}, broker.Fail(err, "open file %q", name)
	}
	return &pieces{ctx: ctx, files: s, info: info, hash: sha256.New()}, infoOf(info), nil
}

// info describes a file. In a cluster the leader is asked, since replicas may not have it yet.
func (s *natsFiles) info(ctx context.Context, name string) (*jetstream.ObjectInfo, error) {
	if !s.replicated {
		return s.files.GetInfo(ctx, name)
	}
	m, err := s.conn.LastStored(ctx, s.streamName(), s.metaSubject(name))
	if err != nil {
		return nil, err
	}
	if m == nil {
		return nil, jetstream.ErrObjectNotFound
	}
	var info jetstream.ObjectInfo
	if err := json.Unmarshal(m.Data, &info); err != nil {
		return nil, errors.Join(jetstream.ErrBadObjectMeta, err)
	}
	if info.Deleted {
		return nil, jetstream.ErrObjectNotFound
	}
	return &info, nil
}

// piece returns the first piece of a file with a sequence number above after. Any replica of a
// cluster may answer. One that lags has the first pieces of a file, and the leader the rest.
func (s *natsFiles) piece(ctx context.Context, info *jetstream.ObjectInfo, after uint64) (*broker.Message, error) {
	m, err := s.stream.GetMsg(ctx, after+1, jetstream.WithGetMsgSubject(chunkSubject(info)))
	if err == nil {
		return &broker.Message{Seq: m.Sequence, Data: m.Data}, nil
	}
	if !s.replicated || !errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, err
	}
	fromLeader, leaderErr := s.conn.NextStored(ctx, s.streamName(), chunkSubject(info), after+1)
	if leaderErr != nil {
		return nil, leaderErr
	}
	if fromLeader == nil {
		return nil, err
	}
	return fromLeader, nil
}

// pieces reads a file one piece after the other.
type pieces struct {
	ctx   context.Context // of Open: it ends the reads as well
	files *natsFiles
	info  *jetstream.ObjectInfo
	hash  hash.Hash // of all pieces up to now

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
	m, err := p.files.piece(p.ctx, p.info, p.after)
	if err != nil {
		return broker.Fail(err, "read file %q: piece %d of %d", p.info.Name, p.read+1, p.info.Chunks)
	}
	p.read, p.after, p.rest = p.read+1, m.Seq, m.Data
	p.hash.Write(m.Data)
	return nil
}

// Close implements io.Closer.
func (p *pieces) Close() error {
	p.rest, p.err = nil, io.ErrClosedPipe
	return nil
}
