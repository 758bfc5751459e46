// Package broker connects this process to NATS JetStream: to a server inside the process, which no
// network can reach, or to an existing server or cluster. Its users define the stored data: package
// runlog keeps run logs and the queue, blobs files, kv keys and schedule schedules.
//
// A [Conn] retries requests while a cluster elects a leader, recreates streams that a server has
// lost, stores bodies that are larger than a message, and refuses writes for which the embedded
// server has no disk space. It is safe for concurrent use.
package broker

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/easel-canvas/easel/host/internal/disk"
	"github.com/easel-canvas/easel/host/internal/egress/redact"
)

// Config selects the server. Set Dir or URLs.
type Config struct {
	// Dir holds the files of a server inside this process. One process at a
	// time may use it.
	Dir string
	// URLs are addresses of an existing NATS with JetStream. When set, Dir is
	// not used, and any number of hosts may share the server.
	URLs []string
	// Credentials is a NATS credentials file for URLs; "" means none.
	Credentials string
	// Replicas is the number of servers of a cluster that store each message; 0 means 1.
	Replicas int
	// SyncAlways makes the embedded server sync each message to the disk before
	// it is acknowledged.
	SyncAlways bool
	// SyncEvery is the interval of syncs of the embedded server without
	// SyncAlways; 0 means two minutes.
	SyncEvery time.Duration
	// KeepLarge is the time for which bodies larger than a message are stored; 0 means 24 h.
	KeepLarge time.Duration
	// Prefix starts the names of streams and subjects, for several
	// installations on one NATS; letters and digits, "" means "easel".
	Prefix string
	// Reserve is space in Dir for writes that must succeed on a full disk; nil has none.
	Reserve *disk.Reserve
	// Log is the log for operators; nil means slog.Default.
	Log *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.Replicas == 0 {
		c.Replicas = 1
	}
	if c.KeepLarge == 0 {
		c.KeepLarge = 24 * time.Hour
	}
	if c.Prefix == "" {
		c.Prefix = "easel"
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return c
}

// Conn is a connection with the server behind it.
type Conn struct {
	NATS *nats.Conn
	JS   jetstream.JetStream // requests time out after two seconds, for callers that retry
	Slow jetstream.JetStream // requests time out after [Wait], for callers that cannot retry

	cfg        Config
	srv        *server.Server
	lock       *dirLock
	unwritable atomic.Bool // last result of CheckDisk
	verifier   verifier
	verifying  sync.WaitGroup

	ctx  context.Context // ends with Close
	stop context.CancelFunc

	mu          sync.Mutex
	back        chan struct{} // closed and replaced after each reconnect
	onReconnect []func()
	onRestore   []func(context.Context) error
	streams     []declared
}

// Wait bounds one request to the server. A cluster that elects a leader answers
// late, so callers that can, retry.
const Wait = 10 * time.Second

// Open starts the embedded server or connects to an existing one.
//
// Errors: [ErrLocked], [ErrUnavailable].
func Open(ctx context.Context, cfg Config, name string) (*Conn, error) {
	c := &Conn{cfg: cfg.withDefaults(), back: make(chan struct{})}
	// Values of ctx are kept, its cancellation is not: the connection outlives the call.
	c.ctx, c.stop = context.WithCancel(context.WithoutCancel(ctx))
	if err := c.connect(name); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	c.warnOfOneCopy()
	return c, nil
}

func (c *Conn) connect(name string) error {
	opts := append(c.cfg.credentials(),
		nats.Name(name), nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond),
		nats.ReconnectJitter(50*time.Millisecond, 50*time.Millisecond),
		nats.PingInterval(2*time.Second), nats.MaxPingsOutstanding(2),
		nats.ReconnectHandler(func(*nats.Conn) { c.reconnected() }),
		nats.ErrorHandler(c.connectionError),
	)
	addr := strings.Join(c.cfg.URLs, ",")
	if addr == "" {
		var err error
		if c.lock, err = lockDir(c.cfg.Dir); err != nil {
			return Fail(err, "data directory %s", c.cfg.Dir)
		}
		c.cfg.Reserve.Open()
		if err := c.startEmbedded(); err != nil {
			return Fail(err, "embedded server in %s", c.cfg.Dir)
		}
		// The server runs; its INFO message may be slow under load.
		opts = append(opts, nats.InProcessServer(c.srv), nats.Timeout(Wait))
	}
	nc, err := nats.Connect(addr, opts...)
	if err != nil {
		return Fail(redact.Error(err), "connect to %s", redacted(c.cfg.URLs))
	}
	c.NATS = nc
	if c.JS, err = jetstream.New(nc, jetstream.WithDefaultTimeout(2*time.Second)); err == nil {
		c.Slow, err = jetstream.New(nc, jetstream.WithDefaultTimeout(Wait))
	}
	return Fail(err, "connect")
}

