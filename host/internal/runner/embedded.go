package runner

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/easel-canvas/easel/host/internal/disk"
)

// maxPayload is the largest message of the embedded server. An external one
// has its own limit; see spill.go for what is larger.
const maxPayload = 8 << 20

// startServer runs a NATS server that no network can reach.
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
	// It says why it cannot start to its log, and is then not ready for ever.
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

// serverLog takes what keeps a server from starting, and what an operator should know of its files.
type serverLog struct {
	fatal chan string
	log   *slog.Logger
}

// Fatalf is called by the server, which goes on.
func (l serverLog) Fatalf(format string, args ...any) {
	select {
	case l.fatal <- fmt.Sprintf(format, args...):
	default:
	}
}

// Noticef and the others are not of interest.
func (serverLog) Noticef(string, ...any) {}

func (l serverLog) Warnf(format string, args ...any)  { l.damage(format, args) }
func (l serverLog) Errorf(format string, args ...any) { l.damage(format, args) }
func (serverLog) Debugf(string, ...any)               {}
func (serverLog) Tracef(string, ...any)               {}

// damage reports files that the server found damaged when it started. What it says of files that are merely older than
// others is left out: each kill of a host leaves some.
func (l serverLog) damage(format string, args []any) {
	text := strings.TrimSpace(fmt.Sprintf(format, args...))
	for _, sign := range []string{"not match", "too short", "rror decoding", "corrupt"} {
		if strings.Contains(text, sign) {
			l.log.Warn("a file of the run log is damaged; it is made again from the others. Check the disk, and restore a backup if runs or "+
				"uploaded files are missing", "err", text)
			return
		}
	}
}

// fullBelow is the room that is left to the server for its own files.
const fullBelow = 4 << 20

// room refuses a write for which the disk has no room, or which it does not
// take any more. The embedded server is not let run into such a disk: it would
// stop answering and would not go on when there is room again.
func (l *Log) room(size int) error {
	if l.srv == nil {
		return nil
	}
	if l.unwritable.Load() {
		return fmt.Errorf("%w: %s", ErrReadOnly, l.cfg.Dir)
	}
	free := disk.Free(l.cfg.Dir)
	if free >= 0 && free < fullBelow+2*int64(size) {
		return fmt.Errorf("%w: %d MiB left on the disk of %s", ErrFull, free>>20, l.cfg.Dir)
	}
	return nil
}

// lookAtDisk finds out whether the disk of the embedded server can be written.
func (l *Log) lookAtDisk() {
	if l.srv != nil {
		l.unwritable.Store(disk.ReadOnly(l.cfg.Dir))
	}
}
