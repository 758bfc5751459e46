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

// ErrAtWork means that hosts use the NATS or PostgreSQL server of the target; stop them.
var ErrAtWork = errors.New("hosts are at work there")

// stopped returns [ErrAtWork] if hosts use the NATS or PostgreSQL server of the target. A data
// directory is protected by its lock instead.
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
