package redisdoor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Runs cancels runs; the run log implements it.
type Runs interface {
	// Cancel cancels the runs of a task.
	Cancel(ctx context.Context, task string) error
	// Tasks lists the tasks of the runs of this host.
	Tasks() []string
}

// BridgeConfig holds the address of a Redis or Valkey and the runs that its keys control.
type BridgeConfig struct {
	URL  string // redis://user:password@host:6379/0, or rediss:// for TLS
	Runs Runs
	// Poll is the interval at which cancel keys are read if the server does not allow
	// notifications; 0 means 50 ms.
	Poll time.Duration
	Log  *slog.Logger // nil means slog.Default
}

// Bridge is a connection to an existing Redis.
type Bridge struct {
	cfg    BridgeConfig
	client *redis.Client
	seen   map[string]bool // tasks whose cancel key was handled; used by Watch only
}

// silence discards the log of the client library. Its errors are returned and logged here.
type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

func init() { redis.SetLogger(silence{}) }

// NewBridge parses the address. It does not connect yet.
func NewBridge(cfg BridgeConfig) (*Bridge, error) {
	opts, err := redis.ParseURL(cfg.URL)
	if err != nil {
		// The address may contain a password, so it is not part of the error.
		return nil, errors.New("redis bridge: address is not of the form redis://user:password@host:port/db")
	}
	if cfg.Poll == 0 {
		cfg.Poll = 50 * time.Millisecond
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	return &Bridge{cfg: cfg, client: redis.NewClient(opts), seen: map[string]bool{}}, nil
}

// Close closes the connection.
func (b *Bridge) Close() error { return b.client.Close() }

// Put sets a key in Redis, such as a trace.
func (b *Bridge) Put(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	if err := b.client.Set(ctx, key, value, ttl).Err(); err != nil {
		return fmt.Errorf("redis bridge: put key %q: %w", key, err)
	}
	return nil
}

// Delete removes a key, such as the cancel key of a finished run.
func (b *Bridge) Delete(ctx context.Context, key string) error {
	if err := b.client.Del(ctx, key).Err(); err != nil {
		return fmt.Errorf("redis bridge: delete key %q: %w", key, err)
	}
	return nil
}

// Watch cancels runs whose cancel key is set, until ctx is done. It uses keyspace notifications and
// enables them if the server allows it; otherwise it polls the cancel keys of the runs of this
// host. It reconnects when the connection is lost.
func (b *Bridge) Watch(ctx context.Context) {
	last := "" // the error logged last; a lost connection is logged once
	for ctx.Err() == nil {
		err := b.allowNotifications(ctx)
		if err == nil {
			err = b.receive(ctx)
		} else if notAllowed(err) {
			b.cfg.Log.Info("redis bridge: notifications are not allowed, polling cancel keys", "every", b.cfg.Poll)
			err = b.poll(ctx)
		}
		if ctx.Err() != nil {
			return
		}
		if text := fmt.Sprint(err); text != last {
			last = text
			b.cfg.Log.Warn("redis bridge: connection lost, retrying", "err", err)
		}
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// notAllowed reports whether err means that the server refused a command. A refused login does not
// count, since polling would be refused as well.
func notAllowed(err error) bool {
	var answer redis.Error
	return errors.As(err, &answer) && !redis.IsAuthError(err)
}

// allowNotifications enables keyspace notifications of string commands in addition to those already
// enabled.
func (b *Bridge) allowNotifications(ctx context.Context) error {
	const name = "notify-keyspace-events"
	now, err := b.client.ConfigGet(ctx, name).Result()
	if err != nil {
		return err
	}
	flags := now[name]
	if strings.Contains(flags, "K") && strings.ContainsAny(flags, "$A") {
		return nil
	}
	return b.client.ConfigSet(ctx, name, flags+"K$").Err()
}

// receive handles notifications until the connection is lost.
func (b *Bridge) receive(ctx context.Context) error {
	prefix := fmt.Sprintf("__keyspace@%d__:", b.client.Options().DB)
	sub := b.client.PSubscribe(ctx, prefix+"*-cancel")
	defer sub.Close()
	// Receive ignores ctx; closing the subscription interrupts it.
	defer context.AfterFunc(ctx, func() { sub.Close() })()
	if _, err := sub.Receive(ctx); err != nil {
		return err
	}
	// Handle keys that were set before the subscription.
	if err := b.readKeys(ctx); err != nil {
		return err
	}
	for {
		got, err := sub.Receive(ctx)
		if err != nil {
			return err
		}
		switch msg := got.(type) {
		case *redis.Message:
			if msg.Payload == "set" {
				// A failed cancel is retried when the keys are read after a reconnect.
				if err := b.cancel(ctx, strings.TrimSuffix(strings.TrimPrefix(msg.Channel, prefix),
					"-cancel")); err != nil {
					return err
				}
			}
		case *redis.Subscription:
			// The client reconnected by itself: notifications may have been missed, and a restarted
			// server has lost its notification settings.
			return errReconnected
		}
	}
}

var errReconnected = errors.New("connection was lost")

func (b *Bridge) poll(ctx context.Context) error {
	tick := time.NewTicker(b.cfg.Poll)
	defer tick.Stop()
	for {
		if err := b.readKeys(ctx); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// maxKeysPerRead is the number of keys per MGET.
const maxKeysPerRead = 500

// readKeys reads the cancel keys of the runs of this host and cancels each run once.
func (b *Bridge) readKeys(ctx context.Context) error {
	tasks := b.cfg.Runs.Tasks()
	seen := make(map[string]bool, len(b.seen))
	for len(tasks) > 0 {
		some := tasks[:min(len(tasks), maxKeysPerRead)]
		tasks = tasks[len(some):]
		keys := make([]string, len(some))
		for i, task := range some {
			keys[i] = task + "-cancel"
		}
		values, err := b.client.MGet(ctx, keys...).Result()
		if err != nil {
			return err
		}
		for i, v := range values {
			if v == nil {
				continue
			}
			if !b.seen[some[i]] {
				if err := b.cancel(ctx, some[i]); err != nil {
					return err
				}
			}
			seen[some[i]] = true
		}
	}
	b.seen = seen
	return nil
}

func (b *Bridge) cancel(ctx context.Context, task string) error {
	if err := b.cfg.Runs.Cancel(ctx, task); err != nil {
		return fmt.Errorf("cancel run %q: %w", task, err)
	}
	return nil
}
