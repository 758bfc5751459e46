package runs

import (
	"context"
	"log/slog"
	"time"

	"github.com/easel-canvas/easel/host/internal/store"
)

// How often old runs are removed from the history, and how many in one write,
// so that no other write waits long.
const (
	forgetEvery = 10 * time.Minute
	forgetMost  = 500
)

// history removes old runs.
type history struct {
	store  *store.Store
	keep   time.Duration // after a run's end; 0 means forever
	logger *slog.Logger
}

// work removes runs from the history that ended longer ago than they are
// kept, until ctx ends. Hosts that share the records do so side by side.
func (h *history) work(ctx context.Context) {
	if h.keep <= 0 {
		return
	}
	tick := time.NewTicker(forgetEvery)
	defer tick.Stop()
	for {
		if err := h.forgetOld(ctx); err != nil && ctx.Err() == nil {
			h.logger.Warn("old runs stay in the history", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (h *history) forgetOld(ctx context.Context) error {
	before := time.Now().Add(-h.keep).UnixMilli()
	for {
		n, err := h.store.Runs.Forget(ctx, before, forgetMost)
		if err != nil || n < forgetMost {
			return err
		}
	}
}
