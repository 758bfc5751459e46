package runlog

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/nats/kv"
)

// Config sets times and bounds of a run log.
type Config struct {
	// Name is the readable name of this host, as [Hosts] reports it; "" means its name in the run
	// log.
	Name string

	// Lease is the time without heartbeats after which other hosts take over the runs of a host; 0
	// means 10 s. Heartbeats come four times as often.
	Lease time.Duration
	// Attempts is the number of failures, deaths of its host or errors, after which a run is ended;
	// 0 means 5. Hosts that shut down do not count.
	Attempts int
	// Workers is the number of queued runs this host executes at once; 0 means 64.
	Workers int
	// FlushInterval bounds how long records are buffered before a write; 0 means 40 ms.
	FlushInterval time.Duration

	// Keep is the retention of records of any run; 0 means 24 h.
	Keep time.Duration
	// KeepEnded is the time after which the host that ended a run deletes its records; 0 means
	// 10 minutes.
	KeepEnded time.Duration
	// MaxBytes bounds the run log on disk; 0 means 8 GiB for an embedded server
	// and the account's limit otherwise. The oldest records go first.
	MaxBytes int64

	// Gate is called before a queued run is claimed: a run that it refuses
	// stays in the queue, without a note of this host, and is offered again
	// after a second. leave is called when this host is done with the run; nil
	// accepts every run. It must not block.
	Gate func(run Run) (leave func(), ok bool)

	// Collect selects the records that [Lease.Collected] returns at the end of a run; nil collects
	// none.
	Collect func(kind string) Selection
	// Hold reports whether the records of an ended run are still needed although KeepEnded is over;
	// nil holds none. Keep and MaxBytes bound how long.
	Hold func(run string) bool

	// Dead is called with a run that failed Attempts times, to report that in
	// its records and its session; nil ends the run silently. It must not repeat the failed step.
	Dead func(ctx context.Context, lease *Lease) error

	// Log is the log for operators; nil means slog.Default.
	Log *slog.Logger
}

