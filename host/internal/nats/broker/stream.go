package broker

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// declared is a stream or bucket that a user of the connection needs.
type declared struct {
	name   string // of the stream
	create func(ctx context.Context) error
	lost   func() // called after it was recreated empty; may be nil
}

// Stream creates or updates a stream, and recreates it, empty, when a server returns without it;
// lost is called then. The connection determines storage and replicas.
func (c *Conn) Stream(ctx context.Context, cfg jetstream.StreamConfig, lost func()) (jetstream.Stream, error) {
	cfg.Replicas, cfg.Storage = c.cfg.Replicas, jetstream.FileStorage
	create := func(ctx context.Context) (jetstream.Stream, error) {
		return Retry(ctx, func(ctx context.Context) (jetstream.Stream, error) {
			return c.JS.CreateOrUpdateStream(ctx, cfg)
		})
	}
	stream, err := create(ctx)
	if err != nil {
		return nil, c.Explain(Fail(err, "stream %s", cfg.Name))
	}
	c.declare(cfg.Name, func(ctx context.Context) error { _, err := create(ctx); return err }, lost)
	return stream, nil
}

// Bucket creates or updates an object store, and recreates it when a server returns without it.
func (c *Conn) Bucket(ctx context.Context, cfg jetstream.ObjectStoreConfig) (jetstream.ObjectStore, error) {
	cfg.Replicas, cfg.Storage = c.cfg.Replicas, jetstream.FileStorage
	create := func(ctx context.Context) (jetstream.ObjectStore, error) {
		return Retry(ctx, func(ctx context.Context) (jetstream.ObjectStore, error) {
			return c.Slow.CreateOrUpdateObjectStore(ctx, cfg)
		})
	}
	bucket, err := create(ctx)
	if err != nil {
		return nil, c.Explain(Fail(err, "bucket %s", cfg.Bucket))
	}
	c.declare("OBJ_"+cfg.Bucket, func(ctx context.Context) error { _, err := create(ctx); return err }, nil)
	return bucket, nil
}

func (c *Conn) declare(name string, create func(context.Context) error, lost func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.streams = append(c.streams, declared{name, create, lost})
}

// OnRestore registers a function that is called after each reconnect to an existing server, when
// all streams exist. It is retried while it fails.
func (c *Conn) OnRestore(call func(context.Context) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.onRestore = append(c.onRestore, call)
}

// restore recreates streams that an existing server has lost when it returns: all streams after a
// loss of power before anything was synced, or on a new disk. Runs of this host are fenced by their
// next write, found as orphaned, and started again.
func (c *Conn) restore() {
	if c.Embedded() {
		return
	}
	for logged := false; c.ctx.Err() == nil; logged = true {
		err := c.restoreStreams(c.ctx)
		if err == nil || c.ctx.Err() != nil {
			return
		}
		if !logged {
			c.cfg.Log.Warn("cannot check the streams of the reconnected NATS yet, retrying", "err", err)
		}
		Sleep(c.ctx, time.Second)
	}
}

func (c *Conn) restoreStreams(ctx context.Context) error {
	c.mu.Lock()
	streams, calls := c.streams, c.onRestore
	c.mu.Unlock()
	for _, s := range streams {
		missing, err := c.missing(ctx, s.name)
		if err != nil {
			return err
		}
		if missing {
			c.cfg.Log.Error(
				"NATS lost a stream; recreated empty. Check `sync_interval: always` and the storage directory",
				"stream", s.name)
			if err := s.create(ctx); err != nil {
				return err
			}
			if s.lost != nil {
				s.lost()
			}
		}
	}
	for _, call := range calls {
		if err := call(ctx); err != nil {
			return err
		}
	}
	return nil
}

// missing reports whether the server lacks a stream.
func (c *Conn) missing(ctx context.Context, stream string) (bool, error) {
	_, err := Retry(ctx, func(ctx context.Context) (jetstream.Stream, error) { return c.JS.Stream(ctx, stream) })
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return true, nil
	}
	return false, err
}
