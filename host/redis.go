package host

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/redisdoor"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
)

// redisKeys are RAGFlow's keys: served by a Redis endpoint of this host, stored in an existing
// Redis, or both.
type redisKeys struct {
	door   *redisdoor.Door
	bridge *redisdoor.Bridge
	traces *redisdoor.Traces
	ended  chan string // tasks whose cancel mark in Redis may go
}

// openRedis opens the configured Redis endpoint and bridge.
func (h *Host) openRedis(ctx context.Context) (err error) {
	cfg, r := &h.cfg, &h.redis
	var places []redisdoor.KeyWriter
	if cfg.RedisDoor != "" {
		password := cfg.RedisPassword
		if password == "" {
			if password, err = h.redisPassword(ctx); err != nil {
				return err
			}
		}
		if r.door, err = redisdoor.Listen(redisdoor.Config{
			Addr: cfg.RedisDoor, Password: password, Remote: cfg.RedisRemote, Keys: h.keys, Log: cfg.Log,
		}); err != nil {
			return err
		}
		places = append(places, h.keys)
	}
	if cfg.Redis != "" {
		if r.bridge, err = redisdoor.NewBridge(redisdoor.BridgeConfig{
			URL: cfg.Redis, Runs: h.log,
			Log: cfg.Log,
		}); err != nil {
			return err
		}
		places = append(places, r.bridge)
	}
	if len(places) > 0 {
		r.traces = redisdoor.NewTraces(cfg.Log, places...)
		r.ended = make(chan string, 1024)
	}
	return nil
}

// wanted reports whether traces are to be written, which need all events of a run.
func (r *redisKeys) wanted(cfg *Config) bool { return cfg.RedisDoor != "" || cfg.Redis != "" }

// redisPassword returns the endpoint's password, which is created at the first start and returned
// in RedisKey then.
func (h *Host) redisPassword(ctx context.Context) (string, error) {
	const tenant, name = "", "redis-door" // of no tenant, so no canvas can name it
	kept, err := h.store.Secrets.Open(ctx, tenant, name)
	if err == nil {
		return string(kept), nil
	}
	if !errors.Is(err, store.ErrNotFound) {
		return "", fmt.Errorf("password of the redis door: %w", err)
	}
	h.RedisKey = rand.Text()
	return h.RedisKey, h.store.Secrets.Put(ctx, tenant, name, []byte(h.RedisKey), nil)
}

// RedisDoor returns the address of the Redis endpoint; "" if the endpoint is off.
func (h *Host) RedisDoor() string {
	if h.redis.door == nil {
		return ""
	}
	return h.redis.door.Addr().String()
}

// work keeps Redis synchronised until ctx ends.
func (r *redisKeys) work(ctx context.Context, h *Host) {
	if r.traces == nil {
		return
	}
	h.work.Go(func() { r.traces.Write(ctx) })
	if r.bridge == nil {
		return
	}
	h.work.Go(func() { r.bridge.Watch(ctx) })
	h.work.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case task := <-r.ended:
				if err := r.bridge.Delete(ctx, task+"-cancel"); err != nil && ctx.Err() == nil {
					h.cfg.Log.Warn("cancel mark stays in redis", "task", task, "err", err)
				}
			}
		}
	})
}

// watch receives the records of runs.
func (r *redisKeys) watch(j *runs.Job, e runlog.Record) {
	if r.traces == nil || engine.EventType(e.Kind) != engine.EventToolFinished {
		return
	}
	if data := runs.Facts(e).Data; !data.IsNull() {
		r.traces.Tool(j.ID, j.Message, data)
	}
}

// forget deletes the keys of a task whose canvas is reset.
func (r *redisKeys) forget(ctx context.Context, task string) error {
	if r.traces == nil {
		return nil
	}
	return r.traces.Forget(ctx, task)
}

// end releases a run and deletes its cancel mark, which would otherwise leak.
func (r *redisKeys) end(j *runs.Job, end runs.End) {
	if r.traces == nil {
		return
	}
	r.traces.End(j.ID)
	if r.bridge == nil || end.Status != store.RunCanceled {
		return
	}
	select {
	case r.ended <- j.ID:
	default: // Redis is unavailable; its marks are few bytes
	}
}

func (r *redisKeys) close() (err error) {
	if r.door != nil {
		err = r.door.Close()
	}
	if r.bridge != nil {
		err = errors.Join(err, r.bridge.Close())
	}
	return err
}