// startEmbedded verifies the files of the embedded server and starts it.
func (c *Conn) startEmbedded() error {
	c.verifier.log = c.cfg.Log
	later, err := c.verifier.verify(c.ctx, c.cfg.Dir)
	if err != nil {
		return err
	}
	if c.srv, err = startServer(c.cfg); err != nil {
		return err
	}
	if len(later) > 0 {
		c.verifying.Go(func() { c.verifier.verifyLater(c.ctx, later) })
	}
	return nil
}

// credentials authenticate this host to a NATS outside.
func (c Config) credentials() []nats.Option {
	if c.Credentials == "" || len(c.URLs) == 0 {
		return nil
	}
	return []nats.Option{nats.UserCredentials(c.Credentials)}
}

// redacted returns addresses without credentials.
func redacted(urls []string) string {
	var out []string
	for _, text := range urls {
		out = append(out, redact.Address(text))
	}
	return strings.Join(out, ", ")
}

// connectionError logs errors of the connection, except a slow subscription: a follower detects the
// gap and reads it.
func (c *Conn) connectionError(_ *nats.Conn, _ *nats.Subscription, err error) {
	if !errors.Is(err, nats.ErrSlowConsumer) {
		c.cfg.Log.Warn("run log connection", "err", err)
	}
}

// warnOfOneCopy warns when a cluster stores each message on one server only, whose loss would stop
// everything. The sync interval of the servers cannot be read here.
func (c *Conn) warnOfOneCopy() {
	if cluster := c.NATS.ConnectedClusterName(); !c.Embedded() && cluster != "" && c.cfg.Replicas == 1 {
		c.cfg.Log.Warn("each message is stored on one server of the NATS cluster; --nats-replicas 3 stores it on three",
			"cluster", cluster)
	}
}

// Embedded reports whether the server runs in this process, so that no other host can use it.
func (c *Conn) Embedded() bool { return c.srv != nil }

// Replicas returns the number of servers that store each message.
func (c *Conn) Replicas() int { return c.cfg.Replicas }

// Name returns the name of a stream or bucket of this installation.
func (c *Conn) Name(suffix string) string { return c.cfg.Prefix + "_" + suffix }

// Subject returns a subject of this installation. Parts that come from outside are made safe with
// [Token].
func (c *Conn) Subject(parts ...string) string {
	return c.cfg.Prefix + "." + strings.Join(parts, ".")
}

func (c *Conn) reconnected() {
	c.mu.Lock()
	close(c.back)
	c.back = make(chan struct{})
	calls := c.onReconnect
	c.mu.Unlock()
	for _, call := range calls {
		go call()
	}
	go c.restore()
}

// OnReconnect registers a function that is called after each reconnect, in a separate goroutine.
func (c *Conn) OnReconnect(call func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.onReconnect = append(c.onReconnect, call)
}

// Reconnected is closed at the next reconnect.
func (c *Conn) Reconnected() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.back
}

// Flush waits until the server has received all sent messages.
func (c *Conn) Flush(ctx context.Context) error {
	_, err := Retry(ctx, func(ctx context.Context) (any, error) { return nil, c.NATS.FlushWithContext(ctx) })
	return err
}

// Close flushes the buffer, disconnects, and stops the embedded server.
func (c *Conn) Close() error {
	c.stop()
	c.verifying.Wait()
	var err error
	if c.NATS != nil {
		err = c.NATS.FlushTimeout(time.Second)
		if errors.Is(err, nats.ErrTimeout) || errors.Is(err, nats.ErrConnectionClosed) {
			err = nil // the server is unavailable
		}
		c.NATS.Close()
	}
	if c.srv != nil {
		c.srv.Shutdown()
		c.srv.WaitForShutdown()
	}
	return errors.Join(err, c.lock.release())
}
