package runner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
)

// isDamaged reports whether the server could not read the files of a stream or consumer.
func isDamaged(err error) bool {
	var refused *jetstream.APIError
	if !errors.As(err, &refused) {
		return false
	}
	switch server.ErrorIdentifier(refused.ErrorCode) {
	case server.JSConsumerStoreFailedErrF, server.JSStreamCreateErrF, server.JSStreamUpdateErrF:
		return true
	case server.JSConsumerCreateErrF: // of many causes, told by their text alone
		return strings.Contains(refused.Description, "store for consumer")
	}
	return false
}

// dropQueueState removes the files in which the embedded server notes what it has handed out of the queue. They can be
// done without: what was done is not in the queue any more, and the rest is handed out again and claimed once.
func (l *Log) dropQueueState(consumer string, damage error) error {
	dirs, err := filepath.Glob(filepath.Join(storeDir(l.cfg.Dir), "jetstream", "*", "streams", l.cfg.Prefix+"_RUNS", "obs", consumer))
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		l.cfg.Log.Warn("the state of the queue is damaged; it is made again and queued runs are handed out once more", "dir", dir, "err", damage)
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// explain adds to an error of damaged files what an operator can do.
func (l *Log) explain(err error) error {
	if !isDamaged(err) || l.srv == nil {
		return err
	}
	return fmt.Errorf("%w: %w; restore a backup with easel restore, or move %s away: runs under way then count as failed, "+
		"and uploaded files are lost", ErrFiles, err, storeDir(l.cfg.Dir))
}
