// Package kv stores small values with a time to live on NATS JetStream, shared by all hosts: cancel
// marks and trace logs, under the names that the original uses in Redis.
package kv

import (
	"context"
	"encoding/binary"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
)

// CancelSuffix ends the keys that cancel a task.
const CancelSuffix = "-cancel"

// Store holds the keys of one installation. It is safe for concurrent use.
type Store struct {
	conn *broker.Conn
	keys jetstream.Stream
}

// New opens the store, and creates it at the first use.
//
// Errors: [broker.ErrUnavailable], [broker.ErrFull].
func New(ctx context.Context, conn *broker.Conn) (*Store, error) {
	s := &Store{conn: conn}
	var err error
	s.keys, err = conn.Stream(ctx, jetstream.StreamConfig{
		Name: s.stream(), Subjects: []string{conn.Subject("key", "*", "*")}, MaxMsgsPerSubject: 1,
		AllowDirect: true, AllowMsgTTL: true,
		RePublish: &jetstream.RePublish{
			Source: conn.Subject("key", "c", "*"), Destination: conn.Subject("keyup", "c", "{{wildcard(1)}}"),
		},
	}, nil)
	return s, err
}

func (s *Store) stream() string { return s.conn.Name("KEYS") }

// subject separates cancel marks, which are republished to watchers, from other keys.
func (s *Store) subject(key string) string {
	if task, ok := strings.CutSuffix(key, CancelSuffix); ok {
		return s.conn.Subject("key", "c", broker.Token(task))
	}
	return s.conn.Subject("key", "k", broker.Token(key))
}

// WatchCancels calls fn with each task whose cancel mark is stored, by any host, until the
// connection is closed. Marks that are stored while the connection is lost are missed.
func (s *Store) WatchCancels(fn func(task string)) error {
	_, err := s.conn.NATS.Subscribe(s.conn.Subject("keyup", "c", "*"), func(msg *nats.Msg) {
		task, ok := broker.Untoken(msg.Subject[strings.LastIndexByte(msg.Subject, '.')+1:])
		if ok && len(msg.Data) > 0 {
			fn(task)
		}
	})
	return broker.Fail(err, "watch cancel marks")
}

// Put sets a key. A ttl of 0 means no limit.
func (s *Store) Put(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	return s.put(ctx, key, value, ttl, s.conn.Pack)
}

// PutAlways is [Store.Put] for a small value that must be stored when the disk is full, too.
func (s *Store) PutAlways(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	return s.put(ctx, key, value, ttl, func(_ context.Context, body []byte) ([]byte, error) {
		return body, s.conn.RoomToDelete()
	})
}

func (s *Store) put(
	ctx context.Context, key string, value []byte, ttl time.Duration,
	pack func(ctx context.Context, body []byte) ([]byte, error),
) error {
	// The server counts in seconds; the exact end is stored before the value.
	var until uint64
	var opts []jetstream.PublishOpt
	if ttl > 0 {
		until = uint64(time.Now().Add(ttl).UnixMilli())
		opts = append(opts, jetstream.WithMsgTTL(ttl.Truncate(time.Second)+2*time.Second))
	}
	body := append(binary.BigEndian.AppendUint64(nil, until), value...)
	_, err := broker.Retry(ctx, func(ctx context.Context) (any, error) {
		packed, err := pack(ctx, body)
		if err != nil {
			return nil, err
		}
		return s.conn.JS.Publish(ctx, s.subject(key), packed, opts...)
	})
	return broker.Fail(err, "put key %q", key)
}

// Get reads a key and its remaining time to live, 0 for no limit. Errors: [broker.ErrNotFound].
func (s *Store) Get(ctx context.Context, key string) (value []byte, ttl time.Duration, err error) {
	m, err := s.conn.Last(ctx, s.stream(), s.subject(key))
	if err != nil {
		return nil, 0, broker.Fail(err, "get key %q", key)
	}
	if m == nil || len(m.Data) < 8 {
		return nil, 0, broker.Fail(broker.ErrNotFound, "get key %q", key)
	}
	if until := binary.BigEndian.Uint64(m.Data); until > 0 {
		if ttl = time.Until(time.UnixMilli(int64(until))); ttl <= 0 {
			return nil, 0, broker.Fail(broker.ErrNotFound, "get key %q", key)
		}
	}
	return m.Data[8:], ttl, nil
}

// Delete removes a key; a missing key is not an error.
func (s *Store) Delete(ctx context.Context, key string) error {
	_, err := broker.Retry(ctx, func(ctx context.Context) (any, error) {
		return nil, s.keys.Purge(ctx, jetstream.WithPurgeSubject(s.subject(key)))
	})
	return broker.Fail(err, "delete key %q", key)
}

// Expire sets a new time to live for a key. Errors: [broker.ErrNotFound].
func (s *Store) Expire(ctx context.Context, key string, ttl time.Duration) error {
	value, _, err := s.Get(ctx, key)
	if err != nil {
		return err
	}
	if ttl <= 0 {
		return s.Delete(ctx, key)
	}
	return s.Put(ctx, key, value, ttl)
}
