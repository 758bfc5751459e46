package broker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
)

// IsDamaged reports whether the server could not read the files of a stream or consumer.
func IsDamaged(err error) bool {
	var refused *jetstream.APIError
	if kind := classify(err); !errors.As(err, &refused) || errors.Is(kind, ErrFull) {
		return false // files that could not be written are whole
	}
	switch server.ErrorIdentifier(refused.ErrorCode) {
	case server.JSConsumerStoreFailedErrF, server.JSStreamCreateErrF, server.JSStreamUpdateErrF:
		return true
	case server.JSConsumerCreateErrF: // of many causes, distinguished by the text only
		return strings.Contains(refused.Description, "store for consumer")
	}
	return false
}

// DropConsumerState removes the damaged files in which the embedded server stores the deliveries of
// a consumer of a stream. Messages that are not acknowledged are delivered again.
func (c *Conn) DropConsumerState(stream, consumer string, damage error) error {
	pattern := filepath.Join(storeDir(c.cfg.Dir), "jetstream", "*", "streams", stream, "obs", consumer)
	dirs, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		c.cfg.Log.Warn("the state of the queue is damaged; recreated, and queued runs are delivered again",
			"dir", dir, "err", damage)
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// Explain adds advice for the operator to an error of damaged files.
func (c *Conn) Explain(err error) error {
	if !IsDamaged(err) || !c.Embedded() {
		return err
	}
	return fmt.Errorf(
		"%w: %w; restore a backup with easel restore, or move %s away: runs under way then count as failed, "+
			"and uploaded files are lost", ErrFiles, err, storeDir(c.cfg.Dir))
}
