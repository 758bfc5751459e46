package runner

import (
	"context"
	"encoding/binary"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Keys are small values with a time to live, shared by all hosts: cancel marks
// and trace logs, under the names that the original uses in Redis.

// keySubject puts cancel marks where the watcher hears them.
func (l *Log) keySubject(key string) string {
	if task, ok := strings.CutSuffix(key, cancelSuffix); ok {
		return l.subject("key", "c", token(task))
	}
	return l.subject("key", "k", token(key))
}

// Put sets a key. A ttl of 0 keeps it until it is deleted.
func (l *Log) Put(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	// The server counts in seconds; the exact end stands before the value.
	var until uint64
	var opts []jetstream.PublishOpt
	if ttl > 0 {
		until = uint64(time.Now().Add(ttl).UnixMilli())
		opts = append(opts, jetstream.WithMsgTTL(ttl.Truncate(time.Second)+2*time.Second))
	}
	body := append(binary.BigEndian.AppendUint64(nil, until), value...)
	_, err := retry(ctx, func(ctx context.Context) (any, error) {
		packed, err := l.spill(ctx, body)
		if err != nil {
			return nil, err
		}
		return l.js.Publish(ctx, l.keySubject(key), packed, opts...)
	})
	return fail(err, "put key %q", key)
}

// Get reads a key and how long it still lives, 0 for as long as it is not
// deleted. Errors: [ErrNotFound].
func (l *Log) Get(ctx context.Context, key string) (value []byte, ttl time.Duration, err error) {
	m, err := l.last(ctx, l.cfg.Prefix+"_KEYS", l.keySubject(key))
	if err != nil {
		return nil, 0, fail(err, "get key %q", key)
	}
	if m == nil || len(m.data) < 8 {
		return nil, 0, fail(ErrNotFound, "get key %q", key)
	}
	if until := binary.BigEndian.Uint64(m.data); until > 0 {
		if ttl = time.Until(time.UnixMilli(int64(until))); ttl <= 0 {
			return nil, 0, fail(ErrNotFound, "get key %q", key)
		}
	}
	return m.data[8:], ttl, nil
}

// Del removes a key; one that is not there is no error.
func (l *Log) Del(ctx context.Context, key string) error {
	_, err := retry(ctx, func(ctx context.Context) (any, error) {
		return nil, l.keys.Purge(ctx, jetstream.WithPurgeSubject(l.keySubject(key)))
	})
	return fail(err, "delete key %q", key)
}

// Expire gives a key a new time to live. Errors: [ErrNotFound].
func (l *Log) Expire(ctx context.Context, key string, ttl time.Duration) error {
	value, _, err := l.Get(ctx, key)
	if err != nil {
		return err
	}
	if ttl <= 0 {
		return l.Del(ctx, key)
	}
	return l.Put(ctx, key, value, ttl)
}
