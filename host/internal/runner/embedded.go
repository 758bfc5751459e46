package runner

import (
	"errors"
	"fmt"
	"path/filepath"
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
		StoreDir:     filepath.Join(cfg.Dir, "nats"),
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
	srv.Start()
	if !srv.ReadyForConnections(30 * time.Second) {
		srv.Shutdown()
		return nil, errors.New("not ready after 30 s; is the disk slow or full?")
	}
	return srv, nil
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
