package backup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
)

// ErrAtWork means that hosts use the NATS or the PostgreSQL of the target; stop them.
var ErrAtWork = errors.New("hosts are at work there")

// stopped refuses a NATS or PostgreSQL on which hosts are at work. Those of a data directory hold
// its lock.
func (t *Target) stopped(ctx context.Context) error {
	if t.Force {
		return nil
	}
	onRecords, err := store.Hosts(ctx, t.Store)
	if err != nil {
		return err
	}
	onLog, err := runlog.Hosts(ctx, t.NATS)
	if err != nil {
		return err
	}
	names := append(onRecords, onLog...)
	slices.Sort(names)
	if names = slices.Compact(names); len(names) > 0 {
		return fmt.Errorf("%w: %s", ErrAtWork, strings.Join(names, ", "))
	}
	return nil
}
