package runner

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Config says where the run log lives and how patient it is. Set Dir or URLs.
type Config struct {
	// Dir holds the files of a server inside this process. One process at a
	// time may use it.
	Dir string
	// URLs are addresses of an existing NATS with JetStream; when set, Dir is
	// not used and any number of hosts may share it.
	URLs []string
	// Credentials is a NATS credentials file for URLs; "" means none.
	Credentials string
	// Replicas is how many servers of a cluster store each message; 0 means 1.
	Replicas int
	// Name is what people call this host, told to whoever asks [Hosts]; "" means
	// its name in the run log.
	Name string
	// SyncAlways makes the embedded server put each message on the disk before
	// it is acknowledged.
	SyncAlways bool
	// SyncEvery is how often the embedded server puts messages on the disk when
	// it does not do so with each; 0 means every two minutes.
	SyncEvery time.Duration

	// Lease is how long a host may be silent before its runs go elsewhere; 0
	// means 10 s. The heartbeat comes four times as often.
	Lease time.Duration
	// Attempts is how often a run may break off, by the death of its host or an
	// error; 0 means 5. Hosts that stop in good order do not count.
	Attempts int
	// Workers is how many queued runs this host works on at once; 0 means 64.
	Workers int
	// Bundle is how long told records wait for company; 0 means 40 ms.
	Bundle time.Duration

	// Keep is how long records of any run are kept; 0 means 24 h.
	Keep time.Duration
	// KeepEnded is how long those of an ended run are kept by the host that
	// ended it; 0 means 10 minutes.
	KeepEnded time.Duration
	// MaxBytes bounds the run log on disk; 0 means 8 GiB embedded and what the
	// account allows outside. The oldest records go first.
	MaxBytes int64

	// Gate is asked before a queued run is claimed: a run it does not let in
	// stays in the queue, without a note of this host, and is asked about again
	// after a second. leave is called when this host is done with the run; nil
	// lets every run in. It must not block.
	Gate func(run Run) (leave func(), ok bool)

	// Dead is called with a run that broke off Attempts times, to say so in
	// its records and in its session; nil ends it without a word. It must not
	// repeat what killed them.
	Dead func(ctx context.Context, lease *Lease) error

	// Log takes what an operator should know; nil means slog.Default.
	Log *slog.Logger
	// Prefix is put before the names of streams and subjects, for several
	// installations on one NATS; letters and digits, "" means "easel".
	Prefix string
}

func (c Config) withDefaults() Config {
	set := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	set(&c.Lease, 10*time.Second)
	set(&c.Bundle, 40*time.Millisecond)
	set(&c.Keep, 24*time.Hour)
	set(&c.KeepEnded, 10*time.Minute)
	if c.Attempts == 0 {
		c.Attempts = 5
	}
	if c.Workers == 0 {
		c.Workers = 64
	}
	if c.MaxBytes == 0 && len(c.URLs) == 0 {
		c.MaxBytes = 8 << 30
	} else if c.MaxBytes == 0 {
		c.MaxBytes = -1
	}
	if c.Replicas == 0 {
		c.Replicas = 1
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Prefix == "" {
		c.Prefix = "easel"
	}
	return c
}

// Log is an open run log. It is safe for concurrent use.
//
// It runs three goroutines: the heartbeat with its watch over other hosts, the
// sweeper that forgets ended runs, and the deliverer of cancels.
type Log struct {
	cfg  Config
	host string // this process, new at each start
	srv  *server.Server
	lock *dirLock
	nc   *nats.Conn
	js   jetstream.JetStream

	runs, log, own, keys jetstream.Stream
	files                jetstream.ObjectStore
	patient              jetstream.JetStream // of files: a caller cannot repeat what a file was read from
	queue                jetstream.Consumer

	seen blobCache
	book noteBook

	unwritable atomic.Bool // the embedded server's disk, when it was looked at last

	ctx  context.Context // ends with Close; the base of leases
	stop context.CancelCauseFunc
	wg   sync.WaitGroup

	left map[string]bool // see Left

	mu     sync.Mutex
	leases map[string]*Lease          // by run
	tasks  map[string]map[*Lease]bool // by task name
	back   chan struct{}              // closed and replaced when the connection is back
	taps   map[*cancelTap]bool        // see Cancelled
	ended  []endedRun                 // to be forgotten, oldest first
	hosts  map[string]*peer           // other hosts heard of
	beats  uint64                     // own heartbeats that came back, at their pace
	beaten time.Time                  // when the last of them came
}

// Open starts or joins the run log.
//
// Errors: [ErrLocked], [ErrUnavailable], [ErrFull], [ErrFiles].
func Open(ctx context.Context, cfg Config) (*Log, error) {
	l := &Log{
		cfg: cfg.withDefaults(), host: newHost(),
		leases: map[string]*Lease{}, tasks: map[string]map[*Lease]bool{}, back: make(chan struct{}),
		taps: map[*cancelTap]bool{}, hosts: map[string]*peer{},
	}
	// Values of ctx stay, its end does not: leases outlive the call to Open.
	l.ctx, l.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	err := l.connect()
	if err == nil {
		err = l.makeStreams(ctx)
	}
	if err == nil {
		l.queue, err = retry(ctx, l.openQueue)
	}
	if err == nil {
		err = l.listen()
	}
	if err == nil && l.Alone() {
		l.left, err = l.Held()
	}
	if err != nil {
		return nil, errors.Join(l.explain(err), l.Close())
	}
	l.wg.Go(l.beat)
	l.wg.Go(l.sweep)
	return l, nil
}

// newHost names this process; a host that starts again is another one.
func newHost() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // since Go 1.24 it does not fail
	return hex.EncodeToString(b[:])
}

