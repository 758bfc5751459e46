package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/easel-canvas/easel/host/internal/disk"
	"github.com/easel-canvas/easel/host/internal/nats/blobs"
	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/nats/kv"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/runs/traces"
	"github.com/easel-canvas/easel/host/internal/schedule"
	"github.com/easel-canvas/easel/host/internal/store"
)

func (h *Host) openStore(ctx context.Context) error {
	sync := store.SyncAlways
	switch h.cfg.Sync {
	case SyncAlways, SyncContract:
	case SyncInterval:
		sync = store.SyncInterval
	default:
		return fmt.Errorf("sync %q: expected always, contract or interval", h.cfg.Sync)
	}
	return h.await(ctx, "the records store", h.cfg.Postgres != "", func() (err error) {
		h.store, err = store.Open(ctx, store.Config{
			Dir: h.cfg.Dir, URL: h.cfg.Postgres, KeyFile: h.cfg.KeyFile,
			Name: hostName(), Sync: sync, Reserve: h.reserve, AcceptLoss: h.cfg.AcceptLoss, Log: h.cfg.Log,
			Damaged: h.damage.report(h.cfg.Log),
		})
		return err
	})
}

// damage of the database, found while it is in use.
type damage struct{ err atomic.Pointer[error] }

// report logs damage and keeps it for get.
func (d *damage) report(log *slog.Logger) func(error) {
	return func(err error) {
		log.Error("the database is damaged; check the disk, and restore a backup", "err", err)
		d.err.Store(&err)
	}
}

// get returns the damage that was found since the start; nil if none was found.
func (d *damage) get() error {
	if err := d.err.Load(); err != nil {
		return *err
	}
	return nil
}

func (h *Host) openLog(ctx context.Context) error {
	cfg := &h.cfg
	every := time.Duration(0)
	if cfg.Sync == SyncContract {
		// Writes that the contract does not cover are synced soon, too, at no measurable cost.
		every = 2 * time.Second
	}
	return h.await(ctx, "the run log", len(cfg.NATS) > 0, func() (err error) {
		h.conn, err = broker.Open(ctx, broker.Config{
			Dir: cfg.Dir, URLs: cfg.NATS, Credentials: cfg.NATSCredentials, Replicas: cfg.Replicas,
			SyncAlways: cfg.Sync == SyncAlways, SyncEvery: every, Reserve: h.reserve, Log: cfg.Log,
		}, "easel "+hostName())
		if err == nil {
			err = h.openOnBroker(ctx)
		}
		if err != nil {
			err = errors.Join(err, h.closeLog())
		}
		return err
	})
}

// openOnBroker opens the storage on the connection to NATS.
func (h *Host) openOnBroker(ctx context.Context) (err error) {
	if h.files, err = blobs.Open(ctx, h.conn, h.cfg.bucket()); err != nil {
		return err
	}
	if h.keys, err = kv.New(ctx, h.conn); err != nil {
		return err
	}
	h.log, err = runlog.Open(ctx, h.conn, h.keys, runlog.Config{
		Name: hostName(), Lease: h.cfg.Lease, Log: h.cfg.Log,
		Collect: traces.Select, Hold: func(run string) bool { return h.traces.Hold(run) },
		Gate: func(run runlog.Run) (func(), bool) { return h.runs.Gate(run) },
		Dead: func(ctx context.Context, l *runlog.Lease) error { return h.runs.Dead(ctx, l) },
	})
	if err != nil {
		return err
	}
	h.clocks, err = schedule.OpenClocks(ctx, h.conn)
	return err
}

// roomForTraces is the share of the disk that must be free for traces, so that these do not stop
// other writes.
const roomForTraces = 0.05

// newTraces returns the traces of runs: in the bucket of the files, or else in the data directory,
// or for hosts that share their records in the database of these.
func newTraces(ctx context.Context, h *Host) (*traces.Traces, error) {
	cfg := traces.Config{
		Store: h.store, Log: h.log, Version: h.cfg.Version, Alone: len(h.cfg.NATS) == 0, Logger: h.cfg.Log,
	}
	if h.cfg.Postgres == "" {
		cfg.Bytes = traces.NewDirectory(filepath.Join(h.cfg.Dir, "traces"))
		cfg.Room = func() bool { return disk.FreeShare(h.cfg.Dir) >= roomForTraces }
	} else {
		cfg.Bytes = traces.Table{Store: h.store}
	}
	if bucket := h.cfg.bucket(); bucket.URL != "" {
		folder, err := blobs.OpenFolder(ctx, bucket)
		if err != nil {
			return nil, err
		}
		cfg.Bytes, cfg.Room = traces.Moved{Bytes: traces.Bucket{Folder: folder}, Earlier: cfg.Bytes}, nil
	}
	return traces.New(cfg), nil
}

// registerTraces adds the numbers of kept runs.
func registerTraces(numbers *prometheus.Registry, counts func() traces.Counts) {
	number := func(name, help string, of func(c traces.Counts) float64) {
		numbers.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help},
			func() float64 { return of(counts()) }))
	}
	number("easel_traces_stored", "Runs of this host that were kept since its start.",
		func(c traces.Counts) float64 { return float64(c.Stored) })
	number("easel_traces_lost", "Ended runs that were not kept since the start, because the disk was almost full or "+
		"their log was gone.", func(c traces.Counts) float64 { return float64(c.Lost) })
	number("easel_traces_waiting", "Ended runs that are not kept yet.",
		func(c traces.Counts) float64 { return float64(c.Waiting) })
	number("easel_traces_stopped", "1 while runs are not kept because less than 5 % of the disk is free.",
		func(c traces.Counts) float64 {
			if c.Stopped {
				return 1
			}
			return 0
		})
}

// registerDamage adds the numbers of damaged files.
func registerDamage(numbers *prometheus.Registry, conn *broker.Conn, database func() error) {
	numbers.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "easel_database_damaged",
		Help: "1 if pages of the SQLite database were found damaged since the start; the log names them.",
	}, func() float64 {
		if database() != nil {
			return 1
		}
		return 0
	}))
	numbers.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "easel_run_log_damaged_files",
		Help: "Files of the embedded run log that have lost messages, found since the start; the log names them.",
	}, func() float64 { return float64(len(conn.Damage())) }))
}

// closeLog closes the run log and the connection to NATS, as far as they are open.
func (h *Host) closeLog() (err error) {
	if h.log != nil {
		err = h.log.Close()
		h.log = nil
	}
	if h.conn != nil {
		err = errors.Join(err, h.conn.Close())
		h.conn = nil
	}
	return err
}

func (h *Host) closeStore() error {
	if h.store == nil {
		return nil
	}
	return h.store.Close()
}
