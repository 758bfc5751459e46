package broker

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// A body that is larger than a message is stored as an object; the message holds this byte, with
// which no other message of easel starts, and the object's name.
const largeMark = 0xff

// headerSpace is kept free in each message.
const headerSpace = 1 << 10

// Pack makes a body ready to be sent: itself when it fits into a message. All writes pass here, so
// a full disk is detected here. Errors: [ErrFull].
func (c *Conn) Pack(ctx context.Context, body []byte) ([]byte, error) {
	if err := c.Room(len(body)); err != nil {
		return nil, err
	}
	if int64(len(body)) <= c.NATS.MaxPayload()-headerSpace {
		return body, nil
	}
	bucket, err := c.large(ctx)
	if err != nil {
		return nil, err
	}
	name := nuid.Next()
	if _, err := bucket.PutBytes(ctx, name, body); err != nil {
		return nil, err
	}
	return append([]byte{largeMark}, name...), nil
}

// Unpack reverses [Conn.Pack]. Errors: [ErrGone].
func (c *Conn) Unpack(ctx context.Context, body []byte) ([]byte, error) {
	if len(body) == 0 || body[0] != largeMark {
		return body, nil
	}
	bucket, err := c.large(ctx)
	if err != nil {
		return nil, err
	}
	data, err := bucket.GetBytes(ctx, string(body[1:]))
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil, ErrGone
	}
	return data, err
}

// large returns the bucket of large bodies. Most installations never need it, so it
// is created at the first use.
func (c *Conn) large(ctx context.Context) (jetstream.ObjectStore, error) {
	return c.JS.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{
		Bucket: c.Name("spill"), Replicas: c.cfg.Replicas, TTL: c.cfg.KeepLarge, Storage: jetstream.FileStorage,
	})
}