// Host is the name of this process in the run log.
func (l *Log) Host() string { return l.host }

// Alone reports whether no other host can use this run log.
func (l *Log) Alone() bool { return l.srv != nil }

func (l *Log) connect() error {
	opts := append(l.cfg.credentials(),
		nats.Name("easel "+l.host), nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond),
		nats.ReconnectJitter(50*time.Millisecond, 50*time.Millisecond), nats.PingInterval(2*time.Second), nats.MaxPingsOutstanding(2),
		nats.ReconnectHandler(func(*nats.Conn) { l.reconnected() }),
		nats.ErrorHandler(l.connectionError),
	)
	addr := strings.Join(l.cfg.URLs, ",")
	if addr == "" {
		var err error
		if l.lock, err = lockDir(l.cfg.Dir); err != nil {
			return fail(err, "data directory %s", l.cfg.Dir)
		}
		if l.srv, err = startServer(l.cfg); err != nil {
			return fail(err, "embedded server in %s", l.cfg.Dir)
		}
		// It is there; on a busy machine its greeting takes a while.
		opts = append(opts, nats.InProcessServer(l.srv), nats.Timeout(wait))
	}
	nc, err := nats.Connect(addr, opts...)
	if err != nil {
		return fail(err, "connect to %s", plain(l.cfg.URLs))
	}
	l.nc = nc
	if l.js, err = jetstream.New(nc, jetstream.WithDefaultTimeout(2*time.Second)); err == nil {
		l.patient, err = jetstream.New(nc, jetstream.WithDefaultTimeout(wait))
	}
	return fail(err, "connect")
}

// credentials say who asks a NATS outside.
func (c Config) credentials() []nats.Option {
	if c.Credentials == "" || len(c.URLs) == 0 {
		return nil
	}
	return []nats.Option{nats.UserCredentials(c.Credentials)}
}

// plain are addresses without passwords.
func plain(urls []string) string {
	var out []string
	for _, text := range urls {
		if u, err := url.Parse(text); err == nil {
			text = u.Redacted()
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// connectionError hears of slow subscriptions as well; a follower notices
// those by itself and reads what it missed.
func (l *Log) connectionError(_ *nats.Conn, _ *nats.Subscription, err error) {
	if !errors.Is(err, nats.ErrSlowConsumer) {
		l.cfg.Log.Warn("run log connection", "err", err)
	}
}

func (l *Log) reconnected() {
	l.mu.Lock()
	close(l.back)
	l.back = make(chan struct{})
	l.mu.Unlock()
	go l.recheckCancels()
	go l.remake()
}

// Healthy reports whether the run log can be read and written, for a readiness
// probe. Errors: [ErrFull], [ErrUnavailable].
func (l *Log) Healthy(ctx context.Context) error {
	l.lookAtDisk()
	if err := l.room(0); err != nil {
		return fail(err, "health")
	}
	_, err := l.log.Info(ctx)
	return fail(err, "health")
}

// Close hands all runs of this host over and ends. Leases end with
// [ErrStopping]; Close waits for their workers in [Log.Work] only.
func (l *Log) Close() error {
	l.stop(ErrStopping)
	l.handOver()
	l.wg.Wait()
	var err error
	if l.nc != nil {
		if l.js != nil {
			l.dropNotes(true)
			l.sayBye()
		}
		err = l.nc.FlushTimeout(time.Second)
		if errors.Is(err, nats.ErrTimeout) || errors.Is(err, nats.ErrConnectionClosed) {
			err = nil // the server is away; nothing more can be said to it
		}
		l.nc.Close()
	}
	if l.srv != nil {
		l.srv.Shutdown()
		l.srv.WaitForShutdown()
	}
	return errors.Join(err, l.lock.release())
}
