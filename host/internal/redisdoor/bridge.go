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

// Runs is what the bridge steers; the run log does.
type Runs interface {
	// Cancel ends the runs that have this name.
	Cancel(ctx context.Context, task string) error
	// Tasks are the names of the runs of this host.
	Tasks() []string
}

// BridgeConfig names a Redis or Valkey.
type BridgeConfig struct {
	URL  string // redis://user:password@host:6379/0, or rediss:// for TLS
	Runs Runs
	// Poll is how often cancel marks are asked for when the server does not
	// allow notifications; 0 means 50 ms.
	Poll time.Duration
	Log  *slog.Logger // nil means slog.Default
}

// Bridge is a connection to an existing Redis.
type Bridge struct {
	cfg    BridgeConfig
	client *redis.Client
	seen   map[string]bool // marks that polling has passed on; Watch's own
}

// silence takes what the client library prints by itself; its errors come back and are told of here.
type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

func init() { redis.SetLogger(silence{}) }

// NewBridge reads the address; it does not connect yet.
func NewBridge(cfg BridgeConfig) (*Bridge, error) {
	opts, err := redis.ParseURL(cfg.URL)
	if err != nil {
		// The address may hold a password, so it is not shown.
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

// Close ends the connection.
func (b *Bridge) Close() error { return b.client.Close() }

// Put sets a key in Redis, such as a trace log with its ten minutes.
func (b *Bridge) Put(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	if err := b.client.Set(ctx, key, value, ttl).Err(); err != nil {
		return fmt.Errorf("redis bridge: put key %q: %w", key, err)
	}
	return nil
}

// Delete removes a key, such as the cancel mark of a run that has ended.
func (b *Bridge) Delete(ctx context.Context, key string) error {
	if err := b.client.Del(ctx, key).Err(); err != nil {
		return fmt.Errorf("redis bridge: delete key %q: %w", key, err)
	}
	return nil
}

// Watch passes cancel marks on until ctx ends. It hears of them by keyspace
// notifications and switches those on if it may; else it asks for the marks of
// this host's runs again and again. A server that is away is waited for.
func (b *Bridge) Watch(ctx context.Context) {
	last := "" // what was told of; a server that is away is told of once
	for ctx.Err() == nil {
		err := b.allowNotifications(ctx)
		if err == nil {
			err = b.hear(ctx)
		} else if notAllowed(err) {
			b.cfg.Log.Info("redis does not allow notifications, cancel marks are polled", "every", b.cfg.Poll)
			err = b.poll(ctx)
		}
		if ctx.Err() != nil {
			return
		}
		if text := fmt.Sprint(err); text != last {
			last = text
			b.cfg.Log.Warn("redis bridge tries again and again", "err", err)
		}
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// notAllowed says that the server answered, and that the answer was no. One that does not let this host in would refuse
// the questions as well.
func notAllowed(err error) bool {
	var answer redis.Error
	return errors.As(err, &answer) && !redis.IsAuthError(err)
}

// allowNotifications adds "keyspace, string commands" to what the server tells
// about, and keeps what others have asked for.
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

// hear passes notifications on until the connection breaks.
func (b *Bridge) hear(ctx context.Context) error {
	prefix := fmt.Sprintf("__keyspace@%d__:", b.client.Options().DB)
	sub := b.client.PSubscribe(ctx, prefix+"*-cancel")
	defer sub.Close()
	// Receive does not heed ctx; a closed subscription ends it.
	defer context.AfterFunc(ctx, func() { sub.Close() })()
	if _, err := sub.Receive(ctx); err != nil {
		return err
	}
	// Marks that were set while nobody listened.
	if err := b.ask(ctx); err != nil {
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
				// One that could not be passed on is among the marks that are asked for next.
				if err := b.cancel(ctx, strings.TrimSuffix(strings.TrimPrefix(msg.Channel, prefix), "-cancel")); err != nil {
					return err
				}
			}
		case *redis.Subscription:
			// The client has connected again by itself: marks may have been missed,
			// and a server that started anew has forgotten what to tell about.
			return errAgain
		}
	}
}

var errAgain = errors.New("connection was lost")

func (b *Bridge) poll(ctx context.Context) error {
	tick := time.NewTicker(b.cfg.Poll)
	defer tick.Stop()
	for {
		if err := b.ask(ctx); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// askMost is how many marks one question asks for.
const askMost = 500

// ask looks for the marks of this host's runs and passes each on once.
func (b *Bridge) ask(ctx context.Context) error {
	tasks := b.cfg.Runs.Tasks()
	seen := make(map[string]bool, len(b.seen))
	for len(tasks) > 0 {
		some := tasks[:min(len(tasks), askMost)]
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
