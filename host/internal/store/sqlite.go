package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"

	"github.com/easel-canvas/easel/host/internal/store/walguard"
)

// verifyFirst is the number of bytes of a database that are compared with their checksums before it
// is opened, about a second of a slow disk. The rest is compared while it is in use.
const verifyFirst = 256 << 20

func (s *database) openSQLite(ctx context.Context, cfg Config) error {
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return fail(err, "data directory")
	}
	sync := "FULL"
	if cfg.Sync == SyncInterval {
		sync = "NORMAL"
	}
	cfg.Reserve.Open()
	file := filepath.Join(cfg.Dir, "easel.db")
	if err := makePrivate(file); err != nil {
		return fail(err, "open %s", file)
	}
	if err := s.openGuard(file, cfg); err != nil {
		return err
	}
	// The guard makes the checkpoints.
	dsn := sqliteDSN(file, "journal_mode(WAL)", "synchronous("+sync+")", "busy_timeout(10000)", "foreign_keys(1)",
		"wal_autocheckpoint(0)")
	s.dsn, s.dir = dsn, cfg.Dir
	writer, err := s.pool("sqlite", dsn, 2)
	if err != nil {
		return err
	}
	conn, err := writer.Conn(ctx)
	if err != nil {
		return fail(err, "open %s", file)
	}
	side, err := writer.Conn(ctx)
	if err != nil {
		return errors.Join(fail(err, "open %s", file), conn.Close())
	}
	s.keys = &keyMemory{}
	s.engine, s.commit = "sqlite", newGroup(conn, side, cfg.Dir, s.guard, s.keys)
	conns := cfg.Conns
	if conns == 0 {
		conns = 4 * runtime.GOMAXPROCS(0)
	}
	reader, err := s.pool("sqlite", sqliteDSN(file, "query_only(1)", "busy_timeout(10000)"), conns)
	if err != nil {
		return err
	}
	s.read = &readers{db: reader}
	s.room = &room{reserve: cfg.Reserve, read: s.read}
	return nil
}

// openGuard checks that the files have all acknowledged commits.
func (s *database) openGuard(file string, cfg Config) (err error) {
	opt := walguard.Options{
		Durable: cfg.Sync != SyncInterval, Pages: cfg.verifyFirst, Accept: cfg.AcceptLoss, Log: cfg.Log, Now: s.now,
	}
	switch {
	case cfg.AsIs:
		opt.Pages = -1 // a command must not wait for gigabytes
	case opt.Pages == 0:
		opt.Pages = verifyFirst
	}
	if cfg.Damaged != nil {
		opt.Damaged = func(l *walguard.Loss) { cfg.Damaged(lost(file, l)) }
	}
	s.guard, err = walguard.Open(file, opt)
	var l *walguard.Loss
	if errors.As(err, &l) {
		return lost(file, l)
	}
	return fail(err, "open %s", file)
}

// lost returns the error of a loss, with what the operator can do.
func lost(file string, l *walguard.Loss) error {
	return fmt.Errorf("store: open %s: %w: %w; restore a backup with easel restore FILE --replace, or run easel serve "+
		"once with --accept-loss %s to go on with what is left", file, ErrLost, l, l.Code)
}

// checkGuard completes the check of the files with the content of the database.
func (s *database) checkGuard(ctx context.Context, log *slog.Logger) error {
	if s.guard == nil {
		return nil
	}
	if s.guard.Accepted() != nil || s.guard.Unproven() {
		if err := (&Store{database: s}).CheckIntegrity(ctx); err != nil {
			return err
		}
		if err := s.guard.Proven(); err != nil {
			return fail(err, "mark of the check file")
		}
	}
	known, err := queryAll(ctx, s.read, scanName, `SELECT value FROM meta WHERE name = 'checked'`)
	if err != nil || len(known) > 0 && !s.guard.Created() {
		return fail(err, "mark of the check file")
	}
	if len(known) > 0 && log != nil {
		log.Warn("easel.db-check is missing or damaged: whether acknowledged records are missing is unknown. It was "+
			"made again", "dir", s.dir)
	}
	return s.write(ctx, "mark of the check file", func(ctx context.Context, q querier) error {
		_, err := q.ExecContext(ctx, `INSERT INTO meta (name, value) VALUES ('checked', '1') ON CONFLICT DO NOTHING`)
		return err
	})
}

// makePrivate creates a database file with access only for its owner. SQLite would create it with
// the default mode, and its other files get the mode of this one.
func makePrivate(file string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

func sqliteDSN(file string, pragmas ...string) string {
	q := url.Values{"_pragma": pragmas}
	return "file:" + (&url.URL{Path: file}).EscapedPath() + "?" + q.Encode()
}
