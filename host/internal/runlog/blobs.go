package runlog

import (
	"context"
	"errors"
	"sync"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/runlog/pack"
)

// Large values of a run are stored once. A canvas repeats them: an output of 1 MB is in the node's
// result, in its event, in the checkpoint, in the input of the next node and in the last snapshot.
// The first record with such a value stores it as a blob, under run.<run>.bl.<id>; it and the later
// ones contain the blob's id. Readers get the original records.

// pack returns the records of a bundle in stored form, and stores the blobs they need. The caller
// holds e.writing.
func (e *Lease) pack(ctx context.Context, records []Record) ([]Record, error) {
	out := records
	for i, r := range records {
		if len(r.Data) < pack.Limit {
			continue
		}
		data, blobs := e.packer.Pack(r.Data)
		e.blobs = append(e.blobs, blobs...)
		if len(data) == len(r.Data) {
			continue // nothing in it is large
		}
		if &out[0] == &records[0] {
			out = append([]Record(nil), records...)
		}
		out[i].Data, out[i].packed = data, true
	}
	for len(e.blobs) > 0 {
		if err := e.log.putBlob(ctx, e.token, e.blobs[0]); err != nil {
			return nil, err // the others are sent with the next try
		}
		e.blobs = e.blobs[1:]
	}
	e.blobs = nil
	return out, nil
}

// putBlob stores a blob unless the run has it, from another host for instance.
func (s *records) putBlob(ctx context.Context, run string, b pack.Blob) error {
	_, err := broker.Retry(ctx, func(ctx context.Context) (any, error) {
		body, err := s.conn.Pack(ctx, b.JSON)
		if err != nil {
			return nil, err
		}
		return s.conn.JS.Publish(ctx, s.conn.Subject("run", run, "bl", b.ID), body,
			jetstream.WithExpectLastSequencePerSubject(0))
	})
	if broker.Outdated(err) {
		return nil
	}
	return err
}

// unpack returns the records as they were written. Those of others are not
// changed.
func (s *records) unpack(ctx context.Context, run string, records []Record) ([]Record, error) {
	for i, r := range records {
		if !r.packed {
			continue
		}
		data, err := pack.Unpack(r.Data, func(id string) ([]byte, error) { return s.blob(ctx, run, id) })
		if errors.Is(err, pack.ErrDamaged) {
			err = errors.Join(broker.ErrDamaged, err)
		}
		if err != nil {
			return nil, err
		}
		records[i].Data, records[i].packed = data, false
	}
	return records, nil
}

// blob reads a blob. Errors: [broker.ErrGone].
func (s *records) blob(ctx context.Context, run, id string) ([]byte, error) {
	if b := s.cache.get(id); b != nil {
		return b, nil
	}
	subject := s.conn.Subject("run", run, "bl", id)
	found, err := s.conn.Read(ctx, s.conn.Name("LOG"), subject, 1)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		// Only the leader can confirm that the blob is missing.
		m, err := s.conn.Last(ctx, s.conn.Name("LOG"), subject)
		if err != nil {
			return nil, err
		}
		if m == nil {
			return nil, broker.ErrGone
		}
		found = append(found, *m)
	}
	s.cache.put(id, found[0].Data)
	return found[0].Data, nil
}

// blobCache keeps the most recently read blobs, since successive records of a run refer to the same
// ones.
type blobCache struct {
	mu   sync.Mutex
	byID map[string][]byte
	size int
}

// cachedBlobs bounds the bytes of a blobCache. When it is full it is emptied,
// which needs no bookkeeping per use.
const cachedBlobs = 16 << 20

func (c *blobCache) get(id string) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byID[id]
}

func (c *blobCache) put(id string, b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID[id] != nil || len(b) > cachedBlobs {
		return
	}
	if c.byID == nil || c.size+len(b) > cachedBlobs {
		c.byID, c.size = map[string][]byte{}, 0
	}
	c.byID[id] = b
	c.size += len(b)
}