func (c Config) withDefaults(embedded bool) Config {
	set := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	set(&c.Lease, 10*time.Second)
	set(&c.FlushInterval, 40*time.Millisecond)
	set(&c.Keep, 24*time.Hour)
	set(&c.KeepEnded, 10*time.Minute)
	if c.Attempts == 0 {
		c.Attempts = 5
	}
	if c.Workers == 0 {
		c.Workers = 64
	}
	if c.MaxBytes == 0 && embedded {
		c.MaxBytes = 8 << 30
	} else if c.MaxBytes == 0 {
		c.MaxBytes = -1
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return c
}

// Log is an open run log. It is safe for concurrent use.
//
// Its exported methods include those of its parts: records reads stored runs, queue holds runs for
// any free host, orphans queues those of lost hosts, cancels ends runs by name.
//
// It runs two goroutines: the heartbeat, which watches other hosts, and the
// sweeper, which deletes ended runs.
type Log struct {
	cfg  Config
	host string // this process, new at each start
	conn *broker.Conn

	*records
	*queue
	*orphans
	*cancels
	*sweeper

	leases    *leases
	peers     *peers
	notes     *notes
	heartbeat *heartbeat

	ctx  context.Context // ends with Close; the base of leases
	stop context.CancelCauseFunc
	wg   sync.WaitGroup
}

// Open starts or joins the run log. The caller closes the connection after it.
//
// Errors: [broker.ErrUnavailable], [broker.ErrFull], [broker.ErrFiles].
func Open(ctx context.Context, conn *broker.Conn, keys *kv.Store, cfg Config) (*Log, error) {
	l := newLog(ctx, conn, keys, cfg.withDefaults(conn.Embedded()))
	err := l.makeStreams(ctx)
	if err == nil {
		l.consumer, err = broker.Retry(ctx, l.queue.open)
		err = conn.Explain(err)
	}
	if err == nil {
		err = l.heartbeat.listen()
	}
	if err == nil && l.Alone() {
		l.left, err = l.Held()
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	conn.OnReconnect(l.recheckCancels)
	conn.OnRestore(func(ctx context.Context) error {
		_, err := broker.Retry(ctx, l.queue.open)
		return err
	})
	l.wg.Go(l.heartbeat.beat)
	l.wg.Go(l.sweeper.work)
	return l, nil
}

// newLog returns a Log without streams.
func newLog(ctx context.Context, conn *broker.Conn, keys *kv.Store, cfg Config) *Log {
	l := &Log{cfg: cfg, host: newHost(), conn: conn, leases: &leases{}}
	// Values of ctx are kept, its cancellation is not: leases outlive the call to Open.
	l.ctx, l.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	l.peers = &peers{host: l.host, lease: cfg.Lease}
	l.notes = &notes{conn: conn, host: l.host, log: cfg.Log}
	l.records = &records{conn: conn}
	l.queue = &queue{conn: conn, lease: cfg.Lease, logger: cfg.Log}
	l.cancels = &cancels{keys: keys, leases: l.leases, logger: cfg.Log}
	l.orphans = &orphans{
		ctx: l.ctx, conn: conn, notes: l.notes, leases: l.leases, queue: l.queue, logger: cfg.Log,
	}
	l.sweeper = &sweeper{
		ctx: l.ctx, records: l.records, notes: l.notes, keep: cfg.KeepEnded, hold: cfg.Hold,
		logger: cfg.Log,
	}
	l.heartbeat = &heartbeat{
		ctx: l.ctx, conn: conn, name: cfg.Name, peers: l.peers, leases: l.leases,
		records: l.records, cancels: l.cancels, orphans: l.orphans, logger: cfg.Log,
	}
	return l
}

// newHost generates the name of this process; a restarted host has another one.
func newHost() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails since Go 1.24
	return hex.EncodeToString(b[:])
}

// Host returns the name of this process in the run log.
func (l *Log) Host() string { return l.host }

// Alone reports whether no other host can use this run log.
func (l *Log) Alone() bool { return l.conn.Embedded() }

// Healthy reports whether the run log can be read and written, for a readiness
// probe. Errors: [broker.ErrFull], [broker.ErrUnavailable].
func (l *Log) Healthy(ctx context.Context) error {
	l.conn.CheckDisk()
	if err := l.conn.Room(0); err != nil {
		return broker.Fail(err, "health")
	}
	_, err := l.records.stream.Info(ctx)
	return broker.Fail(err, "health")
}

// Close hands all runs of this host over. Leases end with [ErrStopping]; Close
// waits for their workers in [Log.Work] only.
func (l *Log) Close() error {
	l.stop(ErrStopping)
	l.handOver()
	l.wg.Wait()
	l.notes.drop(true)
	l.heartbeat.sayBye()
	return nil
}

// Subjects, after the prefix:
//
//	run.<run>.ev     records of a run, in bundles
//	run.<run>.ck     its last snapshot
//	run.<run>.bl.*   large values of its records, each once
//	log.<run>        stored bundles, republished; not a stream
//	rq.<run>         the queue
//	sched.<id>       schedules that put into the queue, see package schedule
//	own.<host>.<run> notes: which host works on which run
//	hb.<host>        heartbeats, with the host's name for people; not a stream
//	who              requests a heartbeat of all hosts; not a stream
//	lost.<host>      runs that another host took; not a stream
func (l *Log) makeStreams(ctx context.Context) error {
	c := l.conn
	for _, s := range []struct {
		cfg  jetstream.StreamConfig
		into *jetstream.Stream
		lost func()
	}{
		{jetstream.StreamConfig{
			Name: c.Name("RUNS"), Subjects: []string{c.Subject("rq", "*"), c.Subject("sched", "*")},
			Retention: jetstream.WorkQueuePolicy, AllowMsgSchedules: true, AllowMsgTTL: true, AllowDirect: true,
			AllowRollup: true, Duplicates: 2 * time.Minute,
		}, &l.queue.stream, nil},
		{jetstream.StreamConfig{
			Name: c.Name("LOG"), AllowRollup: true, AllowDirect: true,
			Subjects: []string{
				c.Subject("run", "*", "ev"), c.Subject("run", "*", "ck"),
				c.Subject("run", "*", "bl", "*"),
			},
			MaxAge: l.cfg.Keep, MaxBytes: l.cfg.MaxBytes,
			RePublish: &jetstream.RePublish{
				Source: c.Subject("run", "*", "ev"), Destination: c.Subject("log", "{{wildcard(1)}}"),
			},
		}, &l.records.stream, nil},
		{jetstream.StreamConfig{
			Name: c.Name("OWN"), Subjects: []string{c.Subject("own", "*", "*")}, MaxMsgsPerSubject: 1,
			AllowDirect: true,
		}, &l.notes.stream, l.notes.book.restart},
	} {
		stream, err := c.Stream(ctx, s.cfg, s.lost)
		if err != nil {
			return err
		}
		*s.into = stream
	}
	return nil
}
