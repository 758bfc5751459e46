package plugin

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/easel-canvas/easel/host/internal/disk"
)

const (
	// lockFile, in a folder of plugins, is held by the process that changes the folder. The system
	// releases it when the process dies.
	lockFile = ".lock"
	lockPoll = 20 * time.Millisecond
)

// lock waits until no other process changes the folder dir, and keeps the others out until unlock.
func lock(ctx context.Context, dir string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("plugin: lock folder: %w", err)
	}
	unlock = func() { _ = f.Close() } // nothing was written that closing could lose
	for {
		held, err := disk.TryLock(f)
		if held {
			return unlock, nil
		}
		if err != nil {
			unlock()
			return nil, fmt.Errorf("plugin: lock folder %s: %w", dir, err)
		}
		select {
		case <-ctx.Done():
			unlock()
			return nil, fmt.Errorf("plugin: another program changes %s: %w", dir, ctx.Err())
		case <-time.After(lockPoll):
		}
	}
}
