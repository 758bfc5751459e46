package runs

import (
	"context"
	"time"
)

// How often old runs are removed from the history, and how many in one write,
// so that no other write waits long.
const (
	forgetEvery = 10 * time.Minute
	forgetMost  = 500
)

// forget removes runs from the history that ended longer ago than they are
// kept, until ctx ends. Hosts that share the records do so side by side.
func (r *Runs) forget(ctx context.Context) {
	if r.cfg.KeepRuns <= 0 {
		return
	}
	tick := time.NewTicker(forgetEvery)
	defer tick.Stop()
	for {
		if err := r.forgetOld(ctx); err != nil && ctx.Err() == nil {
			r.cfg.Logger.Warn("old runs stay in the history", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (r *Runs) forgetOld(ctx context.Context) error {
	before := time.Now().Add(-r.cfg.KeepRuns).UnixMilli()
	for {
		n, err := r.cfg.Store.ForgetRuns(ctx, before, forgetMost)
		if err != nil || n < forgetMost {
			return err
		}
	}
}
