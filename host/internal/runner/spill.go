package runner

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// A body that is larger than the server takes in one message is put aside as
// an object, and the message holds its name after this byte, with which
// nothing else of ours starts.
const spillMark = 0xff

// spaceForHeaders is kept free in each message.
const spaceForHeaders = 1 << 10

// spill makes a body ready to be sent. Everything that is written passes here,
// so this is also where a full disk is seen.
func (l *Log) spill(ctx context.Context, body []byte) ([]byte, error) {
	if err := l.room(len(body)); err != nil {
		return nil, err
	}
	if int64(len(body)) <= l.nc.MaxPayload()-spaceForHeaders {
		return body, nil
	}
	bucket, err := l.spilled(ctx)
	if err != nil {
		return nil, err
	}
	name := nuid.Next()
	if _, err := bucket.PutBytes(ctx, name, body); err != nil {
		return nil, err
	}
	return append([]byte{spillMark}, name...), nil
}

func (l *Log) unspill(ctx context.Context, body []byte) ([]byte, error) {
	if len(body) == 0 || body[0] != spillMark {
		return body, nil
	}
	bucket, err := l.spilled(ctx)
	if err != nil {
		return nil, err
	}
	data, err := bucket.GetBytes(ctx, string(body[1:]))
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil, ErrGone
	}
	return data, err
}

// spilled is the bucket of large bodies; it forgets when the run log does.
// Most installations never need it, so it is made at the first use.
func (l *Log) spilled(ctx context.Context) (jetstream.ObjectStore, error) {
	return l.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{
		Bucket: l.cfg.Prefix + "_spill", Replicas: l.cfg.Replicas, TTL: l.cfg.Keep, Storage: jetstream.FileStorage,
	})
}
