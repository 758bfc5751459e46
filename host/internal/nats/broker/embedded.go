package broker

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/easel-canvas/easel/host/internal/disk"
)

// maxPayload is the largest message of the embedded server. An existing server has its own limit;
// see large.go for larger ones.
const maxPayload = 8 << 20

// startServer runs a NATS server without a network listener.
func startServer(cfg Config) (*server.Server, error) {
	srv, err := server.NewServer(&server.Options{
		ServerName:   "easel",
		DontListen:   true,
		JetStream:    true,
		StoreDir:     storeDir(cfg.Dir),
		SyncAlways:   cfg.SyncAlways,
		SyncInterval: cfg.SyncEvery,
		MaxPayload:   maxPayload,
		// The server would refuse a stream whose limit is above the disk's free
		// space; ours are upper bounds, not reservations.
		JetStreamMaxStore: 1 << 50,
		NoSigs:            true,
		NoLog:             true,
	})
	if err != nil {
		return nil, err
	}
	// A server that cannot start logs why and never becomes ready.
	why := serverLog{fatal: make(chan string, 1), log: cfg.Log}
	srv.SetLoggerV2(why, false, false, false)
	srv.Start()
	for late := time.Now().Add(30 * time.Second); !srv.ReadyForConnections(20 * time.Millisecond); {
		select {
		case text := <-why.fatal:
			err = errors.New(text)
		default:
			if time.Now().After(late) {
				err = errors.New("not ready after 30 s; is the disk slow or full?")
			}
		}
		if err != nil {
			srv.Shutdown()
			return nil, err
		}
	}
	return srv, nil
}

// serverLog receives the error that keeps a server from starting, and reports damaged files.
type serverLog struct {
	fatal chan string
	log   *slog.Logger
}

// Fatalf is called by the server, which does not exit after it.
func (l serverLog) Fatalf(format string, args ...any) {
	select {
	case l.fatal <- fmt.Sprintf(format, args...):
	default:
	}
}

// Noticef and the other levels are dropped.
func (serverLog) Noticef(string, ...any) {}

func (l serverLog) Warnf(format string, args ...any)  { l.damage(format, args) }
func (l serverLog) Errorf(format string, args ...any) { l.damage(format, args) }
func (serverLog) Debugf(string, ...any)               {}
func (serverLog) Tracef(string, ...any)               {}

// damage reports files that the server found damaged when it started. Files that are merely older
// than others are not reported: each kill of a host leaves some.
func (l serverLog) damage(format string, args []any) {
	text := strings.TrimSpace(fmt.Sprintf(format, args...))
	for _, sign := range []string{"not match", "too short", "rror decoding", "corrupt"} {
		if strings.Contains(text, sign) {
			l.log.Warn(
				"a file of the run log is damaged; recreated from the others. Check the disk, and restore a backup "+
					"if runs or uploaded files are missing", "err", text)
			return
		}
	}
}

// reserve is the disk space that is left to the server for its own files.
const reserve = 4 << 20

// Room refuses a write of some bytes when the disk of the embedded server has no space for it or
// cannot be written. A server on a full disk would stop answering, even after space was freed.
//
// Errors: [ErrFull], [ErrReadOnly].
func (c *Conn) Room(size int) error {
	if !c.Embedded() {
		return nil
	}
	if c.unwritable.Load() {
		return fmt.Errorf("%w: %s", ErrReadOnly, c.cfg.Dir)
	}
	room := c.cfg.Reserve.Room(c.cfg.Dir)
	if room >= 0 && room < reserve+2*int64(size) {
		return fmt.Errorf("%w: %d MiB left on the disk of %s", ErrFull, room>>20, c.cfg.Dir)
	}
	return nil
}

// RoomToDelete is [Conn.Room] for small messages that free space or end work, for which the disk
// keeps a reserve.
func (c *Conn) RoomToDelete() error {
	err := c.Room(0)
	if err == nil || !c.Embedded() || errors.Is(err, ErrReadOnly) {
		return err
	}
	if room := disk.Free(c.cfg.Dir); room < reserve {
		c.cfg.Reserve.Release()
	}
	if room := disk.Free(c.cfg.Dir); room >= reserve {
		return nil
	}
	return err
}

// CheckDisk tests whether the disk of the embedded server is writable; [Conn.Room] returns the
// result. When the disk has space again it makes the reserve again.
func (c *Conn) CheckDisk() {
	if c.Embedded() {
		c.unwritable.Store(disk.ReadOnly(c.cfg.Dir))
		c.cfg.Reserve.Refill()
	}
}
